"""Tool calls as servers bend them, read whole, byte by byte and cut at every position, and relayed."""

import unittest

from metrics.client import call_ids
from metrics.events import Closed, Event, Opened
from metrics.events import ToolArguments as Args
from metrics.events import ToolStart as Start
from tests.client.arrivals import DONE, Arrived, call, chunk, frame, part, relayed, said, splits

OPEN = Opened()
STOP = chunk({}, "stop")
A = part(0, "", "call_a", "f")
START = Start(0, "call_a", "f")

# name, the chunks before the finish, what they say
TOOLS: list[tuple[str, bytes, list[Event]]] = [
    (
        "plain",
        call(A) + call(part(0, '{"a":')) + call(part(0, "1}")),
        [START, Args(0, '{"a":'), Args(0, "1}")],
    ),
    (
        "empty id and name go on",
        call(A) + call(part(0, '{"a":', "", "")) + call(part(0, "1}", "call_a", "")),
        [START, Args(0, '{"a":'), Args(0, "1}")],
    ),
    (
        "interleaved",
        call(A, part(1, "", "call_b", "g")) + call(part(1, "{")) + call(part(0, "{}")) + call(part(1, "}")),
        [START, Start(1, "call_b", "g"), Args(1, "{"), Args(0, "{}"), Args(1, "}")],
    ),
    (
        "stray index",
        call(part(0, '{"a":', "call_a", "f")) + call(part(1, "1}")) + call(part(2, " ")),
        [START, Args(0, '{"a":'), Args(0, "1}"), Args(0, " ")],
    ),
    (
        "no index",
        call(part(None, '{"a":', "call_a", "f")) + call(part(None, "1}"), part(None, "{}", "call_b", "f")),
        [START, Args(0, '{"a":'), Args(0, "1}"), Start(1, "call_b", "f"), Args(1, "{}")],
    ),
    (
        "every call has index 0",
        call(part(0, "{}", "call_a", "f"), part(0, "{}", "call_b", "f")),
        [START, Args(0, "{}"), Start(1, "call_b", "f"), Args(1, "{}")],
    ),
    (
        "no ids, every call has index 0",
        call(part(0, '{"a":1}', None, "f"), part(0, "{}", None, "f")),
        [Start(0, "id1", "f"), Args(0, '{"a":1}'), Start(1, "id2", "f"), Args(1, "{}")],
    ),
    (
        "a new id with each piece",
        call(part(0, "", "x1", "f")) + call(part(0, '{"a":', "x2", "f")) + call(part(0, "1}", "x3", "f")),
        [Start(0, "x1", "f"), Args(0, '{"a":'), Args(0, "1}")],
    ),
    (
        "the function's name as the id",
        call(part(0, "{}", "f", "f"), part(1, "{}", "f", "f")),
        [Start(0, "f", "f"), Args(0, "{}"), Start(1, "id1", "f"), Args(1, "{}")],
    ),
    (
        "the whole call once more",
        call(A) + call(part(0, "{}")) + call(part(0, "{}", "call_a", "f")),
        [START, Args(0, "{}")],
    ),
    (
        "the name comes late",
        call({"index": 0, "id": "call_a", "function": {"arguments": "{"}}) + call(part(0, "}", None, "f")),
        [START, Args(0, "{}")],
    ),
    ("no arguments", call(A), [START, Args(0, "{}")]),
    ("blank arguments", call(A) + call(part(0, " \n")), [START, Args(0, "{}")]),
    ("null arguments", call(part(0, None, "call_a", "f")), [START, Args(0, "{}")]),
    ("arguments that say null", call(A) + call(part(0, "nu")) + call(part(0, "ll")), [START, Args(0, "{}")]),
    ("an object", call(part(0, {"a": "é"}, "call_a", "f")), [START, Args(0, '{"a":"é"}')]),
    (
        "custom",
        call({"index": 0, "id": "c", "type": "custom", "custom": {"name": "sh", "input": ""}})
        + call({"index": 0, "custom": {"input": "null"}}),
        [Start(0, "c", "sh", kind="custom"), Args(0, "null")],
    ),
    (
        "the legacy form",
        chunk({"content": None, "function_call": {"name": "f", "arguments": ""}})
        + chunk({"function_call": {"arguments": '{"a":'}})
        + chunk({"function_call": {"arguments": "1}"}}, "function_call"),
        [Start(0, "id1", "f"), Args(0, '{"a":'), Args(0, "1}")],
    ),
    (
        "custom, on stray indexes",
        call({"index": 0, "id": "c", "type": "custom", "custom": {"name": "sh", "input": "l"}})
        + call({"index": 1, "custom": {"input": "s"}}),
        [Start(0, "c", "sh", kind="custom"), Args(0, "l"), Args(0, "s")],
    ),
    (
        "gemini's signature",
        call({**part(0, "{}", "call_a", "f"), "extra_content": {"google": {"thought_signature": "s"}}}),
        [Start(0, "call_a", "f", signature="s"), Args(0, "{}")],
    ),
]  # fmt: skip


