import unittest
from typing import Any

from tests.commands.stage import Reply, Stage

CALL = "p20261129-142220-1a2b3c4d.member1"


class Verdict(unittest.TestCase):
    def test_what_is_sent_and_said(self) -> None:
        cases: list[tuple[list[str], dict[str, Any], str]] = [
            (["--useful"], {"useful": True}, "useful: recorded"),
            (["--not-useful"], {"useful": False}, "not useful: recorded"),
            (
                ["--useful", "--best", "--note", "found it"],
                {"useful": True, "best": True, "note": "found it"},
                "the best",
            ),
            (
                ["--real", "a", "--false", "b", "--real", "c", "--not-useful"],
                {"useful": False, "real": ["a", "c"], "false": ["b"]},
                "not useful, 2 real claims, 1 false claim: recorded",
            ),
            (["--undo"], {"withdrawn": True}, "taken back: recorded"),
        ]
        with Stage({"POST /bench/verdict": {"ok": True, "recorded": True}}) as stage:
            for options, body, words in cases:
                with self.subTest(" ".join(options)):
                    played = stage.bench("verdict", *options, CALL)
                    self.assertEqual(stage.last.body, {"call": CALL, **body})
                    self.assertEqual((played.code, played.err), (0, ""))
                    self.assertIn(words, played.out)
                    self.assertEqual(
                        stage.bench("verdict", CALL, *options, "--json").document["recorded"], True
                    )

    def test_who_is_signed_in_and_has_no_key_judges_under_their_name(self) -> None:
        token, key = {"BENCHWARMERS_ADMIN_TOKEN": "t"}, {"BENCHWARMERS_KEY": "bwk_k"}
        said = {"ok": True, "recorded": True}
        cases = [
            (token, "/api/verdict", "t"),
            (token | key, "/bench/verdict", "bwk_k"),
            (key, "/bench/verdict", "bwk_k"),
        ]
        with Stage({"POST /bench/verdict": said, "POST /api/verdict": said}) as stage:
            for env, path, shown in cases:
                with self.subTest(env):
                    self.assertEqual(stage.bench("verdict", CALL, "--useful", env=env).code, 0)
                    self.assertEqual(stage.last.path, path)
                    self.assertEqual(stage.last.headers["authorization"], f"Bearer {shown}")

    def test_a_repeat_says_so(self) -> None:
        with Stage({"POST /bench/verdict": {"ok": True, "recorded": False}}) as stage:
            self.assertIn("known already", stage.bench("verdict", CALL, "--useful").out)

    def test_refused_on_this_side(self) -> None:
        for options in ([], ["--note", "hm"], ["--useful", "--not-useful"], ["--useful", "--undo"]):
            with self.subTest(options), Stage() as stage:
                self.assertEqual(stage.bench("verdict", CALL, *options).code, 2)
                self.assertEqual(stage.sent, [])

    def test_an_unknown_call(self) -> None:
        reply = Reply({"error": {"message": "there is no call p0.member1"}}, 404)
        with Stage({"POST /bench/verdict": reply}) as stage:
            played = stage.bench("verdict", "p0.member1", "--useful")
        self.assertEqual((played.code, played.out), (1, ""))
        self.assertIn("there is no call p0.member1", played.err)


if __name__ == "__main__":
    unittest.main()
