import json
import random
import unittest
from unittest import mock

from metrics.bench import names
from metrics.events import Closed, Failed, Text, Tick, gather
from metrics.formats import openai_completions
from metrics.formats.openai_completions import reply, stream
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Reply, Request, Usage
from tests.formats.streams import END, STREAMS, USAGE

STAMP = Stamp("ab12", 1_796_000_000)
REQUEST = Request("bench/core:all", "core", "all", [{"role": "user", "content": "hello"}])
WITH_USAGE = Request("core", "core", "all", [], include_usage=True)


class Body:
    """A call that holds only a body."""

    headers: dict[str, str] = {}
    key = None

    def __init__(self, **fields):
        self.fields = {"model": "bench/core", "prompt": "hello", **fields}

    def json(self):
        return self.fields


def parse(**fields):
    with mock.patch.object(names, "resolve", lambda model, reply=None: ("core", reply or "all")):
        return openai_completions.parse(Body(**fields))


class ParseTest(unittest.TestCase):
    def test_the_conversation_has_the_clients_own_id(self):
        with mock.patch.object(Body, "headers", {"x-session-id": "a"}):
            self.assertEqual(parse().session, "a")

    def test_prompts(self):
        for sent, asked in (("x", "x"), (["x"], "x")):
            with self.subTest(sent):
                self.assertEqual(parse(prompt=sent).messages, [{"role": "user", "content": asked}])

    def test_what_is_forwarded(self):
        fields = {"presence_penalty": 1, "frequency_penalty": 0.5, "logit_bias": {"5": 1}, "user": "u"}
        request = parse(
            temperature=0.5, top_p=1, stop=["x"], seed=7, max_tokens=9, logprobs=3, vendor=1, **fields
        )
        self.assertEqual(
            request.options, {"temperature": 0.5, "top_p": 1, "stop": ["x"], "seed": 7, "max_tokens": 9}
        )
        self.assertEqual(request.passed, fields)
        self.assertEqual(request.ignored, ("presence_penalty", "frequency_penalty", "logit_bias", "logprobs"))

    def test_stream_and_wishes(self):
        request = parse(
            stream=True, stream_options={"include_usage": True}, bench={"reply": "route"}, **{"with": ["a"]}
        )
        self.assertEqual(
            (request.stream, request.include_usage, request.reply, request.invited, request.format),
            (True, True, "route", ("a",), "openai-completions"),
        )

    def test_nulls_and_what_means_the_same_count_as_absent(self):
        request = parse(**{name: None for name in OPTIONAL if name != "prompt"})
        self.assertEqual((dict(request.options), request.passed, request.stream), ({}, {}, False))
        parse(suffix="", echo=False, n=1, best_of=1, logprobs=0)

    REFUSED = [
        ("several prompts", {"prompt": ["a", "b"]}, '"prompt" holds 2 prompts'),
        *(
            (f"nothing asked: {sent}", {"prompt": sent}, '"prompt" must be a text')
            for sent in (None, "", [None], [""])
        ),
        ("no prompt in a list", {"prompt": []}, "0 prompts"),
        ("tokens", {"prompt": [1, 2, 3]}, "token ids"),
        ("one token", {"prompt": [5]}, "token ids"),
        ("lists of tokens", {"prompt": [[1, 2], [3]]}, "token ids"),
        ("a list of tokens in a list", {"prompt": [[1, 2]]}, "token ids"),
        ("an object", {"prompt": {"text": "x"}}, '"prompt" must be a string'),
        ("an object in a list", {"prompt": [{}]}, '"prompt" must be a string'),
        ("a suffix", {"suffix": "}"}, "do not fill in code"),
        ("a suffix of another type", {"suffix": 5}, '"suffix"'),
        ("echo", {"echo": True}, '"echo"'),
        ("echo in words", {"echo": "yes"}, '"echo" must be true or false'),
        ("n", {"n": 2}, '"n" is 2'),
        ("n in route mode", {"n": 2, "bench": {"reply": "route"}}, '"n" is 2'),
        ("no n", {"n": 0}, '"n" must be a whole number'),
        ("best_of", {"best_of": 3}, '"best_of" is 3'),
        ("logprobs in words", {"logprobs": True}, '"logprobs"'),
        ("a bias in words", {"logit_bias": "x"}, '"logit_bias"'),
        ("a penalty beyond", {"presence_penalty": 3}, '"presence_penalty"'),
        ("hot", {"temperature": 9}, '"temperature"'),
        ("no tokens at all", {"max_tokens": 0}, '"max_tokens"'),
        ("stream in words", {"stream": 1}, '"stream" must be true or false'),
    ]

    def test_no_prompt(self):
        body = Body()
        del body.fields["prompt"]
        with (
            self.assertRaises(Problem) as caught,
            mock.patch.object(names, "resolve", lambda *_: ("core", "all")),
        ):
            openai_completions.parse(body)
        self.assertEqual((caught.exception.status, caught.exception.param), (400, "prompt"))

    def test_refused(self):
        for name, fields, said in self.REFUSED:
            with self.subTest(name):
                with self.assertRaises(Problem) as caught:
                    parse(**fields)
                self.assertEqual(caught.exception.status, 400)
                self.assertIn(said, caught.exception.message)
                self.assertIn(caught.exception.param, fields)


OPTIONAL = (
    *("prompt", "suffix", "max_tokens", "temperature", "top_p", "n", "stream", "stream_options", "logprobs"),
    *("echo", "stop", "presence_penalty", "frequency_penalty", "best_of", "logit_bias", "seed", "user"),
    *("with", "bench"),
)


