"""When a turn's stream has begun: what comes before has no 200 yet."""

import unittest

import gateway
from metrics.events import Chunk, Closed, Opened, Text, Tick

MUTE = Chunk(b"{}", ())
BEGUN = Chunk(b"{}", (Opened("m"),))
SAID = Chunk(b"{}", (Opened("m"), Text("a")))


class UntilSaidTest(unittest.TestCase):
    def test_what_decides_the_status(self):
        for name, events, taken in [
            ("text", [Opened("m"), Text("a"), Closed()], 2),
            ("a tick", [Tick(), Text("a")], 1),
            ("no words at all", [Opened("m"), Closed()], 2),
            ("a chunk that says something", [SAID, MUTE, Closed()], 1),
            ("chunks that say nothing", [BEGUN, MUTE, SAID, Closed()], 3),
            ("chunks that say nothing to the end", [BEGUN, MUTE, Closed()], 3),
            ("nothing", [], 0),
        ]:
            with self.subTest(name):
                self.assertEqual(gateway._until_said(iter(events)), events[:taken])
