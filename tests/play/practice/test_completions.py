import json
import unittest

from metrics.play.practice import completions
from metrics.play.practice.ask import Said, ToolCall
from metrics.play.practice.completions import Form, pieces, read
from metrics.records import Problem
from tests.play.practice.conversations import ask

HELLO = [{"role": "user", "content": "hello"}]
WRONG = [
    ("no model", {"messages": HELLO}, "model"),
    ("an empty model", {"model": "", "messages": HELLO}, "model"),
    ("no messages", {"model": "x"}, "messages"),
    ("an empty list", {"model": "x", "messages": []}, "messages"),
    ("not a list", {"model": "x", "messages": {"role": "user"}}, "messages"),
    ("not an object", {"model": "x", "messages": ["hello"]}, "messages[0]"),
    ("an unknown role", {"model": "x", "messages": [{"role": "king"}]}, "messages[0].role"),
    ("a list as role", {"model": "x", "messages": [{"role": []}]}, "messages[0].role"),
    (
        "a number as content",
        {"model": "x", "messages": [*HELLO, {"role": "user", "content": 3}]},
        "messages[1].content",
    ),
    ("two answers", {"model": "x", "messages": HELLO, "n": 2}, "n"),
    ("stream as text", {"model": "x", "messages": HELLO, "stream": "yes"}, "stream"),
    ("no room", {"model": "x", "messages": HELLO, "max_tokens": 0}, "max_tokens"),
    ("tools as an object", {"model": "x", "messages": HELLO, "tools": {}}, "tools"),
    (
        "a tool that is not there",
        {"model": "x", "messages": HELLO, "tool_choice": {"function": {"name": "y"}}},
        "tool_choice",
    ),
    ("a list as choice", {"model": "x", "messages": HELLO, "tool_choice": [1]}, "tool_choice"),
]


class Reading(unittest.TestCase):
    def test_what_is_wrong_is_named(self):
        for name, body, param in WRONG:
            with self.subTest(name):
                with self.assertRaises(Problem) as caught:
                    read(body)
                self.assertEqual((caught.exception.status, caught.exception.param), (400, param))

    def test_a_whole_request(self):
        tools = [
            {
                "type": "function",
                "function": {"name": "f", "description": "d", "parameters": {"type": "object"}},
            }
        ]
        body = {
            "model": "x",
            "messages": HELLO,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": 9,
            "max_completion_tokens": 7,
            "tools": [*tools, {"type": "custom"}, None, {"function": {"name": 3}}],
            "tool_choice": {"type": "function", "function": {"name": "f"}},
            "parallel_tool_calls": False,
            "temperature": 1,
        }
        said, form = read(body)
        self.assertEqual(form, Form("x", True, True, 7))
        self.assertEqual(
            ([tool.name for tool in said.tools], said.choice, said.parallel), (["f"], "f", False)
        )


def chunks(said: Said, form: Form) -> list[dict]:
    """The chunks of a stream, which must end with [DONE]."""
    events = (
        b"".join(completions.stream(ask("hello"), form, said, 7, lambda seconds: True))
        .decode("ascii")
        .split("\n\n")
    )
    assert events[-2:] == ["data: [DONE]", ""], events
    return [json.loads(event.removeprefix("data: ")) for event in events[:-2]]


class Writing(unittest.TestCase):
    text = "One line, and some more of it, so that it is longer than a chunk may be and is cut.\n\nZwei: ü\n"

    def test_the_stream_says_what_the_reply_says(self):
        said, form = Said(self.text), Form("practice-lint", True)
        got = chunks(said, form)
        deltas = [chunk["choices"][0]["delta"] for chunk in got]
        self.assertEqual(deltas[0], {"role": "assistant", "content": ""})
        self.assertEqual("".join(delta.get("content", "") for delta in deltas), self.text)
        self.assertEqual(got[-1]["choices"][0]["finish_reason"], "stop")
        whole = completions.reply(ask("hello"), form, said, 7)
        self.assertEqual(whole["choices"][0]["message"]["content"], self.text)
        self.assertEqual({chunk["id"] for chunk in got}, {whole["id"]})
        self.assertEqual({chunk["system_fingerprint"] for chunk in got}, {"practice-program"})

    def test_usage_comes_last_and_counts_characters(self):
        got = chunks(Said("x" * 9), Form("m", True, True))
        self.assertEqual(got[-1]["usage"], {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5})
        self.assertEqual(got[-1]["choices"], [])
        self.assertTrue(all(chunk["usage"] is None for chunk in got[:-1]))

    def test_most(self):
        whole = completions.reply(ask("hello"), Form("m", most=2), Said("0123456789"), 7)
        self.assertEqual(whole["choices"][0]["message"]["content"], "01234567")
        self.assertEqual(whole["choices"][0]["finish_reason"], "length")

    def test_tool_calls(self):
        calls = (ToolCall("c1", "f", '{"a": 1}'), ToolCall("c2", "g", "{}"))
        form = Form("m", True)
        whole = completions.reply(ask("hello"), form, Said(calls=calls), 7)["choices"][0]
        self.assertEqual((whole["finish_reason"], whole["message"]["content"]), ("tool_calls", None))
        built: dict[int, dict] = {}
        for chunk in chunks(Said(calls=calls), form):
            for part in chunk["choices"][0]["delta"].get("tool_calls", []):
                call = built.setdefault(part["index"], {"arguments": ""})
                call["id"] = part.get("id", call.get("id"))
                call["name"] = part["function"].get("name", call.get("name"))
                call["arguments"] += part["function"]["arguments"]
        self.assertEqual(
            [built[0], built[1]],
            [
                {"arguments": '{"a": 1}', "id": "c1", "name": "f"},
                {"arguments": "{}", "id": "c2", "name": "g"},
            ],
        )

    def test_slowly(self):
        pauses: list[float] = []

        def wait(seconds: float) -> bool:
            pauses.append(seconds)
            return True

        got = list(completions.stream(ask("slow"), Form("m", True), Said("a b c d e", seconds=8), 7, wait))
        self.assertEqual((pauses, len(got)), ([2.0] * 4, 1 + 5 + 1 + 1))

    def test_a_caller_who_left_is_not_talked_to(self):
        got = list(
            completions.stream(
                ask("slow"), Form("m", True), Said("a b c", seconds=8), 7, lambda seconds: False
            )
        )
        self.assertEqual(len(got), 2)

    def test_pieces(self):
        for text in ("", "a", "a\n", "\n\n", "x" * 500, "word " * 60, self.text, "a\u2028b\x0cc\r\nd"):
            for slowly in (False, True):
                with self.subTest(text=text, slowly=slowly):
                    self.assertEqual("".join(pieces(text, slowly)), text)
                    self.assertTrue(all(pieces(text, slowly)))
