import json
import unittest
from dataclasses import replace

from metrics.client import quirks
from metrics.client.dialects import DIALECTS, compose
from metrics.client.outgoing import Conversation
from metrics.records import Problem
from tests.client.arrivals import TARGET

FUNCTIONS = ("Conversation", "compose", "read", "list_models", "learn")
REFUSAL = Problem(400, "Invalid schema: 'title' is not permitted", kind="bad_request")


def deep(levels):
    value = {"title": "x"}
    for _ in range(levels):
        value = {"items": value}
    return value


class DialectsTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(quirks.forget)

    def test_each_has_what_a_call_needs(self):
        self.assertIn("chat", DIALECTS)
        for name, dialect in DIALECTS.items():
            for function in FUNCTIONS:
                with self.subTest(name, function=function):
                    self.assertTrue(callable(getattr(dialect, function, None)))

    def test_what_is_nested_too_deep_is_refused(self):
        """Also where it must be rewritten, which goes less deep than writing it."""
        for api in DIALECTS:
            target = replace(TARGET, api=api)
            self.assertTrue(quirks.learn(target, REFUSAL))
            for levels in (20, 400, 900):
                function = {"name": "f", "parameters": {"properties": {"a": deep(levels)}}}
                options = {"tools": [{"type": "function", "function": function}]}
                messages = [{"role": "user", "content": "hi", "name": deep(levels)}]
                with self.subTest(api, levels=levels):
                    try:
                        body = b"".join(compose(target, Conversation(messages), options).body)
                        self.assertIn("f", json.dumps(json.loads(body)["tools"]))
                    except Problem as problem:
                        self.assertEqual((problem.status, levels > 20), (400, True))
