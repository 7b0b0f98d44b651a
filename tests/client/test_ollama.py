"""Ollama's own API as a client: requests as they are written, answers however they come."""

import json
import unittest
from dataclasses import replace

from metrics.client import ollama, quirks, room
from metrics.client.outgoing import Conversation
from metrics.events import Closed, Opened, Reasoning, Text, Tick
from metrics.events import ToolArguments as Args
from metrics.events import ToolStart as Start
from metrics.records import Problem, Usage
from tests.client.arrivals import TARGET, Arrived, ids, splits
from tests.client.test_listing import Wire
from tests.formats import mutants

HERE = replace(TARGET, api="ollama", base="http://h:11434", served="q:4b")
ASKED = [{"role": "user", "content": "hi"}]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
LOOK = {"type": "function", "function": {"name": "look", "parameters": SCHEMA}}
GO = {"type": "function", "function": {"name": "go"}}
GOES = {"type": "function", "function": {"name": "go", "parameters": {"type": "object", "properties": {}}}}


def said(arrived):
    events = []
    try:
        for event in ollama.read(arrived, HERE, now=lambda: 0.0, new_id=ids()):
            if not isinstance(event, Tick):
                events.append(event)
    except Problem as problem:
        return events, problem
    return events, None


def line(content="", done=False, model="q", **more):
    message = {"role": "assistant", "content": content, **{n: more.pop(n) for n in MESSAGE if n in more}}
    value = {"model": model, "created_at": "2026-11-29T00:00:00Z", "message": message, "done": done, **more}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


MESSAGE = ("thinking", "tool_calls")
COUNTS = {"total_duration": 9, "prompt_eval_count": 11, "eval_count": 7}
SPENT = Usage(uncached_in=11, out=7, raw=COUNTS)
HI = line("hi")
END = line(done=True, done_reason="stop", **COUNTS)
OPEN = Opened("q")
GOOD = [OPEN, Text("hi"), Closed(usage=SPENT)]


def call(name, arguments, call_id=None):
    return {**({"id": call_id} if call_id else {}), "function": {"name": name, "arguments": arguments}}


CASES = [
    ("good", HI + END, GOOD, None),
    ("crlf", (HI + END).replace(b"\n", b"\r\n"), GOOD, None),
    ("as events", b"data: " + HI + b"\ndata: " + END + b"\n", GOOD, None),
    ("no last line end", HI + END.rstrip(), GOOD, None),
    ("one body", line("hi", done=True, done_reason="stop", **COUNTS), GOOD, None),
    ("something after the end", HI + END + HI, GOOD, None),
    ("utf-8", line("棚は🧰") + END, [OPEN, Text("棚は🧰"), Closed(usage=SPENT)], None),
    ("thoughts", line(thinking="hm") + HI + END, [OPEN, Reasoning("hm"), *GOOD[1:]], None),
    ("no counts", HI + line(done=True), [OPEN, Text("hi"), Closed()], None),
    (
        "cut by the limit",
        HI + line(done=True, done_reason="length"),
        [OPEN, Text("hi"), Closed("length")],
        None,
    ),
    (
        "calls without ids, all at once and one by one",
        line(tool_calls=[call("look", {"a": "é"}), call("look", {"a": "é"})])
        + line(tool_calls=[call("go", {})])
        + END,
        [
            OPEN,
            *(Start(0, "id1", "look"), Args(0, '{"a":"é"}'), Start(1, "id2", "look"), Args(1, '{"a":"é"}')),
            *(Start(2, "id3", "go"), Args(2, "{}"), Closed("tool_calls", SPENT)),
        ],
        None,
    ),
    (
        "ids: kept, the same call once more, another under the same id",
        line(tool_calls=[call("look", {}, "c1")])
        + line(tool_calls=[call("look", {}, "c1"), call("go", '{"b":1}', "c1")])
        + END,
        [
            OPEN,
            *(Start(0, "c1", "look"), Args(0, "{}"), Start(1, "id1", "go"), Args(1, '{"b":1}')),
            Closed("tool_calls", SPENT),
        ],
        None,
    ),
    ("loaded, and no more", line(done=True, done_reason="load"), [OPEN], (502, "empty")),
    ("unloaded", HI + line(done=True, done_reason="unload"), [OPEN, Text("hi"), Closed()], None),
    ("without a word", END, [OPEN, Closed(usage=SPENT)], None),
    ("an error at once", b'{"error":"model \'q\' not found"}\n', [], (404, "not_found")),
    (
        "an error midway",
        HI + b'{"error":"an error was encountered while running the model"}\n',
        [OPEN, Text("hi")],
        (502, "upstream"),
    ),
    ("no end: cut", HI, [OPEN, Text("hi")], (502, "cut")),
    ("torn: cut", HI + b'{"model":"q","mess', [OPEN, Text("hi")], (502, "cut")),
    ("nothing", b"", [], (502, "empty")),
    ("a page", b"<html></html>", [], (502, "garbage")),
    ("another API", b'{"choices":[{"message":{"content":"x"}}]}\n', [], (502, "garbage")),
    (
        "odd shapes",
        b'{"done":false,"model":5,"message":{"content":7,"tool_calls":[3,{"function":{"name":4}}]}}\n' + END,
        [Opened(), Closed(usage=SPENT)],
        None,
    ),
]


