"""A test with a data folder of its own."""

import shutil
import tempfile
import unittest
from pathlib import Path

from metrics.store import home


class HomeCase(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="bench-test-"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        home.use(self.home)
        self.addCleanup(home.close)

    def modes(self) -> dict[str, int]:
        """The mode of everything in the data folder."""
        return {
            str(path.relative_to(self.home)): path.stat().st_mode & 0o777 for path in self.home.rglob("*")
        }
