import json
import unittest
from dataclasses import replace

from metrics.client import anthropic_manners, anthropic_turns, seals
from metrics.client.anthropic_events import digest
from metrics.client.anthropic_turns import FOLDED, OPENING, fit_id
from metrics.records import Problem
from tests.client.arrivals import TARGET

MARK = {"type": "ephemeral"}
B64 = "iVBORw0KGgo="
PNG = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{B64}"}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": B64}}
SIGNED_BLOCK = {"type": "thinking", "thinking": "st\u00e9p ", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "cmVk"}
NEW = replace(TARGET, served="claude-opus-4-8")


def said(role, content, **more):
    return {"role": role, "content": content, **more}


def text(words, **more):
    return {"type": "text", "text": words, **more}


def call(call_id, arguments="{}", name="f", **more):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def use(call_id, given=None, name="f", **more):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given or {}, **more}


def result(call_id, *content, **more):
    return {
        "type": "tool_result",
        "tool_use_id": call_id,
        **({"content": content[0]} if content else {}),
        **more,
    }


def tool(call_id, content, **more):
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def write(messages, target=TARGET, **more):
    told = anthropic_turns.write(messages, target, anthropic_manners.of(target), **more)
    return told, json.loads(b"".join(told.turns))


def turns(messages, target=TARGET, **more):
    return write(messages, target, **more)[1]


HI = said("user", "hi")
ASKED = [HI, said("assistant", None, tool_calls=[call("t1")])]
USED = [HI, said("assistant", [use("t1")])]

