"""Event lists that every format must be able to say, with what a reader must get back: (name, events, text,
reasoning, calls).

`calls` are (id, name, arguments as a JSON value). A list ends in Closed; formats add errors and early
refusals of their own.
"""

import json

from metrics.events import Burst, Chunk, Closed, Opened, Reasoning, Text, Tick, ToolArguments, ToolStart
from metrics.records import Usage

USAGE = Usage(uncached_in=7, cache_read=3, cache_write=0, out=5, reasoning=2)
END = Closed("stop", USAGE, extra={"bench": {"panel": "p20261129-142645-0a1b2c3d"}})
CALLED = Closed("tool_calls", USAGE, extra={"bench": {"call": "r20261129-142645-0a1b2c3d.1"}})

CHUNK = b'{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}'


def call(index, call_id, name, *pieces):
    return [ToolStart(index, call_id, name), *(ToolArguments(index, piece) for piece in pieces)]


def burst(like, *texts):
    """Pieces like `like` that came together, in words that JSON need not spell as we do."""
    return Burst(like, texts, [json.dumps(text).replace("/", "\\/")[1:-1].encode() for text in texts])


STREAMS = [
    ("text", [Opened("m"), Text("one "), Text("two"), END], "one two", "", []),
    ("nothing at all", [END], "", "", []),
    ("ticks before and between", [Tick(), Tick(), Text("a"), Tick(), Text("b"), Tick(), END], "ab", "", []),
    ("ticks only", [Tick(), Tick(), END], "", "", []),
    ("reasoning, then text", [Reasoning("hm "), Reasoning("so"), Text("x"), END], "x", "hm so", []),
    ("reasoning between text", [Text("a"), Reasoning("hm"), Text("b"), END], "ab", "hm", []),
    ("reasoning alone", [Reasoning("hm"), Closed("length", USAGE)], "", "hm", []),
    (
        "unicode",
        [Text("é"), Text("\u2028"), Text("👩‍🚀"), Text('\r\n\t"\\\x00'), END],
        'é\u2028👩‍🚀\r\n\t"\\\x00',
        "",
        [],
    ),
    (
        "what looks like a frame",
        [Text("data: [DONE]\n\nevent: x\n\n"), END],
        "data: [DONE]\n\nevent: x\n\n",
        "",
        [],
    ),
    ("a megabyte", [Text("x" * 1_000_000), END], "x" * 1_000_000, "", []),
    ("cut by length", [Text("half"), Closed("length", USAGE)], "half", "", []),
    ("filtered", [Text("no"), Closed("content_filter", USAGE)], "no", "", []),
    ("usage unknown", [Text("a"), Closed("stop", Usage())], "a", "", []),
    ("a chunk beside its meaning", [Chunk(CHUNK, (Text("a"),)), END], "a", "", []),
    ("pieces that came together", [Text("a"), burst(Text("a"), "b", "é\u2028"), END], "abé\u2028", "", []),
    ("together from the first", [burst(Text(""), '"x"', "\n\\"), Text("z"), END], '"x"\n\\z', "", []),
    (
        "thoughts that came together, then text",
        [Reasoning("h"), burst(Reasoning("h"), "m", " so"), burst(Text(""), "x", "y"), END],
        "xy",
        "hm so",
        [],
    ),
    (
        "arguments that came together",
        [
            *call(0, "c1", "look"),
            burst(ToolArguments(0, ""), '{"a"', ":"),
            burst(ToolArguments(0, ""), '"é\\n', '"}'),
            CALLED,
        ],
        "",
        "",
        [("c1", "look", {"a": "é\n"})],
    ),
    (
        "arguments that came together, and another call's",
        [
            ToolStart(0, "c1", "look"),
            ToolStart(1, "c2", "go"),
            burst(ToolArguments(1, ""), '{"b":', "2}"),
            burst(ToolArguments(0, ""), '{"a":', "1"),
            burst(Text(""), "t", "u"),
            burst(ToolArguments(0, ""), "2", "}"),
            CALLED,
        ],
        "tu",
        "",
        [("c1", "look", {"a": 12}), ("c2", "go", {"b": 2})],
    ),
    ("one call", [*call(0, "c1", "look", '{"a"', ":1}"), CALLED], "", "", [("c1", "look", {"a": 1})]),
    (
        "text, then a call",
        [Text("I look."), *call(0, "c1", "look", "{}"), CALLED],
        "I look.",
        "",
        [("c1", "look", {})],
    ),
    ("no arguments", [*call(0, "c1", "look"), CALLED], "", "", [("c1", "look", {})]),
    ("empty arguments", [*call(0, "c1", "look", ""), CALLED], "", "", [("c1", "look", {})]),
    (
        "two calls in order",
        [*call(0, "c1", "look", '{"a":1}'), *call(1, "c2", "go", '{"b":', '"é"}'), CALLED],
        "",
        "",
        [("c1", "look", {"a": 1}), ("c2", "go", {"b": "é"})],
    ),
    (
        "two calls interleaved",
        [
            ToolStart(0, "c1", "look"),
            ToolStart(1, "c2", "go"),
            ToolArguments(1, '{"b":'),
            ToolArguments(0, '{"a":'),
            Tick(),
            ToolArguments(1, "2}"),
            ToolArguments(0, "1}"),
            CALLED,
        ],
        "",
        "",
        [("c1", "look", {"a": 1}), ("c2", "go", {"b": 2})],
    ),
    (
        "text after a call",
        [*call(0, "c1", "look", "{}"), Text("done"), CALLED],
        "done",
        "",
        [("c1", "look", {})],
    ),
]
