import json
import unittest

from metrics.events import Burst, Chunk, Closed, Failed, Text, Tick, singly
from metrics.formats import openai_chat
from metrics.formats import openai_chat_relay as relay
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Reply, Request, Usage

STAMP = Stamp("ab12", 1_796_000_000)
HEAD = {
    "id": "chatcmpl-ab12",
    "object": "chat.completion.chunk",
    "created": 1_796_000_000,
    "model": "c:route",
}
BENCH = {"bench": {"call": "r20261129-142645-0a1b2c3d.1"}}
LOGPROB = {"token": "a", "logprob": -0.2, "bytes": None, "top_logprobs": []}


def request(**more):
    return Request("c:route", "c", "route", [], **more)


def choice(delta, finish=None, index=0, **more):
    return {"index": index, "delta": delta, "finish_reason": finish, **more}


def theirs(*choices, order=("id", "object", "created", "model"), spaced=False, **more):
    """A provider's chunk as bytes, its head in any order, also behind the choices."""
    head = {"id": "cc-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    value = {name: head[name] for name in order if name in head}
    value = (
        {**more, **value, "choices": list(choices)}
        if "first" in order
        else {**value, **more, "choices": list(choices)}
    )
    value |= {name: head[name] for name in head if name not in value and "all" in order}
    separators = None if spaced else (",", ":")
    return json.dumps(value, separators=separators, ensure_ascii=False).encode()


END = Closed("stop", Usage(uncached_in=1, out=2), extra=BENCH)


def streamed(*chunks, end=END, asked=None):
    """(the objects of a stream, its raw frames)"""
    events = [chunk if not isinstance(chunk, bytes) else Chunk(chunk, ()) for chunk in chunks]
    written = b"".join(openai_chat.stream(asked or request(), iter([*events, end]), STAMP)).decode()
    frames = [frame for frame in written.split("\n\n") if frame]
    return [json.loads(frame[6:]) for frame in frames if frame.startswith("data: {")], frames


STOP = choice({}, "stop")


class StreamTest(unittest.TestCase):
    def test_the_head_is_ours_and_the_rest_theirs(self):
        for name, made in [
            ("as usual", {}),
            ("with spaces", {"spaced": True}),
            ("in another order", {"order": ("model", "created", "id", "object")}),
            ("more among it", {"provider": "Pæ", "system_fingerprint": None}),
            ("more before it", {"order": ("first", "id", "object", "created", "model"), "provider": "P"}),
            ("some behind the choices", {"order": ("id", "object", "all")}),
            ("all behind the choices", {"order": ("all",)}),
            ("without it", {"order": ()}),
        ]:
            more = {key: value for key, value in made.items() if key not in ("order", "spaced")}
            with self.subTest(name):
                said = [choice({"content": text}, odd={"kept": [1]}) for text in ('"model":"m"', "棚\u2028")]
                told, frames = streamed(*(theirs(one, **made) for one in said), theirs(STOP, **made))
                self.assertEqual(told[1:3], [{**HEAD, **more, "choices": [one]} for one in said])
                self.assertEqual(told[3:], [{**HEAD, **more, "choices": [STOP], **BENCH}])
                self.assertEqual(frames[-1], "data: [DONE]")
                self.assertTrue(all(len(frame.splitlines()) == 1 for frame in frames))

    def test_the_role_is_told_once(self):
        for delta in (
            {"role": "assistant", "content": "a"},
            {"content": "a", "role": "assistant"},
            {"content": "a", "role": "assistant", "x": 1},
            {"role": "assistant"},
        ):
            for spaced in (False, True):
                with self.subTest(delta, spaced=spaced):
                    told, _ = streamed(theirs(choice(delta), spaced=spaced), theirs(STOP))
                    self.assertEqual(told[0]["choices"][0]["delta"]["role"], "assistant")
                    del delta["role"]
                    self.assertEqual(told[1]["choices"][0]["delta"], delta)
                    delta["role"] = "assistant"

    def test_every_choice_keeps_its_number_and_has_a_role(self):
        asked = request(passed={"n": 2})
        told, _ = streamed(
            theirs(choice({"role": "assistant", "content": "Teal."})),
            theirs(choice({"role": "assistant", "content": "Plum."}, index=1)),
            theirs(STOP),
            theirs(choice({}, "length", index=1)),
            asked=asked,
        )
        said = [
            (one["index"], one["delta"], one["finish_reason"]) for chunk in told for one in chunk["choices"]
        ]
        role = {"role": "assistant", "content": "", "refusal": None}
        self.assertEqual(
            said,
            [
                (0, role, None),
                (0, {"content": "Teal."}, None),
                (1, role, None),
                (1, {"content": "Plum."}, None),
                (0, {}, "stop"),
                (1, {}, "length"),
            ],
        )
        self.assertEqual(["bench" in chunk for chunk in told], [False] * 5 + [True])

    def test_the_last_chunk_has_the_bench_whatever_it_holds(self):
        for name, chunks, count in [
            ("a finish alone", [theirs(choice({"content": "a"})), theirs(STOP)], 2),
            ("text and finish", [theirs(choice({"content": "a"}, "stop"))], 1),
            ("no finish", [theirs(choice({"content": "a"}))], 2),
            ("no finish, then ticks", [theirs(choice({"content": "a"})), Tick()], 2),
            ("two finishes", [theirs(choice({"content": "a"}, "stop")), theirs(STOP)], 2),
            ("more after the finish", [theirs(choice({}, "stop")), theirs(choice({"content": "a"}))], 3),
        ]:
            with self.subTest(name):
                told, _ = streamed(*chunks)
                self.assertEqual(len(told), count + 1)
                self.assertEqual([chunk.get("bench") for chunk in told], [None] * count + [BENCH["bench"]])
                self.assertEqual(told[-1]["choices"][0]["finish_reason"], "stop")
                said = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in told)
                self.assertEqual(said, "a")

    TOGETHER = [
        ("as usual", {}, {}),
        ("with spaces", {"spaced": True}, {}),
        ("the head behind the choices", {"order": ("all",)}, {}),
        ("without a head", {"order": ()}, {}),
        ("more in it, and behind the text", {"provider": "P\u2028"}, {"odd": [1], "logprobs": None}),
        ("a role in each", {}, {"role": True}),
        ("a text that looks like ours", {"note": r"\u0001"}, {}),
        ("a text that looks like ours, as it is read", {"note": "\u0001"}, {}),
    ]

    def test_chunks_that_came_together_are_as_they_would_be_one_by_one(self):
        for name, made, more in self.TOGETHER:
            for texts in (["a"], ["a", "b\u2028é", "\\n", '\\"model\\":\\"m\\"']):
                fields = dict(more)
                delta = {"role": "assistant"} if fields.pop("role", None) else {}
                whole = theirs(choice({**delta, "content": "%"}, **fields), **made)
                before, behind = whole.split(b"%")
                burst = Burst(Text(""), texts, [text.encode() for text in texts], before, behind)
                other = Burst(Text(""), ["b"], [b"b"], before, behind[:-1] + b',"p":"ab"}')
                for told in (
                    [burst],
                    [burst, burst],
                    [theirs(STOP), burst],
                    [theirs(STOP, **made), burst],
                    [burst, other, burst, other, theirs(STOP), other],
                ):
                    for asked in (request(), request(include_usage=True)):
                        with self.subTest(name, texts=texts, told=len(told), usage=asked.include_usage):
                            events = [Chunk(one, ()) if isinstance(one, bytes) else one for one in told]
                            alone = [one for one in singly(events) if isinstance(one, Chunk)]
                            self.assertEqual(streamed(*told, asked=asked), streamed(*alone, asked=asked))

    def test_usage_when_asked(self):
        asked = request(include_usage=True)
        told, _ = streamed(theirs(choice({"content": "a"})), theirs(STOP, usage=None), asked=asked)
        self.assertEqual([chunk["usage"] for chunk in told[:-1]], [None] * 3)
        self.assertEqual((told[-1]["choices"], told[-1]["usage"]["total_tokens"]), ([], 3))

    def test_a_late_error_comes_instead_of_the_finish(self):
        told, frames = streamed(
            theirs(choice({"content": "a"})), theirs(STOP), end=Failed(Problem(502, "gone"))
        )
        self.assertEqual([list(chunk)[0] for chunk in told], ["id", "id", "error"])
        self.assertNotIn("data: [DONE]", frames)

    def test_what_is_no_json_goes_out_as_it_came(self):
        for broken in (b'{"choices":[}', b'{"choices"', b"[]", b'{"id":"x",,"choices":[]}'):
            with self.subTest(broken):
                self.assertEqual(relay.Chunks(b"{", False).take(broken), b"data: " + broken + b"\n\n")

    def test_events_without_a_chunk_keep_choice_and_logprobs(self):
        told, _ = streamed(Text("a", 0, {"content": [LOGPROB]}), Text("b", 1))
        said = [
            (one["index"], one["delta"].get("content"), one["logprobs"]) for c in told for one in c["choices"]
        ]
        self.assertEqual(said[1:3], [(0, "a", {"content": [LOGPROB]}), (1, "b", None)])


CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a"'}}
THOUGHT = {"index": 0, "type": "reasoning.text", "text": "h", "format": "x"}
CITED = [{"type": "url_citation"}]

PIECES = [
    theirs(choice({"role": "assistant", "content": "o"}, logprobs={"content": [LOGPROB], "refusal": None})),
    theirs(choice({"role": "assistant", "content": "ne", "annotations": CITED})),
    theirs(choice({"reasoning_details": [THOUGHT]})),
    theirs(choice({"reasoning_details": [{**THOUGHT, "text": "m"}]})),
    theirs(choice({"tool_calls": [CALL]}, logprobs={"content": [LOGPROB]})),
    theirs(choice({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}), service_tier="default"),
    theirs(choice({"content": None}, "tool_calls", stop_reason=7), system_fingerprint="fp"),
]
WHOLE = {
    "index": 0,
    "message": {
        "role": "assistant",
        "content": "one",
        "refusal": None,
        "annotations": CITED,
        "reasoning_details": [{**THOUGHT, "text": "hm"}],
        "tool_calls": [{**CALL, "function": {"name": "f", "arguments": '{"a":1}'}}],
    },
    "logprobs": {"content": [LOGPROB, LOGPROB], "refusal": None},
    "finish_reason": "tool_calls",
    "stop_reason": 7,
}