class FuzzTest(unittest.TestCase):
    VALUES = (
        None,
        True,
        0,
        -1,
        1.5,
        1e999,
        2**70,
        "",
        "x",
        "\ud800",
        [],
        [None],
        [[]],
        {},
        {"a": []},
        ["x", 5],
    )

    def check(self, **fields):
        try:
            parse(**fields)
        except Problem as problem:
            self.assertEqual(problem.status, 400, fields)

    def test_every_field_of_every_kind(self):
        for mode in ("all", "route"):
            for name in OPTIONAL:
                for value in self.VALUES:
                    with self.subTest(name=name, value=value):
                        self.check(**{"bench": {"reply": mode}, name: value})

    def test_anything(self):
        draw = random.Random(20261129)
        for _ in range(2000):
            self.check(
                **{name: draw.choice(self.VALUES) for name in draw.sample(OPTIONAL, draw.randrange(6))}
            )


class Reader:
    """Reads a stream piece by piece, strictly."""

    def __init__(self):
        self.buffer, self.chunks, self.done, self.error = b"", [], False, None

    def feed(self, piece):
        self.buffer += piece
        while b"\n\n" in self.buffer:
            frame, self.buffer = self.buffer.split(b"\n\n", 1)
            assert not self.done and not self.error, "something behind the end"
            if frame == b"data: [DONE]":
                self.done = True
            elif not frame.startswith(b":"):
                assert frame.startswith(b"data: ") and b"\n" not in frame
                told = json.loads(frame[6:])
                self.error = told.get("error")
                self.chunks += [] if self.error else [told]

    @property
    def text(self):
        return "".join(choice["text"] for chunk in self.chunks for choice in chunk["choices"])


def read(events, request=REQUEST):
    reader = Reader()
    for piece in stream(request, iter(events), STAMP):
        reader.feed(piece)
    assert reader.buffer == b""
    return reader


class StreamTest(unittest.TestCase):
    def test_what_is_said_is_read_back(self):
        for name, events, text, _, _ in STREAMS:
            with self.subTest(name):
                told = read(events)
                finish = {"tool_calls": "stop"}.get(events[-1].finish, events[-1].finish)
                self.assertEqual((told.text, told.done), (text, True))
                self.assertEqual(
                    [chunk["choices"][0]["finish_reason"] for chunk in told.chunks],
                    [None] * (len(told.chunks) - 1) + [finish],
                )
                self.assertEqual(told.chunks[-1].get("bench"), events[-1].extra.get("bench"))
                self.assertEqual(
                    {(c["id"], c["created"], c["model"], c["object"]) for c in told.chunks},
                    {("cmpl-ab12", 1_796_000_000, "bench/core:all", "text_completion")},
                )
                self.assertTrue(all("usage" not in chunk for chunk in told.chunks))

    def test_cut_at_every_byte(self):
        for name, events, text, _, _ in STREAMS:
            written = b"".join(stream(REQUEST, iter(events), STAMP))
            if len(written) < 100_000:
                with self.subTest(name):
                    reader = Reader()
                    for at in range(len(written)):
                        reader.feed(written[at : at + 1])
                    self.assertEqual((reader.text, reader.done), (text, True))

    def test_a_reply_says_the_same(self):
        for name, events, text, _, _ in STREAMS:
            with self.subTest(name):
                events = [inner for event in events for inner in getattr(event, "events", (event,))]
                told, last = reply(REQUEST, gather(iter(events)), STAMP), read(events).chunks[-1]
                self.assertEqual(told["choices"][0]["text"], text)
                self.assertEqual(told["choices"][0]["finish_reason"], last["choices"][0]["finish_reason"])
                self.assertEqual((told["id"], told.get("bench")), (last["id"], last.get("bench")))

    def test_usage_when_asked(self):
        told = read([Text("a"), END], WITH_USAGE).chunks
        self.assertEqual([chunk["usage"] for chunk in told[:-1]], [None] * (len(told) - 1))
        self.assertEqual((told[-1]["choices"], told[-1]["usage"]["total_tokens"]), ([], 15))
        self.assertEqual(read([Closed("stop", Usage())], WITH_USAGE).chunks[-1]["usage"]["total_tokens"], 0)

    def test_ticks_are_comments_and_the_head_goes_out_at_once(self):
        pieces = stream(REQUEST, iter([Tick(), Text("a", 1), Text("")]), STAMP)
        self.assertEqual(list(pieces), [b"", b": keep-alive\n\n"])

    def test_a_late_error_ends_the_stream_without_done(self):
        told = read([Text("a"), Failed(Problem(502, "gone"))])
        self.assertEqual((told.text, told.done, told.error["message"]), ("a", False, "gone"))


class ReplyTest(unittest.TestCase):
    def test_all_that_the_api_requires_is_there(self):
        told = reply(
            REQUEST, Reply("hi", reasoning="hm", finish="length", usage=USAGE, extra={"bench": {}}), STAMP
        )
        self.assertEqual(
            told,
            {
                "id": "cmpl-ab12",
                "object": "text_completion",
                "created": 1_796_000_000,
                "model": "bench/core:all",
                "choices": [{"text": "hi", "index": 0, "logprobs": None, "finish_reason": "length"}],
                "usage": {
                    "prompt_tokens": 10,
                    "completion_tokens": 5,
                    "total_tokens": 15,
                    "prompt_tokens_details": {"cached_tokens": 3},
                    "completion_tokens_details": {"reasoning_tokens": 2},
                },
                "bench": {},
            },
        )


class RefusalTest(unittest.TestCase):
    def test_it_is_openais_error(self):
        response = openai_completions.error(Problem(429, "x", retry_after=1.2), None)
        self.assertEqual((response.status, dict(response.headers)["Retry-After"]), (429, "2"))
        self.assertEqual(list(json.loads(response.body)["error"]), ["message", "type", "param", "code"])
