import json
import unittest
from pathlib import Path

from metrics.commands.agents import AGENTS as LAUNCHED
from scripts.driven import install
from scripts.driven.agents import AGENTS, Errand
from scripts.driven.jobs import JOBS

ERRAND = Errand(Path("home"), Path("work"), "http://127.0.0.1:1", "bench/core:route", "the prompt")
SHOWN = Errand(Path("home"), Path("work"), "http://127.0.0.1:1", "bench/core:route", "the prompt", "pic.png")


class Rows(unittest.TestCase):
    def test_every_agent_that_can_be_launched_is_driven_so(self) -> None:
        self.assertEqual({row.launch for row in AGENTS.values() if row.launch}, set(LAUNCHED))

    def test_every_package_is_pinned(self) -> None:
        self.assertEqual({row.package for row in AGENTS.values()}, set(install.pinned()))

    def test_the_prompt_is_said_once(self) -> None:
        for name, row in AGENTS.items():
            with self.subTest(name):
                said = sum("the prompt" in word for word in row.words(ERRAND))
                self.assertEqual(said, 0 if row.typed else 1)

    def test_a_picture_is_shown_by_who_can(self) -> None:
        for name, row in AGENTS.items():
            with self.subTest(name):
                shown = "pic.png" in " ".join(row.words(SHOWN))
                self.assertEqual(shown, not row.reads_pictures and "image" not in row.cannot)

    def test_who_is_not_launched_is_told_by_files(self) -> None:
        for name, row in AGENTS.items():
            with self.subTest(name):
                told = " ".join(row.files(ERRAND).values())
                self.assertEqual("http://127.0.0.1:1" in told, not row.launch)
                for content in row.files(ERRAND).values():
                    json.loads(content)

    def test_reasons_name_jobs(self) -> None:
        for name, row in AGENTS.items():
            with self.subTest(name):
                self.assertLessEqual(set(row.cannot), set(JOBS))


if __name__ == "__main__":
    unittest.main()
