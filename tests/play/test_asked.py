"""Whether a request may be asked, and who sits for it."""

import json
import unittest

from metrics.bench.keys import Key
from metrics.play import asked
from metrics.records import Problem
from metrics.web.table import Call
from tests.play.house import House, request


def call(key=None):
    made = Call("POST", "/")
    made.key = key
    return made


class AdmittedTest(unittest.TestCase):
    def test_tools_are_written_once(self):
        tools = [{"type": "function", "function": {"name": "look", "description": "é"}}]
        told = asked.admitted(request(tools=tools), call()).tools
        self.assertEqual((told, json.loads(told.text)), (tools, tools))
        self.assertIs(asked.admitted(request(tools=told), call()).tools, told)
        self.assertEqual(asked.admitted(request(), call()).tools, ())
        for odd in ([{"x": float("nan")}], [{"x": float("inf")}]):
            self.assertIs(asked.admitted(request(tools=odd), call()).tools, odd)

    def test_a_key_has_its_limits_of_a_minute(self):
        slow = Key("slow-asked", "", "", "", rpm=1)
        asked.admitted(request(), call(slow))
        with self.assertRaises(Problem) as refused:
            asked.admitted(request(), call(slow))
        self.assertEqual(refused.exception.status, 429)

    def test_going_round_in_circles_ends(self):
        self.assertEqual(asked.admitted(request(depth=3), call()).depth, 3)
        with self.assertRaises(Problem) as refused:
            asked.admitted(request(depth=4), call())
        self.assertEqual(refused.exception.status, 508)


class ConvenedTest(House):
    def test_who_sits(self):
        self.seat("core", "one", "two")
        panel = asked.convened(request())
        self.assertEqual([seat.target.alias for seat in panel.seats], ["one", "two"])


if __name__ == "__main__":
    unittest.main()
