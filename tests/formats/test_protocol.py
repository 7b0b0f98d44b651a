import re
import unittest

import gateway
from metrics.events import (
    Burst,
    Closed,
    Failed,
    Reasoning,
    Text,
    Tick,
    ToolArguments,
    ToolStart,
    singly,
)
from metrics.formats.framing import as_bytes
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Request
from metrics.web.table import Final
from tests.formats.streams import STREAMS

CALL, SECOND = ToolStart(0, "c1", "look"), ToolStart(1, "c2", "see")
STAMP = Stamp("ab12", 1_796_000_000)


def request(api, **more):
    return Request("c:route", "c", "route", [], format=api.NAME, stream=True, **more)


def timeless(pieces):
    """The bytes of a stream, but for what some formats say of the time."""
    return re.sub(rb'(_duration":)\d+|"completed_at":\d+', rb"\1", b"".join(pieces))


FRAMINGS = {"gemini": ("sse", "array"), "ollama": ("chat", "generate"), "anthropic": ("", "thinking")}
FORMATS = [
    (api, request(api, framing=framing))
    for api in gateway.FORMATS
    for framing in FRAMINGS.get(api.NAME, ("",))
]


class StreamTest(unittest.TestCase):
    def test_the_last_piece_and_no_other_is_final(self):
        broken = ("broken", [Text("a"), Failed(Problem(502, "gone"))], "a", "", [])
        at_once = ("broken at once", [Failed(Problem(502, "gone"))], "", "", [])
        for api, asked in FORMATS:
            for name, events, *_ in (*STREAMS, broken, at_once):
                with self.subTest(api=api.NAME, framing=asked.framing, name=name):
                    final = [type(piece) is Final for piece in api.stream(asked, iter(events), STAMP)]
                    self.assertEqual(final, [False] * (len(final) - 1) + [True])

    TOGETHER = [
        ("text", [Text("a")], Text("")),
        ("text from the first", [], Text("")),
        ("thoughts", [Reasoning("a")], Reasoning("")),
        ("thoughts behind a seal", [Reasoning("a", signature="s")], Reasoning("")),
        ("thoughts behind text", [Reasoning("a"), Text("b")], Reasoning("")),
        ("arguments", [CALL, ToolArguments(0, "{")], ToolArguments(0, "")),
        ("arguments from the first", [CALL], ToolArguments(0, "")),
        ("arguments of another call", [CALL, ToolArguments(0, "{"), SECOND], ToolArguments(1, "")),
        ("arguments while another waits", [CALL, ToolArguments(0, "{"), SECOND], ToolArguments(0, "")),
        ("text while a call is open", [CALL, ToolArguments(0, "{")], Text("")),
        ("a second choice", [Text("a"), Text("b", 1)], Text("", 1)),
    ]

    def test_what_came_together_is_written_as_it_would_be_one_by_one(self):
        for api, asked in FORMATS:
            for name, before, like in self.TOGETHER:
                for texts in (["a"], ["a", '"b"\n', "é\u2028\u0085", "\\", "c/d"], ["🧰"] * 40):
                    burst = Burst(like, texts, [as_bytes(text)[1:-1] for text in texts])
                    events = [*before, burst, Tick(), burst, Text("z"), Closed()]
                    with self.subTest(api=api.NAME, framing=asked.framing, name=name, texts=texts):
                        together = list(api.stream(asked, iter(events), STAMP))
                        alone = list(api.stream(asked, singly(iter(events)), STAMP))
                        self.assertEqual(timeless(together), timeless(alone))

    def test_a_piece_does_not_wait_for_the_next(self):
        for api in gateway.FORMATS:
            with self.subTest(api.NAME):
                told = []

                def events(told=told):
                    for event in (Text("a"), Text("b"), Closed()):
                        told.append(event)
                        yield event

                for piece in api.stream(request(api), events(), STAMP):
                    if b'"b"' in piece:
                        break
                self.assertEqual(len(told), 2)


if __name__ == "__main__":
    unittest.main()
