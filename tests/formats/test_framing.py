import json
import unittest

from metrics.formats import framing


class FramingTest(unittest.TestCase):
    def test_sse(self):
        self.assertEqual(framing.sse({"a": 1}), b'data: {"a":1}\n\n')
        self.assertEqual(framing.sse({"a": "é"}, "ping"), 'event: ping\ndata: {"a":"é"}\n\n'.encode())

    def test_line_breaks_never_break_the_frame(self):
        frame = framing.sse({"a": "one\ntwo\r\nthree\u2028four"})
        self.assertEqual(frame.count(b"\n"), 2)
        self.assertEqual(json.loads(frame[6:])["a"], "one\ntwo\r\nthree\u2028four")

    def test_a_lone_surrogate_does_not_crash(self):
        self.assertEqual(json.loads(framing.as_bytes({"a": "x\ud800y"})), {"a": "x\ud800y"})
