"""What a member says leaves with the event that says it, in every format: one table of what is held back and
until when."""

import json
import unittest
from collections.abc import Iterator
from typing import Any

from metrics.events import Closed, Event, Reasoning, Text, ToolArguments, ToolStart
from metrics.formats import anthropic, gemini, ollama, openai_chat, openai_completions, openai_responses
from metrics.formats.protocol import Stamp
from metrics.records import Request, Usage

STAMP = Stamp("ab12", 1_796_000_000)
USAGE = Usage(uncached_in=3, out=5)

# format, its framing, whether it writes a call's arguments in pieces
FORMATS: dict[str, tuple[Any, str, bool]] = {
    "chat": (openai_chat, "", True),
    "responses": (openai_responses, "", True),
    "anthropic": (anthropic, "thinking", True),
    "gemini": (gemini, "sse", False),
    "ollama": (ollama, "chat", False),
}


def start(index: int) -> ToolStart:
    return ToolStart(index, f"call-{index}", f"tool-{index}")


def arguments(index: int, *pieces: str) -> list[Event]:
    return [ToolArguments(index, piece) for piece in pieces]


def left(form: str, *events: Event) -> list[str]:
    """What was written as each of the events was taken."""
    module, framing, _ = FORMATS[form]
    request = Request("bench/core", "core", "route", [{"role": "user", "content": "hello"}], framing=framing)
    written = [""] * len(events)
    taken = 0

    def feed() -> Iterator[Event]:
        nonlocal taken
        for number, event in enumerate(events):
            taken = number
            yield event

    for piece in module.stream(request, feed(), STAMP):
        written[taken] += piece.decode()
    return written


IN_PIECES = [form for form, (_, _, pieces) in FORMATS.items() if pieces]
WHOLE = [form for form, (_, _, pieces) in FORMATS.items() if not pieces]


class WordsTest(unittest.TestCase):
    def test_text_and_reasoning_leave_at_once(self) -> None:
        said = [
            Reasoning("hm-1"),
            Reasoning("hm-2"),
            Text("say-3"),
            Text("say-4"),
            Reasoning("hm-5"),
            Text("say-6"),
        ]
        for form in FORMATS:
            with self.subTest(form):
                written = left(form, *said, Closed("stop", USAGE))
                for event, bytes_then in zip(said, written, strict=False):
                    self.assertIn(event.text, bytes_then)

    def test_text_of_the_old_completions_leaves_at_once(self) -> None:
        request = Request("bench/core", "core", "route", [{"role": "user", "content": "hello"}])
        told = openai_completions.stream(
            request, iter([Text("say-1"), Text("say-2"), Closed("stop", USAGE)]), STAMP
        )
        self.assertEqual([b"say-" in piece for piece in told][1:3], [True, True])

    def test_words_behind_a_whole_call_leave_at_once(self) -> None:
        for form in FORMATS:
            with self.subTest(form):
                events = (start(0), *arguments(0, "{}"), Text("say-1"), Closed("tool_calls", USAGE))
                self.assertIn("say-1", left(form, *events)[2])


class ArgumentsTest(unittest.TestCase):
    def test_of_calls_in_order_each_piece_leaves_at_once(self) -> None:
        first, second = ('{"a":"one-', 'two"}'), ('{"b":"three-', 'four"}')
        events = (
            start(0),
            *arguments(0, *first),
            start(1),
            *arguments(1, *second),
            Closed("tool_calls", USAGE),
        )
        for form in IN_PIECES:
            with self.subTest(form):
                written = left(form, *events)
                for place, piece in ((1, "one-"), (2, "two"), (4, "three-"), (5, "four")):
                    self.assertIn(piece, written[place])

    def test_of_interleaved_calls_the_second_waits_for_the_first(self) -> None:
        """Chat's pieces say which call they are of; the others have one open at a time."""
        events = (
            start(0),
            start(1),
            *arguments(0, '{"a":"one-'),
            *arguments(1, '{"b":"two-'),
            *arguments(0, 'three"}'),
            *arguments(1, 'four"}'),
            Closed("tool_calls", USAGE),
        )
        for form in IN_PIECES:
            with self.subTest(form):
                written = left(form, *events)
                self.assertIn("one-", written[2])
                self.assertEqual("two-" in written[3], form == "chat")
                self.assertIn("three", written[4])
                self.assertEqual("two-" in written[4], form != "chat")
                self.assertIn("four", written[5])

    def test_where_there_is_no_form_for_half_a_call_it_comes_whole(self) -> None:
        events = (start(0), *arguments(0, '{"a":"one-', 'two"}'), Closed("tool_calls", USAGE))
        for form in WHOLE:
            with self.subTest(form):
                written = left(form, *events)
                self.assertNotIn("tool-0", "".join(written[:-1]))
                self.assertIn("one-two", written[-1])


