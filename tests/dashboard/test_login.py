import unittest

from metrics.dashboard import login
from metrics.web.door import Door
from metrics.web.table import Response
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
        for body in ({}, {"token": 5}, {"token": TOKEN, "more": 1}, b"[]", b"token=x"):
            with self.subTest(body):
                self.refused("/login", body)

    def test_without_a_token_there_is_nothing_to_sign_in_to(self) -> None:
        self.routes = login.routes(Door(), lambda call: Response())
        self.assertIn("asks nobody", self.post("/login", {"token": "x"})["note"])

    def test_signing_out_without_a_session_is_no_fault(self) -> None:
        self.assertFalse(self.post("/logout", {})["ended"])


if __name__ == "__main__":
    unittest.main()
