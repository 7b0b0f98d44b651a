"""A bench in a temporary data folder, for tests, with models and the practice squad on demand."""

import shutil
import tempfile
import unittest
from pathlib import Path

from metrics.bench import endpoints, roster
from metrics.bench.endpoints import Endpoint
from metrics.bench.roster import Model
from metrics.store import home

BY = "test"


class BenchCase(unittest.TestCase):
    """Each test has its own empty data folder."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        home.use(self.folder)
        self.addCleanup(home.close)
        roster.clear_builtin()
        self.addCleanup(roster.clear_builtin)

    def write(self, name: str, text: str) -> None:
        """A file of the data folder as a hand leaves it."""
        (self.folder / name).write_text(text, encoding="utf-8")

    def text(self, name: str) -> str:
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def seat_models(self, *aliases: str, endpoint: str = "box") -> None:
        """Written in one go: each edit of its own would wait for the disk."""
        if endpoint not in endpoints.all():
            with endpoints.FILE.edit() as saved:
                saved[endpoint] = {"base": f"http://127.0.0.1:9/{endpoint}"}
        with roster.FILE.edit() as raw:
            entries = raw.setdefault("models", {})
            entries.update({alias: {"endpoint": endpoint, "served": alias} for alias in aliases})

    def seat_squad(self, *aliases: str, in_pool: bool = False) -> None:
        squad = Endpoint("practice", "http://127.0.0.1:9/practice", kind="practice", builtin=True)
        roster.seat_builtin(squad, [Model(alias, "practice", alias) for alias in aliases], in_pool)