class ReadTest(unittest.TestCase):
    def test_cases_cut_anywhere(self):
        for name, body, expected, failure in CASES:
            for pieces in splits(body) if body else [[]]:
                with self.subTest(name, pieces=len(pieces)):
                    events, problem = said(Arrived(pieces))
                    self.assertEqual(events, expected)
                    self.assertEqual((problem.status, problem.kind) if problem else None, failure)

    def test_refusals(self):
        for status, message, expected in [
            (404, "model 'q' not found", (404, "not_found")),
            (401, "unauthorized", (401, "auth")),
            (503, "server busy, please try again.  maximum pending requests exceeded", (503, "overloaded")),
            (400, '"q" does not support tools', (400, "bad_request")),
        ]:
            with self.subTest(message):
                _, problem = said(Arrived([json.dumps({"error": message}).encode()], status))
                self.assertEqual((problem.status, problem.kind), expected)

    def test_careless_and_hostile_answers(self):
        """Whatever it is, it is an answer that can be written, or a Problem."""
        good = json.loads(
            line("a", thinking="h", tool_calls=[call("f", {"a": 1}, "c")], logprobs=[{"token": "a"}])
        )
        for body in mutants.bodies(good, 7, 400):
            events, _ = said(Arrived([body + b"\n" + END]))
            for event in events:
                getattr(event, "text", "").encode()
                if isinstance(event, Args) and event.text.startswith("{"):
                    json.loads(event.text, parse_constant=self.fail)

    def test_log_probabilities(self):
        likely = [{"token": "hi", "logprob": -0.5, "bytes": [104, 105], "top_logprobs": []}]
        events, _ = said(Arrived([line("hi", logprobs=likely) + END]))
        self.assertEqual(events[1], Text("hi", logprobs={"content": likely, "refusal": None}))

    def test_the_connection_is_read_to_its_end(self):
        arrived = Arrived([HI + END, b"\n"])
        self.assertIsNone(said(arrived)[1])
        self.assertEqual([*arrived.pieces()], [])


def sent(options=None, native=None, target=HERE, messages=ASKED, **more):
    conversation = Conversation(messages, "ollama" if native is not None else "chat", native)
    outgoing = ollama.compose(target, conversation, options or {}, **more)
    return json.loads(b"".join(outgoing.body)), outgoing


