import argparse
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from scripts import agents
from scripts.driven import install, runs
from scripts.driven.agents import AGENTS
from scripts.driven.brain import MODELS
from scripts.driven.jobs import JOBS, Outcome


class Bench:
    """Stands for a running server: keeps who is seated."""

    port = 1

    def __init__(self) -> None:
        self.members: list[list[str]] = []

    def collect(self, name: str, members: list[str]) -> None:
        self.members.append(members)


class Options(unittest.TestCase):
    def read(self, *words: str) -> argparse.Namespace:
        with mock.patch.object(sys, "argv", ["agents.py", *words]):
            return agents.read_options()

    def test_all_of_them_and_plainly_unless_named(self) -> None:
        usual = self.read()
        self.assertEqual((usual.agents, usual.jobs, usual.scenarios), (list(AGENTS), list(JOBS), ["plain"]))
        self.assertEqual(self.read("--agents", "codex,claude").agents, ["codex", "claude"])

    def test_unknown_names_are_refused_with_the_known_ones(self) -> None:
        for words in (("--agents", "codex,x"), ("--jobs", "x"), ("--scenarios", "x")):
            said = io.StringIO()
            with self.subTest(words), contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
                self.read(*words)
            self.assertIn("there is no x; there are ", said.getvalue())

    def test_nobody_dies_in_a_job_of_one_turn(self) -> None:
        for scenario, wanted in (
            ("plain", list(JOBS)),
            ("limited", list(JOBS)),
            ("dying", ["loop", "parallel"]),
        ):
            with self.subTest(scenario):
                self.assertEqual([job.name for job in agents.jobs_of(scenario, list(JOBS))], wanted)

    def test_every_member_of_a_scenario_is_a_model(self) -> None:
        for name, members in agents.SCENARIOS.items():
            with self.subTest(name):
                self.assertLessEqual(set(members), set(MODELS))


class Counting(unittest.TestCase):
    def check(
        self, name: str, job: str, *left: Outcome, scenario: str = "limited"
    ) -> tuple[tuple[int, int], str, Bench]:
        said, bench, leaves = io.StringIO(), Bench(), iter(left)
        do = mock.patch.object(runs, "do", lambda *words: next(leaves))
        with contextlib.redirect_stdout(said), do:
            counts = agents.check(AGENTS[name], JOBS[job], scenario, Path("d"), bench, mock.Mock())
        self.assertEqual(list(leaves), [], "every run was made")
        return counts, said.getvalue(), bench

    def test_lines_and_counts(self) -> None:
        asked = [{"model": "first", "messages": [{"role": "user", "content": "x"}]}]
        good = Outcome("pong-T", 0, Path(), "T", asked, {"turns": 1, "calls": 1})
        counts, said, bench = self.check("codex", "chat", good)
        self.assertEqual((counts, said.count("PASS codex chat limited: ")), ((4, 0), 4))
        self.assertEqual(bench.members, [["limited-a", "limited-b"]])
        counts, said, _ = self.check(
            "codex", "chat", Outcome("", 1, Path(), "T", asked, {}, "why it went wrong")
        )
        self.assertEqual((counts, said.count("FAIL")), ((1, 3), 3))
        for words in ("exit 1; asked first:1", "why it went wrong"):
            self.assertIn(words, said)

    def test_who_gives_up_must_say_so_and_is_given_the_job_again(self) -> None:
        gave_up = Outcome("", 1, Path("no"), "T", [], {}, "the answer broke off")
        failed = Outcome("", 1, Path("no"), "T", [], {})
        for name, runs_made, said_so in (
            ("qwen", [gave_up, failed], 1),
            ("qwen", [failed, failed], 0),
            ("pi", [failed], 0),
        ):
            with self.subTest(name, said_so=said_so):
                _, said, _ = self.check(name, "parallel", *runs_made, scenario="dying")
                self.assertEqual(said.count("PASS"), said_so)

    def test_what_an_agent_cannot_do_is_skipped_and_not_counted(self) -> None:
        counts, said, _ = self.check("aider", "image")
        self.assertEqual(counts, (0, 0))
        self.assertTrue(said.startswith("SKIP aider image limited: it sends pictures only"))

    def test_one_that_cannot_be_installed_is_skipped_by_name(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), tempfile.TemporaryDirectory() as folder:
            with mock.patch.object(install, "install", return_value="no network"):
                self.assertFalse(agents.ready(AGENTS["codex"], Path(folder)))
            with mock.patch.object(install, "install", return_value=""):
                self.assertTrue(agents.ready(AGENTS["codex"], Path(folder)))
        self.assertIn("SKIP codex: @openai/codex cannot be installed here: no network\n", said.getvalue())


if __name__ == "__main__":
    unittest.main()
