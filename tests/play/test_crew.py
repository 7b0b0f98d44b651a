import threading
import unittest

from metrics.play import crew


class CrewTest(unittest.TestCase):
    def test_all_work_is_done_at_once(self):
        """Forty that wait for each other: none may queue behind another."""
        barrier, done = threading.Barrier(40), threading.Semaphore(0)

        def work():
            barrier.wait(10)
            done.release()

        for _ in range(40):
            crew.go(work)
        self.assertTrue(all(done.acquire(timeout=10) for _ in range(40)))

    def test_threads_are_used_again(self):
        seen, turns = set(), threading.Semaphore(0)

        def work():
            seen.add(threading.get_ident())
            turns.release()

        for _ in range(50):
            crew.go(work)
            self.assertTrue(turns.acquire(timeout=10))
        self.assertLess(len(seen), 50)