# name, what was said of the calls, the numbers of those that came whole
CUT: list[tuple[str, list[Event], list[int]]] = [
    ("half-way", [start(0), *arguments(0, '{"a":')], []),
    ("before its arguments", [start(0)], []),
    ("the second of two", [start(0), *arguments(0, "{}"), start(1), *arguments(1, '{"b":"x')], [0]),
    ("the second, before its arguments", [start(0), *arguments(0, "{}"), start(1)], [0]),
    ("both, side by side", [start(0), start(1), *arguments(0, '{"a":'), *arguments(1, '{"b"')], []),
    ("the first of two", [start(0), start(1), *arguments(1, "{}"), *arguments(0, '{"a":')], [1]),
    ("none", [start(0), *arguments(0, '{"a":1}')], [0]),
]


class CutTest(unittest.TestCase):
    """Of an answer that the limit cut, a client can run no more calls than came whole."""

    def test_what_can_be_run(self) -> None:
        for form in FORMATS:
            for name, said, whole in CUT:
                with self.subTest(form=form, name=name):
                    told = "".join(left(form, *said, Closed("length", USAGE)))
                    runnable, came = RUNNABLE[form](told), [f"tool-{number}" for number in whole]
                    # Responses calls the last item incomplete, whole or not: it was being written.
                    sure = [one for one in came if form != "responses" or one in runnable]
                    self.assertEqual(runnable, sure)


def objects(told: str) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in told.splitlines() if line.startswith("data: {")]


def parses(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def chat_calls(told: str) -> list[str]:
    calls: dict[int, list[str]] = {}
    for chunk in objects(told):
        for piece in chunk["choices"][0]["delta"].get("tool_calls", ()):
            call = calls.setdefault(piece["index"], ["", ""])
            call[0] += piece["function"].get("name", "")
            call[1] += piece["function"].get("arguments", "")
    return [name for name, text in calls.values() if parses(text)]


def responses_calls(told: str) -> list[str]:
    done = [event["item"] for event in objects(told) if event["type"] == "response.output_item.done"]
    return [
        item["name"] for item in done if item["type"] == "function_call" and item["status"] == "completed"
    ]


def anthropic_calls(told: str) -> list[str]:
    names: dict[int, str] = {}
    texts: dict[int, str] = {}
    for event in objects(told):
        if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
            names[event["index"]] = event["content_block"]["name"]
        elif event["type"] == "content_block_delta" and "partial_json" in event["delta"]:
            texts[event["index"]] = texts.get(event["index"], "") + event["delta"]["partial_json"]
    # The SDKs take a block without a piece for a call without arguments.
    return [name for index, name in names.items() if parses(texts.get(index) or "{}")]


def gemini_calls(told: str) -> list[str]:
    parts = [part for one in objects(told) for part in one["candidates"][0]["content"]["parts"]]
    return [part["functionCall"]["name"] for part in parts if "functionCall" in part]


def ollama_calls(told: str) -> list[str]:
    messages = [json.loads(line).get("message", {}) for line in told.splitlines()]
    return [call["function"]["name"] for message in messages for call in message.get("tool_calls", ())]


RUNNABLE = {
    "chat": chat_calls,
    "responses": responses_calls,
    "anthropic": anthropic_calls,
    "gemini": gemini_calls,
    "ollama": ollama_calls,
}


if __name__ == "__main__":
    unittest.main()
