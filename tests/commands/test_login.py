import json
import os
import stat
import tempfile
import unittest
from pathlib import Path

from metrics.commands import login
from metrics.commands.server import Server
from tests.commands.stage import Reply, Stage

FAR = "2999-01-01T00:00:00.000Z"
SIGNED = {"ok": True, "session": "bws_secret", "expires": FAR}


class LoginCommands(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name) / "mine"
        self.env = {"BENCHWARMERS_HOME": str(self.home)}

    def test_a_session_is_kept_for_its_server_and_sent_to_it_alone(self) -> None:
        replies = {
            "POST /login": SIGNED,
            "GET /api/keys": {"ok": True, "keys": []},
            "POST /logout": {"ok": True},
        }
        with Stage(replies) as stage, Stage(replies) as other:
            played = stage.bench("login", "--token-stdin", stdin=b"the token\n", env=self.env)
            self.assertEqual((played.code, stage.last.body), (0, {"token": "the token", "bearer": True}))
            self.assertNotIn("bws_secret", played.out + played.err)
            for place, sent in ((stage, "Bearer bws_secret"), (other, None)):
                place.bench("keys", env=self.env)
                self.assertEqual(place.last.headers.get("authorization"), sent)
            stage.bench("keys", env={**self.env, "BENCHWARMERS_ADMIN_TOKEN": "token"})
            self.assertEqual(stage.last.headers["authorization"], "Bearer token")
            if os.name == "posix":
                self.assertEqual(stat.S_IMODE((self.home / login.FILE).stat().st_mode), 0o600)
            self.assertNotIn("the token", (self.home / login.FILE).read_text(encoding="utf-8"))
            self.assertEqual(stage.bench("logout", env=self.env).code, 0)
            self.assertEqual(stage.last.headers["authorization"], "Bearer bws_secret")
            self.assertEqual(stage.bench("logout", env=self.env).code, 1)

    def test_the_token_comes_from_a_variable(self) -> None:
        with Stage({"POST /login": SIGNED}) as stage:
            for words, env in (
                (("--token-env", "T"), {"T": "one"}),
                ((), {"BENCHWARMERS_ADMIN_TOKEN": "one"}),
            ):
                with self.subTest(words):
                    stage.bench("login", *words, env={**self.env, **env})
                    self.assertEqual(stage.last.body["token"], "one")
            self.assertEqual(stage.bench("login", env=self.env).code, 2)
            self.assertEqual(stage.bench("login", "--token-env", "NONE", env=self.env).code, 2)

    def test_an_invitation_comes_from_a_pipe_as_its_link_or_alone(self) -> None:
        with Stage({"POST /login": {**SIGNED, "name": "anna", "role": "judge"}}) as stage:
            for typed in (b"http://b.example/login#invitation=bwi_one\n", b" bwi_one "):
                with self.subTest(typed):
                    played = stage.bench("login", "--invited", stdin=typed, env=self.env)
                    self.assertEqual(stage.last.body, {"invitation": "bwi_one", "bearer": True})
                    self.assertIn("as anna, judge", played.out)
            self.assertEqual(stage.bench("login", "--invited", env=self.env).code, 2)
            self.assertEqual(stage.bench("login", "--invited", "--token-stdin", env=self.env).code, 2)

    def test_a_wrong_token_is_not_authorised(self) -> None:
        message = "this is not the admin token"
        refusal = Reply(
            {"ok": False, "errors": [message], "error": {"message": message, "kind": "auth"}}, 401
        )
        with Stage({"POST /login": refusal}) as stage:
            played = stage.bench("login", "--token-stdin", stdin=b"x", env=self.env)
            self.assertEqual((played.code, (self.home / login.FILE).exists()), (4, False))

    def test_what_is_over_or_broken_signs_nobody_in(self) -> None:
        server = Server("http://127.0.0.1:1")
        self.home.mkdir()
        for text, admin in (
            (json.dumps({server.base: {"session": "bws_s", "expires": FAR}}), "bws_s"),
            ('{"http://127.0.0.1:1": {"session": "bws_s", "expires": "2020-01-01"}}', None),
            ('{"http://127.0.0.1:1": 5}', None),
            ('{"http://127.0.0.1:1": {}}', None),
            ("nonsense", None),
            ("[]", None),
        ):
            with self.subTest(text):
                (self.home / login.FILE).write_text(text, encoding="utf-8")
                self.assertEqual(login.signed_in(server, self.env).admin, admin)


if __name__ == "__main__":
    unittest.main()