def reply(*chunks, finish="stop"):
    told = openai_chat.reply(
        request(), Reply("a part", finish=finish, usage=Usage(1, 0, 0, 2), extra=BENCH, chunks=chunks), STAMP
    )
    return told, told["choices"][0]


class ReplyTest(unittest.TestCase):
    def test_pieces_are_put_together(self):
        told, first = reply(*PIECES)
        self.assertEqual(first, WHOLE)
        beside = {name: told[name] for name in ("service_tier", "system_fingerprint", "bench")}
        self.assertEqual(beside, {"service_tier": "default", "system_fingerprint": "fp", **BENCH})
        self.assertEqual({name: told[name] for name in HEAD}, {**HEAD, "object": "chat.completion"})

    def test_what_came_whole_is_told_as_its_bytes_would_be(self):
        whole = json.loads(theirs(WHOLE | {"delta": {**WHOLE["message"], "role": None, "odd": None}}))
        for name, chunk in [
            ("one choice", whole),
            (
                "two",
                {**whole, "choices": [choice({"content": "b"}, index=1), *whole["choices"]], "note": None},
            ),
            (
                "one said twice",
                {**whole, "choices": [choice({"content": "b"}), choice({"content": "c"}, "stop")]},
            ),
            ("line breaks of Unicode", json.loads(theirs(choice({"content": "棚\u2028"}, "stop")))),
            ("choices that are none", {"choices": [5, {"index": "x", "delta": 5, "logprobs": 7}]}),
        ]:
            with self.subTest(name):
                written = json.dumps(chunk, ensure_ascii=False, separators=(",", ":")).encode()
                self.assertEqual(streamed(Chunk(chunk, ())), streamed(Chunk(written, ())))
                told = json.dumps(reply(written)[0])
                self.assertEqual(json.dumps(reply(chunk)[0]), told)

    def test_choices_stay_apart(self):
        told, _ = reply(
            theirs(choice({"content": "Plum."}, index=1)), theirs(choice({"content": "Teal."})), theirs(STOP)
        )
        said = [(one["index"], one["message"]["content"], one["finish_reason"]) for one in told["choices"]]
        self.assertEqual(said, [(0, "Teal.", "stop"), (1, "Plum.", "stop")])

    def test_odd_shapes(self):
        for name, chunk in [
            ("no choices", b"{}"),
            ("choices that are none", b'{"choices":[5,{"index":"x","delta":5,"logprobs":7}]}'),
            ("items that are no objects", theirs(choice({"x": [1, {"index": 0}]}))),
            ("NaN", b'{"choices":[{"logprobs":{"content":[{"logprob":NaN}]}}]}'),
        ]:
            with self.subTest(name):
                told, _ = reply(chunk, chunk, theirs(choice({"content": "a"}, "stop")))
                json.dumps(told, allow_nan=False)

    def test_what_is_no_json_is_a_502(self):
        for broken in (b"{", b"[]", b"[" * 100_000):
            with self.assertRaises(Problem) as caught:
                relay.whole([broken])
            self.assertEqual((caught.exception.status, caught.exception.kind), (502, "garbage"))

    def test_a_long_answer_costs_its_length_once(self):
        pieces = [theirs(choice({"content": "x" * 20}, logprobs={"content": [LOGPROB]}))] * 20_000
        self.assertEqual(len(relay.whole(pieces)[0][0]["message"]["content"]), 400_000)
