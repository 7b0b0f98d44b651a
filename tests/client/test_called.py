import unittest

from metrics.client.called import as_object, as_text, called, told
from metrics.records import Problem
from tests.client.arrivals import TARGET


class CalledTest(unittest.TestCase):
    CASES = [
        ({"function": {"name": "f", "arguments": '{"a":[1]}'}}, ("f", {"a": [1]})),
        ({"function": {"name": "f", "arguments": ""}}, ("f", {})),
        ({"function": {"name": "f"}}, ("f", {})),
        ({"function": {"name": "f", "arguments": {"a": 1}}}, ("f", {"a": 1})),
        ({"function": {"name": "f", "arguments": "{oops"}}, ("f", {"arguments": "{oops"})),
        ({"function": {"name": "f", "arguments": "[1]"}}, ("f", {"arguments": "[1]"})),
        ({"function": {"name": "f", "arguments": "[" * 100_000}}, ("f", {"arguments": "[" * 100_000})),
        ({"type": "custom", "custom": {"name": "p", "input": "x"}}, ("p", {"input": "x"})),
        ({"type": "custom", "custom": {"name": "p"}}, ("p", {"input": ""})),
    ]

    def test_cases(self):
        for call, expected in self.CASES:
            with self.subTest(str(call)[:80]):
                self.assertEqual(called(call), expected)

    def test_objects(self):
        for text, expected in [('{"a":1}', {"a": 1}), ("[]", None), ("", None), ("null", None)]:
            with self.subTest(text):
                self.assertEqual(as_object(text), expected)

    def test_what_is_told_as_text(self):
        for value, text in [(None, ""), ('{"a', '{"a'), ({"a": "é"}, '{"a":"é"}'), ([], "[]"), (5, "5")]:
            with self.subTest(value):
                self.assertEqual(told(value), text)

    def test_new_ones_as_text(self):
        for value, expected in [(None, "{}"), ({}, "{}"), ({"a": ["é"]}, '{"a":["é"]}'), ([1], "[1]")]:
            with self.subTest(value):
                self.assertEqual(as_text(value, TARGET), expected)
        deep = {}
        for _ in range(100_000):
            deep = {"a": deep}
        for value in ({"a": float("inf")}, deep):
            with self.assertRaises(Problem) as caught:
                as_text(value, TARGET)
            self.assertEqual((caught.exception.status, caught.exception.kind), (502, "garbage"))
