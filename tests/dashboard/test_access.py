import os
import time
import unittest
from unittest import mock

from metrics.dashboard import access
from metrics.web import invitations, roles, sessions
from metrics.web.door import Door
from metrics.web.roles import Person
from metrics.web.table import Call
from tests.dashboard.api import ApiCase

TOKEN = "a token of some length"


class Guarded(ApiCase):
    def setUp(self) -> None:
        super().setUp()
        self.door = Door(token=TOKEN)
        self.routes = access.routes(self.door)
        self.enterContext(mock.patch.dict(os.environ, {}, clear=True))


class Reach(Guarded):
    def test_in_the_open_it_says_who_asks_and_that_nobody_else_can(self) -> None:
        self.routes = access.routes(Door())
        reply = self.get("/api/access")
        self.assertEqual(reply["you"], {"name": "local", "role": roles.ADMIN})
        told = {name: reply[name] for name in ("exposure", "bind", "beyond", "keys_required", "login")}
        self.assertEqual(
            told,
            {
                "exposure": "this computer only",
                "bind": "127.0.0.1",
                "beyond": False,
                "keys_required": False,
                "login": False,
            },
        )

    def test_what_the_environment_lets_in(self) -> None:
        env = {
            "BENCH_BIND": "0.0.0.0",
            "BENCHWARMERS_ADMIN_TOKEN": TOKEN,
            "BENCH_ALLOWED_HOSTS": "bench.lan, box:8122,",
            "BENCHWARMERS_PUBLIC_URL": "https://bench.example",
        }
        with mock.patch.dict(os.environ, env):
            reply = self.get("/api/access")
        self.assertTrue(reply["beyond"] and reply["login"])
        self.assertEqual((reply["hosts"], reply["origins"]), (["bench.lan", "box:8122"], []))
        self.assertEqual(reply["public_url"], "https://bench.example")
        self.assertNotIn(TOKEN, str(reply))


class Sessions(Guarded):
    def test_who_is_signed_in_and_how_it_ends(self) -> None:
        secret = sessions.begin(Person("anna", roles.JUDGE), TOKEN, "1.2.3.4", time.time())
        (one,) = self.get("/api/sessions")["sessions"]
        self.assertEqual((one["name"], one["role"], one["address"]), ("anna", "judge", "1.2.3.4"))
        self.assertFalse(one["yours"])
        self.assertNotIn(secret, str(one))
        reply = self.post("/api/session/end", {"id": one["id"]})
        self.assertEqual((reply["ended"], reply["sessions"]), ("anna", []))
        self.assertIsNone(sessions.find(secret, TOKEN, time.time()))
        self.refused("/api/session/end", {"id": one["id"]}, 404)

    def test_who_was_refused(self) -> None:
        for _ in range(6):
            self.door.logins.failed("9.9.9.9")
        self.door.keys.failed("8.8.8.8")
        told = {
            (one["what"], one["address"], one["times"]): one["wait_s"]
            for one in self.get("/api/sessions")["refused"]
        }
        self.assertEqual(set(told), {("sign-in", "9.9.9.9", 6), ("key", "8.8.8.8", 1)})
        self.assertGreater(told["sign-in", "9.9.9.9", 6], 0)

    def test_where_nobody_signs_in_there_are_none(self) -> None:
        sessions.begin(roles.OWNER, TOKEN, "", time.time())
        self.routes = access.routes(Door())
        self.assertEqual(self.get("/api/sessions")["sessions"], [])
        self.assertEqual(self.get("/api/invitations")["invitations"], [])


class Invitations(Guarded):
    def test_a_link_is_shown_once_and_lets_in_once(self) -> None:
        reply = self.post("/api/invitation", {"name": "anna"})
        base, _, secret = reply["link"].partition("#invitation=")
        self.assertEqual(base, "http://127.0.0.1:8122/login")
        self.assertEqual((reply["name"], reply["role"]), ("anna", "judge"))
        listed = self.get("/api/invitations")
        self.assertEqual([one["name"] for one in listed["invitations"]], ["anna"])
        self.assertNotIn(secret, str(listed))
        self.assertEqual(self.door.accept(Call("POST", "/login"), secret).name, "anna")
        self.assertEqual(self.get("/api/invitations")["invitations"], [])

    def test_the_link_leads_where_others_find_the_server(self) -> None:
        with mock.patch.dict(os.environ, {"BENCHWARMERS_PUBLIC_URL": "https://bench.example/"}):
            link = self.post("/api/invitation", {"name": "anna", "role": "admin", "expires": "1d"})["link"]
        self.assertTrue(link.startswith("https://bench.example/login#invitation=bwi_"), link)

    def test_it_is_withdrawn(self) -> None:
        self.post("/api/invitation", {"name": "anna"})
        self.assertEqual(self.post("/api/invitation/withdraw", {"name": "anna"})["invitations"], [])
        self.assertIn("none", self.refused("/api/invitation/withdraw", {"name": "anna"}, 404))

    def test_what_is_refused(self) -> None:
        for body in (
            {"name": "admin"},
            {"name": "anna", "role": "owner"},
            {"name": "anna", "expires": "2y"},
            {"name": "anna", "expires": "2020-01-01"},
            {"name": "anna", "token": "x"},
        ):
            with self.subTest(body):
                self.refused("/api/invitation", body)
        self.assertEqual(invitations.all(TOKEN, time.time()), [])

    def test_where_nobody_signs_in_nobody_is_invited(self) -> None:
        self.routes = access.routes(Door())
        self.assertIn("BENCHWARMERS_ADMIN_TOKEN", self.refused("/api/invitation", {"name": "anna"}, 409))

    def test_nonsense(self) -> None:
        self.refuses_nonsense("/api/invitation", "/api/invitation/withdraw", "/api/session/end")


class Whose(unittest.TestCase):
    def test_who_signs_in_is_an_admins_to_see_and_change(self) -> None:
        who = {(route.method, route.pattern): route.who for route in access.routes(Door())}
        judges = [place for place, role in who.items() if role == roles.JUDGE]
        self.assertEqual(judges, [("GET", "/api/access")])


if __name__ == "__main__":
    unittest.main()
