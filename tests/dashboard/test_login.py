import json
import time
import unittest

from metrics.bench import changes
from metrics.dashboard import login
from metrics.web import invitations, roles, sessions
from metrics.web.door import Door
from metrics.web.table import Call, Response
from tests.dashboard.api import ApiCase

TOKEN = "a token of some length"


class Login(ApiCase):
    def setUp(self) -> None:
        super().setUp()
        self.door = Door(token=TOKEN)
        self.routes = login.routes(self.door, lambda call: Response(200, (), b"{}"))

    def test_a_session_for_a_command_is_in_words(self) -> None:
        reply = self.post("/login", {"token": TOKEN, "bearer": True})
        self.assertRegex(reply["session"], r"\Abws_")
        self.assertRegex(reply["expires"], r"\A\d{4}-")

    def test_a_session_for_a_browser_is_not(self) -> None:
        self.assertNotIn("session", self.post("/login", {"token": TOKEN}))

    def test_wrong_tokens(self) -> None:
        self.assertIn("not the admin token", self.refused("/login", {"token": "wrong"}, 401))
        both = {"token": TOKEN, "invitation": "bwi_x"}
        for body in ({}, both, {"token": 5}, {"token": TOKEN, "more": 1}, b"[]", b"token=x"):
            with self.subTest(body):
                self.refused("/login", body)

    def test_without_a_token_there_is_nothing_to_sign_in_to(self) -> None:
        self.routes = login.routes(Door(), lambda call: Response())
        self.assertIn("asks nobody", self.post("/login", {"token": "x"})["note"])

    def test_an_invitation_makes_a_session_of_its_role_once(self) -> None:
        now = time.time()
        secret = invitations.invite("anna", roles.JUDGE, now + 60, TOKEN, "admin", now)
        reply = self.post("/login", {"invitation": secret, "bearer": True})
        self.assertEqual((reply["name"], reply["role"]), ("anna", roles.JUDGE))
        found = sessions.find(reply["session"], TOKEN, now)
        self.assertEqual(found and (found.name, found.role), ("anna", roles.JUDGE))
        told = [(row["by"], row["what"], row["new"]) for row in changes.recent(2)[0]]
        self.assertEqual(told, [("anna", "session of anna", "begun"), ("anna", "invitation anna", "used")])
        self.assertNotIn(secret, self.text("changes.jsonl"))
        self.assertIn("was used", self.refused("/login", {"invitation": secret}, 401))

    def test_a_session_that_was_there_before_ends_where_the_next_begins(self) -> None:
        old = sessions.begin(roles.OWNER, TOKEN, "", time.time())
        body = json.dumps({"token": TOKEN}).encode()
        response = login.sign_in(self.door, Call("POST", "/login", {"cookie": f"bw_session={old}"}, body))
        cookie = dict(response.headers)["Set-Cookie"]
        self.assertNotIn(old, cookie)
        self.assertIsNone(sessions.find(old, TOKEN, time.time()))
        self.assertIsNotNone(self.door.signed_in(Call("GET", "/", {"cookie": cookie.partition(";")[0]})))

    def test_signing_out_without_a_session_is_no_fault(self) -> None:
        self.assertFalse(self.post("/logout", {})["ended"])


if __name__ == "__main__":
    unittest.main()
