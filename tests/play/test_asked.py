"""What a request takes from its call: key, limits, depth, launch."""

import json
import unittest

from metrics.bench import scope
from metrics.bench.keys import Key
from metrics.bench.scope import Scope
from metrics.play import asked
from metrics.records import Problem
from metrics.web.table import Call
from tests.play.house import House, request


def call(key=None, **headers):
    made = Call("POST", "/", {name.replace("_", "-"): value for name, value in headers.items()})
    made.key = key
    return made


class AdmittedTest(unittest.TestCase):
    def test_what_it_takes(self):
        token = "bwl_" + "0" * 32
        plain = asked.admitted(request(), call())
        self.assertEqual((plain.key, plain.depth, plain.launch, plain.models), ("local", 0, None, None))
        told = asked.admitted(request(), call(x_bench_depth="2", x_bench_launch=token))
        self.assertEqual((told.depth, told.launch), (2, token))
        self.assertEqual(asked.admitted(request(), call(x_bench_depth="no")).depth, 0)

    def test_tools_are_written_once(self):
        tools = [{"type": "function", "function": {"name": "look", "description": "é"}}]
        told = asked.admitted(request(tools=tools), call()).tools
        self.assertEqual((told, json.loads(told.text)), (tools, tools))
        self.assertIs(asked.admitted(request(tools=told), call()).tools, told)
        self.assertEqual(asked.admitted(request(), call()).tools, ())
        for odd in ([{"x": float("nan")}], [{"x": float("inf")}]):
            self.assertIs(asked.admitted(request(tools=odd), call()).tools, odd)

    def test_a_key_names_and_bounds_the_asker(self):
        with scope.of(Scope("ci", models=())):
            self.assertEqual(asked.admitted(request(), call(Key("ci", "", "", ""))).models, frozenset())
        slow = Key("slow-asked", "", "", "", rpm=1)
        self.assertEqual(asked.admitted(request(), call(slow)).key, "slow-asked")
        with self.assertRaises(Problem) as refused:
            asked.admitted(request(), call(slow))
        self.assertEqual(refused.exception.status, 429)

    def test_going_round_in_circles_ends(self):
        with self.assertRaises(Problem) as refused:
            asked.admitted(request(), call(x_bench_depth="4"))
        self.assertEqual(refused.exception.status, 508)


class ConvenedTest(House):
    def test_who_sits(self):
        self.seat("core", "one", "two")
        panel = asked.convened(request())
        self.assertEqual([seat.target.alias for seat in panel.seats], ["one", "two"])


if __name__ == "__main__":
    unittest.main()
