import contextlib
import io
import json
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

from scripts.driven import mcp
from scripts.driven.agents import AGENTS

CALL = "p20261130-022421-ecd7a85e.member1"


class Pieces(unittest.TestCase):
    def setUp(self) -> None:
        self.said = self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        where = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bench = mcp.Bench("http://127.0.0.1:9", "bwk_x", where)

    def test_what_a_program_said(self) -> None:
        program = "import sys; print(sys.stdin.read()); print('bad', file=sys.stderr)"
        said = mcp.heard([sys.executable, "-c", program], {}, "typed")
        self.assertEqual(said.split(), ["typed", "bad"])

    def test_judgements_are_lines(self) -> None:
        counts = mcp.judged("lib 1: it works", True, "") + mcp.judged("lib 1: it fails", False, "why")
        self.assertEqual(counts, Counter({("PASS", "lib 1"): 1, ("FAIL", "lib 1"): 1}))
        lines = self.said.getvalue().splitlines()
        self.assertEqual(lines, ["PASS lib 1: it works", "FAIL lib 1: it fails: 'why'"])

    def test_the_call_in_an_agents_last_words(self) -> None:
        cases = (
            (f'{{"result":"DONE {CALL}","x":1}}', CALL),
            (f'"text":"DONE {CALL}\\n"', CALL),
            (f"DONE {CALL}\nthe agent's own words", CALL),
            ("DONE NO-CALL", ""),
            ("nothing", ""),
            ("", ""),
        )
        for said, call in cases:
            with self.subTest(said):
                self.assertEqual(mcp.after(said, "DONE "), call)

    def test_reminders_are_told_apart(self) -> None:
        lines = [
            '{"type":"user","uuid":"a","message":"Stop hook feedback"}',
            '{"type":"system","uuid":"b","message":"Stop hook feedback"}',
            '{"type":"user","uuid":"c","message":"hello"}',
        ]
        self.assertEqual(list(mcp.turns("\n".join(lines))), ["a"])

    def test_an_agent_that_cannot_be_installed_is_skipped_and_that_is_said(self) -> None:
        with mock.patch.object(mcp.install, "install", return_value="there is no npm"):
            self.assertEqual(mcp.agent("codex")(self.bench), Counter())
        self.assertIn("SKIP codex: it cannot be installed here: there is no npm", self.said.getvalue())

    def test_the_server_is_asked_by_its_own_twin(self) -> None:
        said = mcp.told(self.bench, "ping")
        self.assertIn("no server answers at http://127.0.0.1:9", said)

    def test_agents_are_told_where_the_bench_is_and_the_key(self) -> None:
        with mcp.home_of_its_own() as root:
            env = mcp.environment("claude", root, self.bench)
            self.assertEqual(env["HOME"], str(root / "home"))
            said = mcp.bench_mcp("codex", root, self.bench)
            self.assertIn("knows the bench", said)
            text = (root / "home" / ".codex" / "config.toml").read_text(encoding="utf-8")
        self.assertEqual((env["BENCHWARMERS_URL"], env["BENCHWARMERS_KEY"]), (self.bench.url, "bwk_x"))
        self.assertIn('bearer_token_env_var = "BENCHWARMERS_KEY"', text)
        self.assertNotIn("bwk_x", text)

    def test_whoever_is_impatient_is_known(self) -> None:
        self.assertLessEqual(set(mcp.IMPATIENT), set(AGENTS))
        self.assertEqual(json.loads(json.dumps(mcp.STEPS))[1]["tool"], "ask")


if __name__ == "__main__":
    unittest.main()