class ToolCalls(unittest.TestCase):
    maxDiff = None

    def test_tools(self) -> None:
        for name, stream, expected in TOOLS:
            with self.subTest(name):
                for pieces in splits(stream + STOP + DONE):
                    events, problem = said(Arrived(pieces))
                    self.assertIsNone(problem)
                    self.assertEqual(events, [OPEN, *expected, Closed("tool_calls")], pieces)

    def test_tools_are_put_right_in_the_chunk(self) -> None:
        for name, stream, expected in TOOLS:
            with self.subTest(name):
                chunks, meaning = relayed(stream + chunk({}, "stop") + DONE)
                self.assertEqual(meaning, [OPEN, *expected, Closed("tool_calls")])
                # What a plain client makes of the chunks is what the events say.
                events, _ = said(Arrived([b"".join(map(frame, chunks))]))
                self.assertEqual(events, [OPEN, *expected, Closed("tool_calls")])
                for one in chunks:
                    for item in one["choices"][0]["delta"].get("tool_calls", []):
                        self.assertIsInstance(item["index"], int)
                        self.assertNotEqual(item.get("id"), "")
                self.assertEqual(chunks[-1]["choices"][0]["finish_reason"], "tool_calls")

    def test_a_call_that_is_cut_before_its_arguments_is_given_none(self) -> None:
        """With `{}` it could be run, and nobody asked for that."""
        second = [Start(1, "call_b", "g")]
        cases: list[tuple[str, bytes, list[Event]]] = [
            ("alone", call(A), [START]),
            ("blanks", call(A) + call(part(0, " ")), [START]),
            ("null", call(part(0, None, "call_a", "f")), [START]),
            ("half", call(A) + call(part(0, '{"a')), [START, Args(0, '{"a')]),
            ("the last of two", call(A, part(1, "", "call_b", "g")), [START, *second, Args(0, "{}")]),
        ]
        for name, stream, expected in cases:
            for finish in ("length", "content_filter"):
                with self.subTest(name, finish=finish):
                    stop = chunk({}, finish)
                    for pieces in splits(stream + stop + DONE):
                        events, _ = said(Arrived(pieces))
                        self.assertEqual(events, [OPEN, *expected, Closed(finish)])
                    _, meaning = relayed(stream + stop + DONE)
                    self.assertEqual(meaning, [OPEN, *expected, Closed(finish)])

    def test_an_index_that_is_no_number_is_none(self) -> None:
        for index in ("0", "9" * 5000, "²", "x", True, 1.5, {}, None):
            with self.subTest(str(index)[:9]):
                events, _ = said(Arrived([call({**A, "index": index}) + chunk({}, "tool_calls") + DONE]))
                self.assertEqual(events, [OPEN, START, Args(0, "{}"), Closed("tool_calls")])

    def test_a_call_without_an_id_gets_one_of_its_own(self) -> None:
        self.assertRegex(call_ids.new(), "^call_[0-9a-f]{24}$")


if __name__ == "__main__":
    unittest.main()
