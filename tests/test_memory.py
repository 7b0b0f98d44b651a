import subprocess
import sys
import unittest

from tests.running import ROOT

# Blocks that are freed with something behind them: kept, if they are part of a heap.
PROGRAM = """
import os, threading
from metrics import memory
from metrics.memory import LARGE
from scripts.bench.weights import settled
memory.give_back()
def work():
    for size in (4, 6, 8):
        held = [bytearray(size * LARGE)]
        held += [bytearray(1000), bytearray(size * LARGE - LARGE)]
        del held[0], held[-1]
threads = [threading.Thread(target=lambda: (work(), gate.wait(), gate.wait())) for _ in range(4)]
gate = threading.Barrier(5)
before = settled(os.getpid())
for thread in threads:
    thread.start()
gate.wait()
print(settled(os.getpid()) - before)
gate.wait()
"""


@unittest.skipUnless(sys.platform == "linux", "only there it takes asking")
class MemoryTest(unittest.TestCase):
    def test_large_blocks_go_back(self):
        """Without asking, the four threads keep about 27 MB."""
        line = [sys.executable, "-c", PROGRAM]
        kept = int(subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
        self.assertLess(kept, 4 << 20)


if __name__ == "__main__":
    unittest.main()
