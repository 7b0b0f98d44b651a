import socket
import threading
import unittest
from contextlib import closing
from unittest import mock

from scripts.bench import turns
from scripts.bench.load import Job
from scripts.bench.results import Results
from tests.scripts.bench.test_load import hang_up, serve


def job(listener, connections=1, mark="dog."):
    return Job(listener.getsockname()[1], "/x", "{}", connections, mark=mark)


class TurnsTest(unittest.TestCase):
    def listener(self, answer):
        listener = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        threading.Thread(target=answer, args=(listener,), daemon=True).start()
        return listener

    def test_a_burst_is_all_answered(self):
        listener = self.listener(serve)
        for connections in (1, 3, 8):
            for mark, right in (("dog.", True), ("cat.", False)):
                with self.subTest(mark, connections=connections):
                    with closing(turns.Party(job(listener, connections, mark))) as party:
                        for most in (2, 7):
                            counted = party.burst(most)
                            wanted = (most, 0) if right else (0, most)
                            self.assertEqual((counted["ok"], counted["errors"]), wanted)
                        # None is left on the way: the next request gets its own answer.
                        self.assertEqual(party.burst(1)["ok"], int(right))

    def test_a_connection_that_ends_ends_the_measurement(self):
        listener = self.listener(hang_up)
        for connections in (1, 2):
            with closing(turns.Party(job(listener, connections))) as party, self.assertRaises(OSError):
                party.burst(4)

    def test_targets_take_turns_at_being_first(self):
        asked = []

        class Party:
            def __init__(self, job):
                self.name, self.callers = job, [None, None]

            def burst(self, most):
                asked.append((self.name, most))
                return {"errors": 0}

            def close(self):
                asked.append(f"{self.name} closed")

        results = Results()
        with mock.patch.object(turns, "Party", Party):
            turns.measure(results, "s", {"a": "A", "b": "B"}, rounds=2, most=5)
        warm = turns.WARM * 2
        expected = [("A", warm), ("B", warm), ("A", 5), ("B", 5), ("B", 5), ("A", 5), "B closed", "A closed"]
        self.assertEqual(asked, expected)
        self.assertEqual(len(results.rounds["s"]["a"]), 2)
