import json
import unittest

from metrics.client.surrogates import Halves
from metrics.events import Reasoning, Text, ToolArguments
from tests.client.arrivals import DONE, Arrived, call, chunk, part, said, splits


def written(text):
    return json.dumps({"choices": [{"delta": {"content": text}}], "x": "y"}).encode()


class HalvesTest(unittest.TestCase):
    CASES = [
        ("nothing to do", ["a", "b"], ["a", "b"]),
        ("a pair in one chunk", ["a🧰", "🧰b"], ["a🧰", "🧰b"]),
        ("a pair in two", ["a\ud83e", "\uddf0b"], ["a", "🧰b"]),
        ("nothing but halves", ["\ud83e", "\uddf0"], ["", "🧰"]),
        ("two cuts", ["\ud83e", "\uddf0\ud83e", "\uddf0"], ["", "🧰", "🧰"]),
        ("no second half", ["a\ud83e", "b", "\uddf0c"], ["a", "b", "\uddf0c"]),
        ("no first half", ["a", "\uddf0b"], ["a", "\uddf0b"]),
        ("a backslash before", ["a\\\ud83e", "\uddf0"], ["a\\", "🧰"]),
        ("words that look so", ["a\\ud83e", "\\uddf0"], ["a\\ud83e", "\\uddf0"]),
        ("another escape", ["a\u2028", "\u0085b"], ["a\u2028", "\u0085b"]),
    ]

    def test_halves_find_each_other(self):
        for name, texts, right in self.CASES:
            with self.subTest(name):
                halves = Halves()
                read = [json.loads(halves.joined(written(text))) for text in texts]
                self.assertEqual([one["choices"][0]["delta"]["content"] for one in read], right)
                self.assertTrue(all(one["x"] == "y" for one in read))

    def test_in_every_field_of_a_stream(self):
        for name, stream, kind, text in [
            ("text", cut({"content": "a%s"}, {"content": "%sb"}), Text, "a🧰b"),
            ("reasoning", cut({"reasoning_content": "a%s"}, {"reasoning_content": "%sb"}), Reasoning, "a🧰b"),
            (
                "arguments",
                escaped(call(part(0, '{"a":"%s', "c", "f")), call(part(0, '%s"}'))),
                ToolArguments,
                '{"a":"🧰"}',
            ),
        ]:
            for relay in (False, True):
                for pieces in splits(stream) if name == "text" else [[stream]]:
                    events, problem = said(Arrived(pieces), relay=relay)
                    self.assertIsNone(problem)
                    inner = [one for event in events for one in getattr(event, "events", (event,))]
                    self.assertEqual("".join(one.text for one in inner if isinstance(one, kind)), text, name)


def cut(first, second):
    return escaped(chunk(first), chunk(second))


def escaped(first, second):
    return first.replace(b"%s", rb"\ud83e") + second.replace(b"%s", rb"\uddf0") + chunk({}, "stop") + DONE


if __name__ == "__main__":
    unittest.main()
