import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from metrics.store.locks import FileLock

ROOT = Path(__file__).resolve().parents[2]

# Takes the lock, says so, and holds it until it is killed.
HOLDER = """
import sys
from pathlib import Path
from metrics.store.locks import FileLock
print(FileLock(Path(sys.argv[1])).take(), flush=True)
sys.stdin.read()
"""


class LocksTest(unittest.TestCase):
    def setUp(self) -> None:
        self.path = Path(self.enterContext(tempfile.TemporaryDirectory())) / "x.lock"

    def test_one_at_a_time_in_one_process(self) -> None:
        first, second = FileLock(self.path), FileLock(self.path)
        self.assertTrue(first.take())
        self.assertFalse(second.take())
        first.release()
        self.assertTrue(second.take())
        second.release()

    def test_waiting_ends_when_time_is_up(self) -> None:
        held = FileLock(self.path)
        self.assertTrue(held.take())
        now = [0.0]

        def sleep(seconds: float) -> None:
            now[0] += seconds

        self.assertFalse(FileLock(self.path).take(1.0, sleep, lambda: now[0]))
        self.assertGreaterEqual(now[0], 1.0)
        held.release()

    def test_a_killed_holder_frees_it(self) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(self.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        ) as holder:
            assert holder.stdout
            self.assertEqual(holder.stdout.readline().strip(), "True")
            self.assertFalse(FileLock(self.path).take())
            holder.kill()
            holder.wait()
        after = FileLock(self.path)
        self.assertTrue(after.take())
        after.release()