class ComposeTest(unittest.TestCase):
    # options, what is in the body, a word in what was changed ("": nothing)
    CASES = [
        (
            {"temperature": 1, "top_p": 0.5, "seed": 3},
            {"options": {"temperature": 1, "top_p": 0.5, "seed": 3}},
            "",
        ),
        ({"temperature": None}, {}, ""),
        ({"stop": "x", "max_tokens": 9}, {"options": {"stop": ["x"], "num_predict": 9}}, ""),
        ({"max_completion_tokens": 8, "max_tokens": 9}, {"options": {"num_predict": 8}}, ""),
        ({"response_format": {"type": "json_object"}}, {"format": "json"}, ""),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
            {"format": SCHEMA},
            "",
        ),
        ({"response_format": {"type": "text"}}, {}, ""),
        ({"reasoning_effort": "high"}, {"think": True}, ""),
        ({"reasoning_effort": "none"}, {"think": False}, ""),
        ({"logprobs": True, "top_logprobs": 2}, {"logprobs": True, "top_logprobs": 2}, ""),
        ({"top_logprobs": 2}, {}, ""),
        ({"tools": [LOOK, GO]}, {"tools": [LOOK, GOES]}, ""),
        ({"tools": [{**LOOK, "_namespace": {}}], "tool_choice": "auto"}, {"tools": [LOOK]}, ""),
        ({"tools": [LOOK], "tool_choice": "none"}, {}, ""),
        ({"tools": [], "tool_choice": "required"}, {}, ""),
        ({"tools": [LOOK], "tool_choice": "required"}, {"tools": [LOOK]}, "tool_choice"),
        (
            {"tools": [LOOK, GO], "tool_choice": {"type": "function", "function": {"name": "go"}}},
            {"tools": [GOES]},
            "tool_choice",
        ),
        (
            {
                "tools": [LOOK, GO],
                "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [GO]}},
            },
            {"tools": [GOES]},
            "",
        ),
        ({"verbosity": "low", "n": 1, "parallel_tool_calls": True}, {}, "verbosity"),
    ]

    def setUp(self):
        self.addCleanup(quirks.forget)

    def test_options(self):
        for options, expected, word in self.CASES:
            with self.subTest(options):
                body, outgoing = sent(options)
                self.assertEqual(body, {"model": "q:4b", "messages": ASKED, "stream": True, **expected})
                told = outgoing.changed
                self.assertTrue(any(word in one for one in told) if word else not told, told)

    def test_how_much_one_family_thinks(self):
        family = replace(HERE, served="gpt-oss:20b")
        for effort, expected in [
            ("none", "low"),
            ("minimal", "low"),
            ("medium", "medium"),
            ("xhigh", "high"),
        ]:
            with self.subTest(effort):
                self.assertEqual(sent({"reasoning_effort": effort}, target=family)[0]["think"], expected)

    def test_a_custom_tool_is_a_function_with_one_text(self):
        body, outgoing = sent({"tools": [{"type": "custom", "custom": {"name": "patch"}}]})
        self.assertEqual([*body["tools"][0]["function"]["parameters"]["properties"]], ["input"])
        self.assertIn("patch", outgoing.changed[0])

    def test_room_to_think(self):
        thinker = replace(HERE, reasoning=True)
        self.assertEqual(sent({"max_tokens": 9}, target=thinker)[0]["options"]["num_predict"], 9 + room.LEAST)
        self.assertEqual(sent({"max_tokens": 9}, {}, thinker)[0]["options"]["num_predict"], 9)

    def test_what_its_caller_says_in_this_apis_words(self):
        native = {
            "options": {"num_ctx": 8192, "num_predict": 5, "mirostat": 1},
            "keep_alive": 0,
            "think": "low",
            "stream": False,
            "model": "not this",
        }
        options = {"max_tokens": 5, "reasoning_effort": "low", "temperature": 0}
        body, _ = sent(options, native)
        self.assertEqual(
            body,
            {
                "model": "q:4b",
                "messages": ASKED,
                "stream": True,
                "options": {"num_ctx": 8192, "num_predict": 5, "mirostat": 1, "temperature": 0},
                "keep_alive": 0,
                "think": "low",
            },
        )
        foreign = Conversation(ASKED, "gemini", native)
        self.assertNotIn("keep_alive", json.loads(b"".join(ollama.compose(HERE, foreign, {}).body)))

    def test_addresses_and_keys(self):
        for base in (
            "http://h",
            "http://h/",
            "http://h/v1",
            "http://h/v1/",
            "http://h/api",
            "http://h/api/chat",
        ):
            with self.subTest(base):
                target = replace(HERE, base=base, key="k")
                _, outgoing = sent(target=target, stream=False)
                self.assertEqual(outgoing.url, "http://h/api/chat")
                self.assertEqual(dict(outgoing.headers)["Authorization"], "Bearer k")
        self.assertEqual(sent(target=replace(HERE, base="https://h/o/v1"))[1].url, "https://h/o/api/chat")
        self.assertFalse(sent(stream=False)[0]["stream"])

    def test_what_is_refused_is_left_out_from_then_on(self):
        for message in (
            '"q:4b" does not support thinking',
            'think value "low" is not supported for this model',
        ):
            with self.subTest(message):
                quirks.forget()
                self.assertTrue(ollama.learn(HERE, Problem(400, message, kind="bad_request")))
                body, outgoing = sent({"reasoning_effort": "low"})
                self.assertNotIn("think", body)
                self.assertIn("think left out", outgoing.changed[0])

    def test_seats_share_the_conversation(self):
        conversation = Conversation(ASKED)
        one, other = (
            ollama.compose(target, conversation, {}) for target in (HERE, replace(HERE, served="other"))
        )
        self.assertIs(one.body[1], other.body[1])


class ListModelsTest(unittest.TestCase):
    def test_tags(self):
        body = {"models": [{"name": "q:4b", "model": "q:4b", "capabilities": ["tools", "vision"]}]}
        for base in ("http://h", "http://h/v1", "http://h/api"):
            with self.subTest(base):
                wire = Wire(json.dumps(body).encode())
                [found] = ollama.list_models(wire, base, "k")
                self.assertEqual((found["served"], found["tools"], found["vision"]), ("q:4b", True, True))
                self.assertEqual(wire.asked[:2], ("GET", "http://h/api/tags"))
                self.assertEqual(wire.asked[2]["Authorization"], "Bearer k")

    def test_problems(self):
        for status, body, expected in [
            (401, b'{"error":"unauthorized"}', (401, "auth")),
            (200, b"Ollama is running", (502, "garbage")),
        ]:
            with self.subTest(body), self.assertRaises(Problem) as caught:
                ollama.list_models(Wire(body, status), "http://h", None)
            self.assertEqual((caught.exception.status, caught.exception.kind), expected)
