import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from scripts.driven import jobs
from scripts.driven.agents import AGENTS
from scripts.driven.jobs import JOBS, Outcome, checks

TOKEN = "TOKEN-0a1b2c"
CALL = {"id": "c1", "function": {"name": "read", "arguments": "{}"}}
TWO = [CALL, {**CALL, "id": "c2"}]
ASKED = [
    {"messages": [{"role": "user", "content": "hi"}]},
    {
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "tool_calls": TWO},
            {"role": "tool", "tool_call_id": "c2", "content": "x"},
            {"role": "tool", "tool_call_id": "c1", "content": "x"},
        ]
    },
]
USED = {"turns": 2, "calls": 2}


class Checking(unittest.TestCase):
    def setUp(self) -> None:
        self.work = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def left(self, **more: Any) -> Outcome:
        out = f"DONE {TOKEN} pong-{TOKEN} I see 24x16."
        return Outcome(**{"out": out, "code": 0, "work": self.work, "token": TOKEN, "asked": ASKED, **more})

    def test_a_job_well_done(self) -> None:
        (self.work / "output.txt").write_text(f"copied {TOKEN}", encoding="utf-8")
        (self.work / "ran.txt").write_text("1", encoding="utf-8")
        for name, job in JOBS.items():
            for used, count in ((USED, 1), (None, 0)):
                with self.subTest(name, used=used):
                    results = list(checks(job, AGENTS["claude"], self.left(used=used)))
                    self.assertTrue(all(so for _, so in results), results)
                    counted = [what for what, _ in results if "launch" in what]
                    self.assertEqual(len(counted), count)

    def test_nothing_done_fails_every_check(self) -> None:
        for name, job in JOBS.items():
            with self.subTest(name):
                left = self.left(out="", code=None, asked=[], used={})
                results = list(checks(job, AGENTS["claude"], left))
                self.assertFalse(any(so for _, so in results), results)

    def test_a_secret_of_another_run_counts_for_nothing(self) -> None:
        (self.work / "output.txt").write_text("copied TOKEN-ffff", encoding="utf-8")
        results = dict(checks(JOBS["loop"], AGENTS["claude"], self.left(out="DONE TOKEN-ffff")))
        self.assertFalse(results["it wrote what it read"])
        self.assertFalse(results["its last words hold the secret"])

    def test_what_hangs_together(self) -> None:
        said: list[Any] = [{"role": "assistant", "tool_calls": [CALL]}]
        answer = {"role": "tool", "tool_call_id": "c1", "content": "x"}
        cases: tuple[tuple[list[Any], bool], ...] = (
            ([*said, answer], True),
            ([answer], False),
            ([*said, {**answer, "tool_call_id": "c9"}], False),
            ([*said, answer, answer], False),
            (said, False),
            ([*said, {"role": "user", "content": "x"}, answer], False),
            ([{"role": "system", "content": "x-anthropic-billing-header: a=1"}], False),
            ([{"role": "user", "content": "x"}], True),
        )
        for messages, wanted in cases:
            with self.subTest(messages):
                self.assertEqual(jobs.coherent([{"messages": messages}]), wanted)
        self.assertFalse(jobs.coherent([]))

    def test_launch_must_count_every_request(self) -> None:
        for used, wanted in (
            (USED, True),
            ({"turns": 2, "calls": 3}, False),
            ({}, False),
            ({"error": {}}, False),
        ):
            with self.subTest(used):
                self.assertEqual(jobs.counted(self.left(used=used)), wanted)

    def test_prompts_hold_no_secret_that_must_be_found(self) -> None:
        for name in ("loop", "parallel", "image"):
            for row in AGENTS.values():
                with self.subTest(f"{row.name} {name}"):
                    prompt = JOBS[name].prompt(row, self.work, TOKEN)
                    self.assertNotIn(TOKEN, prompt)
                    json.loads(prompt.partition("PLAN ")[2])


if __name__ == "__main__":
    unittest.main()
