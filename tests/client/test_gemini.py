"""Gemini's own API as a client: requests as they are written, answers however they come."""

import json
import unittest
from dataclasses import replace

from metrics.client import gemini, quirks, seals
from metrics.client.outgoing import Conversation
from metrics.events import Text, Tick
from metrics.events import ToolArguments as Args
from metrics.records import Problem
from tests.client.arrivals import TARGET, Arrived, ids, splits
from tests.client.gemini_answers import CASES, END, GOOD, HI, LOOK, OPEN, candidate, stream
from tests.client.test_listing import Wire
from tests.formats import mutants

HERE = replace(TARGET, api="gemini", base="http://h/v1beta", served="gemini-3-pro", key="k")
ASKED = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
CALLS = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
CALLED = [
    *ASKED,
    {"role": "assistant", "content": None, "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "c1", "content": "row"},
]
TOOL = {"type": "function", "function": {"name": "look"}}


def said(arrived, target=HERE):
    events = []
    try:
        for event in gemini.read(arrived, target, now=lambda: 0.0, new_id=ids()):
            if not isinstance(event, Tick):
                events.append(event)
    except Problem as problem:
        return events, problem
    return events, None


class ReadTest(unittest.TestCase):
    def setUp(self):
        seals.forget()
        self.addCleanup(seals.forget)

    def test_cases_cut_anywhere(self):
        for name, body, expected, failure in CASES:
            for pieces in splits(body):
                with self.subTest(name, pieces=len(pieces)):
                    events, problem = said(Arrived(pieces))
                    self.assertEqual(events, expected)
                    self.assertEqual((problem.status, problem.kind) if problem else None, failure)

    def test_refusals(self):
        for status, error, expected in [
            (
                429,
                {"status": "RESOURCE_EXHAUSTED", "message": "Please retry in 2.5s."},
                (429, "rate_limited"),
            ),
            (400, {"status": "INVALID_ARGUMENT", "message": "API key not valid."}, (400, "auth")),
            (404, {"status": "NOT_FOUND", "message": "models/x is not found"}, (404, "not_found")),
        ]:
            with self.subTest(status):
                body = json.dumps([{"error": {"code": status, **error}}]).encode()
                events, problem = said(Arrived([body], status))
                self.assertEqual((events, problem.status, problem.kind), ([], *expected))

    def test_a_connection_that_breaks(self):
        broken = Problem(502, "broke", kind="cut")
        self.assertEqual(said(Arrived([stream(HI)], broken=broken)), ([OPEN, Text("hi")], broken))
        self.assertEqual(said(Arrived([stream(HI, END)], broken=broken)), (GOOD, None))

    def test_what_went_wrong_with_a_call_is_told(self):
        value = {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(x)"}]}
        _, problem = said(Arrived([stream(value)]))
        self.assertIn("print(x)", problem.message)
        self.assertTrue(problem.retryable)

    def test_careless_and_hostile_answers(self):
        """Whatever it is, it is an answer that can be written, or a Problem."""
        call = {**LOOK, "thoughtSignature": "c2ln"}
        result = {"chosenCandidates": [{"token": "a"}], "topCandidates": [{"candidates": [{"token": "a"}]}]}
        good = {**candidate({"text": "a"}, call, finish="STOP", logprobsResult=result), **END}
        good |= {"promptFeedback": {"blockReason": None}, "modelVersion": "g"}
        for body in mutants.bodies(good, 7, 400):
            for written in (body, b"data: " + body + b"\n\n" + stream(END)):
                events, _ = said(Arrived([written]))
                for event in events:
                    getattr(event, "text", "").encode()
                    if isinstance(event, Args):
                        json.loads(event.text, parse_constant=self.fail)

    def test_log_probabilities(self):
        chosen = {"token": "é", "tokenId": 1, "logProbability": -0.5}
        result = {"chosenCandidates": [chosen], "topCandidates": [{"candidates": [chosen]}]}
        value = candidate({"text": "é"}, finish="STOP", logprobsResult=result)
        token = {"token": "é", "logprob": -0.5, "bytes": [195, 169]}
        events, _ = said(Arrived([stream(value)]))
        self.assertEqual(
            events[1].logprobs, {"content": [{**token, "top_logprobs": [token]}], "refusal": None}
        )


def sent(target=HERE, messages=ASKED, options=None, native=None, **more):
    conversation = Conversation(messages, "gemini" if native is not None else "chat", native)
    outgoing = gemini.compose(target, conversation, options or {}, **more)
    return json.loads(b"".join(outgoing.body)), outgoing


class ComposeTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(quirks.forget)
        seals.forget()
        self.addCleanup(seals.forget)

    def test_the_whole(self):
        body, outgoing = sent(options={"temperature": 1, "top_p": None, "tools": [TOOL]})
        self.assertEqual(
            body,
            {
                "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
                "systemInstruction": {"parts": [{"text": "be brief"}]},
                "tools": [{"functionDeclarations": [{"name": "look"}]}],
                "generationConfig": {"temperature": 1},
            },
        )
        self.assertEqual(outgoing.changed, ())
        self.assertEqual(dict(outgoing.headers)["x-goog-api-key"], "k")
        self.assertNotIn("k=", outgoing.url)
        self.assertEqual(
            sent(messages=ASKED[1:])[0], {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
        )

    def test_addresses(self):
        stream_of = ":streamGenerateContent?alt=sse"
        for base, served, streamed, expected in [
            ("http://h/v1beta", "g", True, "http://h/v1beta/models/g" + stream_of),
            ("http://h/v1beta/", "g", False, "http://h/v1beta/models/g:generateContent"),
            ("http://h", "models/g", True, "http://h/v1beta/models/g" + stream_of),
            ("http://h/v1", "g", True, "http://h/v1/models/g" + stream_of),
            ("http://h/v1beta/openai", "g", True, "http://h/v1beta/models/g" + stream_of),
            (
                "http://h/v1beta/openai/",
                "tunedModels/a b",
                True,
                "http://h/v1beta/tunedModels/a%20b" + stream_of,
            ),
            ("http://h/v1beta", "x/y:z", True, "http://h/v1beta/models/x/y:z" + stream_of),
        ]:
            with self.subTest(base, served=served):
                target = replace(HERE, base=base, served=served)
                self.assertEqual(sent(target, stream=streamed)[1].url, expected)

    def test_what_its_caller_says_in_this_apis_words(self):
        native = {
            "safetySettings": [{"category": "X"}],
            "cachedContent": "cachedContents/1",
            "generationConfig": {"topK": 4},
            "contents": "not this",
            "model": "nor this",
        }
        body, _ = sent(messages=ASKED[1:], options={"seed": 1}, native=native)
        self.assertEqual(
            body,
            {
                "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
                "safetySettings": [{"category": "X"}],
                "cachedContent": "cachedContents/1",
                "generationConfig": {"seed": 1, "topK": 4},
            },
        )
        conversation = Conversation(ASKED[1:], "anthropic", native)
        foreign = json.loads(b"".join(gemini.compose(HERE, conversation, {}).body))
        self.assertEqual([*foreign], ["contents"])

    def test_signatures_by_way_of_a_caller_that_has_no_place_for_them(self):
        gemini_says = stream(candidate({**LOOK, "thoughtSignature": "c2ln"}, finish="STOP"))
        said(Arrived([gemini_says]))
        for target, expected in [
            (HERE, "c2ln"),
            (replace(HERE, model_id="e:other"), "skip_thought_signature_validator"),
            (replace(HERE, model_id="e:other", served="gemini-2.5-pro"), None),
            (
                replace(HERE, model_id="e:other", served="gemini-pro-latest"),
                "skip_thought_signature_validator",
            ),
        ]:
            with self.subTest(target.served, model=target.model_id):
                body, _ = sent(target, CALLED)
                self.assertEqual(body["contents"][1]["parts"][0].get("thoughtSignature"), expected)

    def test_seats_share_what_comes_out_the_same(self):
        conversation = Conversation(ASKED)
        one, other = (
            gemini.compose(target, conversation, {}) for target in (HERE, replace(HERE, model_id="e:other"))
        )
        self.assertIs(one.body[1], other.body[1])
        conversation = Conversation(CALLED)
        one, other = (
            gemini.compose(target, conversation, {}) for target in (HERE, replace(HERE, model_id="e:other"))
        )
        self.assertIsNot(one.body[1], other.body[1])

    def test_what_is_refused_is_left_out_from_then_on(self):
        options = {"seed": 1, "presence_penalty": 1, "reasoning_effort": "low"}
        for message, gone in [
            ("Penalty is not enabled for models/g", "presencePenalty"),
            (
                "Unknown name \"seed\" at 'generation_config': Cannot find field.",
                "seed",
            ),
            ("Thinking level is not supported for this model.", "thinkingLevel"),
        ]:
            with self.subTest(message):
                quirks.forget()
                problem = Problem(400, message, kind="bad_request")
                self.assertIn(f'"{gone}"', json.dumps(sent(options=options)[0]))
                self.assertTrue(gemini.learn(HERE, problem))
                self.assertFalse(gemini.learn(HERE, problem))
                body, outgoing = sent(options=options)
                self.assertNotIn(gone, json.dumps(body))
                self.assertTrue(any(gone in one for one in outgoing.changed))

    def test_a_model_without_instructions(self):
        problem = Problem(400, "Developer instruction is not enabled for models/g", kind="bad_request")
        self.assertTrue(gemini.learn(HERE, problem))
        body, outgoing = sent()
        self.assertEqual(
            body, {"contents": [{"role": "user", "parts": [{"text": "be brief"}, {"text": "hi"}]}]}
        )
        self.assertIn("first words", outgoing.changed[0])

    def test_scattered_instructions_are_told(self):
        for late in (ASKED[0], {"role": "developer", "content": "x"}):
            _, outgoing = sent(messages=[*ASKED, late])
            self.assertEqual(len(outgoing.changed), 1)


class ListModelsTest(unittest.TestCase):
    def test_what_generates(self):
        listed = {
            "models": [
                {"name": "models/g", "inputTokenLimit": 9, "supportedGenerationMethods": ["generateContent"]},
                {"name": "models/e", "supportedGenerationMethods": ["embedContent"]},
                {"name": "models/o"},
            ]
        }
        wire = Wire(json.dumps(listed).encode())
        found = gemini.list_models(wire, "http://h/v1beta", "k")
        self.assertEqual([one["served"] for one in found], ["g", "o"])
        method, url, headers = wire.asked
        self.assertEqual((method, url), ("GET", "http://h/v1beta/models?pageSize=1000"))
        self.assertEqual(headers["x-goog-api-key"], "k")
        self.assertNotIn("Authorization", headers)

    def test_page_by_page(self):
        pages = {
            "": {"models": [{"name": "models/a"}], "nextPageToken": "p/2"},
            "p%2F2": {"models": [{"name": "b"}]},
        }

        class Paged:
            def open(self, method, url, headers=()):
                return Arrived([json.dumps(pages[url.partition("&pageToken=")[2]]).encode()])

        found = gemini.list_models(Paged(), "http://h", None)
        self.assertEqual([one["served"] for one in found], ["a", "b"])
        pages[""]["nextPageToken"] = ""
        endless = {"models": [{"name": "a"}], "nextPageToken": ""}
        pages[""] = {**endless, "nextPageToken": "p%2F2"}
        pages["p%252F2"] = pages[""]
        self.assertEqual(len(gemini.list_models(Paged(), "http://h", None)), 1)

    def test_problems(self):
        for status, body, expected in [
            (400, b'{"error":{"message":"API key not valid","status":"INVALID_ARGUMENT"}}', (400, "auth")),
            (200, b"<html>", (502, "garbage")),
            (200, b"[]", None),
        ]:
            with self.subTest(body):
                if expected is None:
                    self.assertEqual(gemini.list_models(Wire(body), "http://h", "k"), [])
                    continue
                with self.assertRaises(Problem) as caught:
                    gemini.list_models(Wire(body, status), "http://h", "k-secret")
                self.assertEqual((caught.exception.status, caught.exception.kind), expected)