# name, messages, `system`, turns
CASES = [
    ("text", [HI], None, [HI]),
    ("system", [said("system", "s"), said("developer", "d"), HI], [text("s"), text("d")], [HI]),
    ("one system", [said("system", "s"), HI], "s", [HI]),
    ("blank system", [said("system", " "), HI], None, [HI]),
    ("system, marked", [said("system", "s", _cache=MARK), HI], [text("s", cache_control=MARK)], [HI]),
    (
        "parts, marked",
        [said("user", [text("a", _cache=MARK), PNG, text(" "), text("b")])],
        None,
        [said("user", [text("a", cache_control=MARK), IMAGE, text("b")])],
    ),
    (
        "a picture's address",
        [said("user", [{"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}}])],
        None,
        [said("user", [{"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}])],
    ),
    (
        "one role in a row",
        [HI, said("user", "there"), said("assistant", "a"), said("assistant", "b"), HI],
        None,
        [said("user", [text("hi"), text("there")]), said("assistant", [text("a"), text("b")]), HI],
    ),
    (
        "blank turns",
        [HI, said("assistant", ""), said("user", "\n"), said("user", "x")],
        None,
        [said("user", [text("hi"), text("x")])],
    ),
    (
        "a begun answer",
        [said("user", "hi "), said("assistant", "Sure, \n")],
        None,
        [said("user", "hi "), said("assistant", "Sure,")],
    ),
    ("a blank begun answer", [HI, said("assistant", [text(" \n")])], None, [HI]),
    (
        "an answer within keeps its end",
        [HI, said("assistant", "a \n"), HI],
        None,
        [HI, said("assistant", "a \n"), HI],
    ),
    (
        "the assistant first",
        [said("assistant", "a"), HI],
        None,
        [said("user", OPENING), said("assistant", "a"), HI],
    ),
    (
        "a refusal",
        [HI, {"role": "assistant", "content": None, "refusal": "no"}, HI],
        None,
        [HI, said("assistant", "no"), HI],
    ),
    (
        "calls and results",
        [
            HI,
            said("assistant", "I look.", tool_calls=[call("t1", '{"a":"é"}', _cache=MARK), call("t2", "")]),
            tool("t1", "one", _cache=MARK),
            tool("t2", ""),
            HI,
        ],
        None,
        [
            HI,
            said("assistant", [text("I look."), use("t1", {"a": "é"}, cache_control=MARK), use("t2")]),
            said("user", [result("t1", "one", cache_control=MARK), result("t2"), text("hi")]),
        ],
    ),
    (
        "arguments that are no object",
        [HI, said("assistant", None, tool_calls=[call("t1", "[1")])],
        None,
        [HI, said("assistant", [use("t1", {"arguments": "[1"})])],
    ),
    (
        "a custom tool",
        [
            HI,
            said(
                "assistant",
                None,
                tool_calls=[{"id": "t1", "type": "custom", "custom": {"name": "p", "input": "x"}}],
            ),
        ],
        None,
        [HI, said("assistant", [use("t1", {"input": "x"}, "p")])],
    ),
    (
        "pictures of a result",
        [
            *ASKED,
            tool("t1", "shot", _moved=[text("shot"), PNG]),
            said("user", [text("From t1:", _moved=True), {**PNG, "_moved": True}, text("go")]),
        ],
        None,
        [*USED, said("user", [result("t1", [text("shot"), IMAGE]), text("go")])],
    ),
    (
        "pictures in a result",
        [*ASKED, tool("t1", [text("shot"), PNG])],
        None,
        [*USED, said("user", [result("t1", [text("shot"), IMAGE])])],
    ),
    (
        "text before results",
        [*ASKED, HI, tool("t1", "r")],
        None,
        [*USED, said("user", [result("t1", "r"), text("hi")])],
    ),
    (
        "ids of another kind",
        [HI, said("assistant", None, tool_calls=[call("functions.f:0")]), tool("functions.f:0", "r")],
        None,
        [
            HI,
            said("assistant", [use(fit_id("functions.f:0"))]),
            said("user", [result(fit_id("functions.f:0"), "r")]),
        ],
    ),
    (
        "thinking",
        [
            HI,
            said("assistant", None, tool_calls=[call("t1")], _thinking=[SIGNED_BLOCK, REDACTED]),
            tool("t1", "r"),
        ],
        None,
        [HI, said("assistant", [SIGNED_BLOCK, REDACTED, use("t1")]), said("user", [result("t1", "r")])],
    ),
    # --- turns of this API's own callers
    (
        "a turn as it came",
        [
            said(
                "user",
                "x",
                _turn=[text("a", cache_control=MARK), text(""), {"type": "document", "source": {}}],
            ),
            said(
                "assistant",
                "y",
                _turn=[text("b"), SIGNED_BLOCK, use("t1")],
                tool_calls=[call("t1", name="f")],
            ),
            tool("t1", "Error: r", _turn=[result("t1", [IMAGE, text("")], is_error=True), text("c")]),
            said("user", [text("From t1:"), PNG, text("c")], _turn=()),
        ],
        None,
        [
            said("user", [text("a", cache_control=MARK), {"type": "document", "source": {}}]),
            said("assistant", [text("b"), SIGNED_BLOCK, use("t1")]),
            said("user", [result("t1", [IMAGE], is_error=True), text("c")]),
        ],
    ),
    (
        "under the names that tools have here",
        [HI, said("assistant", None, _turn=[use("t1", name="a.b")], tool_calls=[call("t1", name="a_b_1")])],
        None,
        [HI, said("assistant", [use("t1", name="a_b_1")])],
    ),
    (
        "unsigned thinking",
        [HI, said("assistant", "a", _turn=[{**SIGNED_BLOCK, "signature": ""}, text("a")]), HI],
        None,
        [HI, said("assistant", "a"), HI],
    ),
    (
        "its own system",
        [said("system", "x", _turn=[text(""), text("s", cache_control=MARK)]), HI],
        [text("s", cache_control=MARK)],
        [HI],
    ),
]


class WriteTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(seals.forget)

    def test_conversations(self):
        for name, messages, system, expected in CASES:
            with self.subTest(name):
                told, got = write(messages)
                self.assertEqual(got, expected)
                self.assertEqual(json.loads(told.system) if told.system else None, system)

    def test_nothing_to_say(self):
        for messages in ([], [said("system", "s")], [said("user", " ")]):
            with self.subTest(messages=messages), self.assertRaises(Problem) as caught:
                write(messages)
            self.assertEqual(caught.exception.status, 400)

    MID = said("system", "now")
    REMINDED = "<system-reminder>\nnow\n</system-reminder>"
    # behind what it stands, before what, whether it may stand there
    PLACES = [
        ([HI], [], True),
        ([HI], [said("assistant", "a")], True),
        ([HI], [HI], False),
        ([HI, said("assistant", "a")], [HI], False),
        ([*ASKED, tool("t1", "r")], [], True),
    ]

    def test_a_system_message_stands_where_it_may(self):
        for behind, before, allowed in self.PLACES:
            for target in (NEW, TARGET):
                with self.subTest(behind=behind, before=before, target=target.served):
                    told, got = write([*behind, self.MID, *before], target)
                    stands = allowed and target is NEW
                    self.assertEqual(self.MID in got, stands)
                    self.assertEqual(self.REMINDED in json.dumps(got).replace("\\n", "\n"), not stands)
                    self.assertEqual(told.changed, () if stands else (FOLDED,))

    def test_a_system_block_within_a_turn(self):
        turn = [text("a"), {"type": "mid_conv_system", "content": [text("now")]}]
        messages = [said("user", "a", _turn=turn), said("system", "now", _turn=())]
        self.assertEqual(turns(messages, NEW), [said("user", turn)])
        self.assertEqual(turns(messages), [said("user", [text("a"), text(self.REMINDED)])])

    def test_what_a_model_sealed_for_a_call_comes_back_to_it_alone(self):
        seals.keep(TARGET.model_id, "t1", (SIGNED_BLOCK, REDACTED))
        kept = [SIGNED_BLOCK, REDACTED, use("t1")]
        self.assertEqual(turns(ASKED)[1]["content"], kept)
        self.assertEqual(turns(ASKED, replace(TARGET, model_id="e:other"))[1]["content"], [use("t1")])
        own = [HI, said("assistant", None, tool_calls=[call("t1")], _turn=[use("t1")])]
        self.assertEqual(turns(own)[1]["content"], kept)
        held = [HI, said("assistant", None, tool_calls=[call("t1")], _turn=[REDACTED, use("t1")])]
        self.assertEqual(turns(held)[1]["content"], [REDACTED, use("t1")])

    def test_a_seal_that_is_known_to_be_anothers_is_not_sent(self):
        messages = [HI, said("assistant", "a", _turn=[SIGNED_BLOCK, text("a")]), HI]
        for signer, there in ((None, True), (TARGET.served, True), ("other", False)):
            seals.forget()
            if signer:
                seals.note(seals.OWNER, digest("c2ln"), signer)
            with self.subTest(signer=signer):
                expected = [SIGNED_BLOCK, text("a")] if there else "a"
                self.assertEqual(turns(messages)[1]["content"], expected)

    def test_without_thinking(self):
        messages = [HI, said("assistant", "a", _thinking=[SIGNED_BLOCK, REDACTED]), HI]
        self.assertEqual(turns(messages, thinking=False)[1], said("assistant", "a"))

    def test_what_was_refused_is_not_tried_again(self):
        messages = [HI, said("assistant", "a", _thinking=[SIGNED_BLOCK, REDACTED]), HI]
        turns(messages, thinking=False)
        later = {**SIGNED_BLOCK, "signature": "bmV3"}
        more = [*messages, said("assistant", "b", _thinking=[later]), HI]
        self.assertEqual(turns(more)[1], said("assistant", "a"))
        self.assertEqual(turns(more)[3]["content"], [later, text("b")])
        other = replace(TARGET, served="other")
        self.assertEqual(turns(messages, other)[1]["content"], [SIGNED_BLOCK, REDACTED, text("a")])

    UNSEALED = [
        ("no calls", [HI], False),
        ("lost", [*ASKED, tool("t1", "r")], True),
        ("kept", [HI, {**ASKED[1], "_thinking": [SIGNED_BLOCK]}, tool("t1", "r")], False),
        ("lost, but over", [*ASKED, tool("t1", "r"), said("assistant", "a"), HI], False),
        (
            "lost before and kept since",
            [*ASKED, tool("t1", "r"), {**ASKED[1], "_thinking": [SIGNED_BLOCK]}, tool("t1", "r")],
            True,
        ),
    ]

    def test_whether_the_turn_that_goes_on_has_lost_its_thinking(self):
        for name, messages, lost in self.UNSEALED:
            with self.subTest(name):
                self.assertEqual(write(messages)[0].unsealed, lost)

    def test_whether_the_answer_is_begun(self):
        self.assertTrue(write([HI, said("assistant", "a")])[0].prefilled)
        self.assertFalse(write([HI, said("assistant", " ")])[0].prefilled)
        self.assertFalse(write([HI])[0].prefilled)

    def test_a_large_picture_is_written_as_it_is(self):
        data = "A" * 300_000
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        got = turns([said("user", [image]), said("assistant", "a"), HI])
        self.assertEqual(got[0]["content"][0]["source"]["data"], data)
        self.assertEqual(len(got), 3)

    def test_small_turns_share_a_buffer(self):
        talk = [said("user", "a" * 500), said("assistant", "b" * 500)] * 200
        told, got = write([*talk, HI])
        self.assertEqual(got, [*talk, HI])
        self.assertLess(len(told.turns), 6)
        self.assertLess(max(map(len, told.turns)), 70_000)

    def test_a_picture_goes_by_what_it_is(self):
        def shown(data, label):
            return {"type": "image", "source": {"type": "base64", "media_type": label, "data": data}}

        blocks = [shown("/9j/4AA", "image/png"), shown("R0lGODl", "image/gif"), shown("AAAA", "image/png")]
        right = [shown("/9j/4AA", "image/jpeg"), *blocks[1:]]
        messages = [
            HI,
            said("assistant", None, tool_calls=[call("t1")]),
            tool("t1", "", _turn=[result("t1", blocks), *blocks]),
        ]
        self.assertEqual(turns(messages)[2]["content"], [result("t1", right), *right])

    def test_what_a_model_may_have_sealed(self):
        self.assertFalse(anthropic_turns.sealable([HI, said("assistant", "a", _turn=[text("a")])]))
        self.assertTrue(anthropic_turns.sealable(ASKED))
        self.assertTrue(anthropic_turns.sealable([HI, said("assistant", "a", _turn=[REDACTED])]))
        self.assertTrue(anthropic_turns.sealable([HI, said("assistant", "a", _thinking=[REDACTED])]))

    def test_half_of_a_surrogate_pair(self):
        self.assertEqual(turns([said("user", "a\ud83d")]), [said("user", "a\ufffd")])


class IdsTest(unittest.TestCase):
    def test_ids(self):
        self.assertEqual(fit_id("toolu_01-A"), "toolu_01-A")
        self.assertNotEqual(fit_id("f.0"), fit_id("f:0"))
        self.assertEqual(fit_id("f.0"), fit_id("f.0"))
        for odd in ("functions.f:0", "é" * 500, "\ud800"):
            self.assertRegex(fit_id(odd), r"^[a-zA-Z0-9_-]{1,64}$")
        self.assertTrue(fit_id(None))
