import unittest
from dataclasses import replace

from metrics.client import anthropic_manners, anthropic_options, quirks
from metrics.client.anthropic_turns import Told
from metrics.records import Problem
from tests.client.arrivals import TARGET

PLAIN = Told(b"", [b"[]"], (), unsealed=False, prefilled=False)
TOOL = {"type": "function", "function": {"name": "f"}}
MADE = {"name": "f", "input_schema": {"type": "object", "properties": {}}}
SCHEMA = {"type": "object", "properties": {}}
SHAPED = {"type": "json_schema", "json_schema": {"name": "s", "schema": SCHEMA}}
FORMAT = {"type": "json_schema", "schema": {**SCHEMA, "additionalProperties": False}}
CLEAR = {"type": "clear_thinking_20251015", "keep": "all"}

OLD, NEW, ALWAYS, STRANGER = "claude-sonnet-4-5", "claude-opus-4-8", "claude-opus-5", "m"
ADAPTIVE = {"type": "adaptive", "display": "summarized"}


def budget(tokens):
    return {"type": "enabled", "budget_tokens": tokens}


def fields(served, options, own=None, told=PLAIN, **more):
    target = replace(TARGET, served=served, api="anthropic", **more)
    return anthropic_options.fields(target, anthropic_manners.of(target), options, own, told)


# model, options, native fields (None: another API's caller), fields of the body, in `changed`
CASES = [
    ("nothing asked", STRANGER, {}, None, {"max_tokens": 8192}, ""),
    ("nothing asked of a Claude", NEW, {}, None, {"max_tokens": 32000}, ""),
    ("so much", STRANGER, {"max_tokens": 9}, None, {"max_tokens": 9}, ""),
    ("its other name", STRANGER, {"max_completion_tokens": 9}, None, {"max_tokens": 9}, ""),
    ("hot", STRANGER, {"temperature": 1.6}, None, {"temperature": 1}, "temperature cut from 1.6 to 1"),
    ("warm", STRANGER, {"temperature": 0.7, "top_p": 0.5}, None, {"temperature": 0.7, "top_p": 0.5}, ""),
    ("one of two", OLD, {"temperature": 0.7, "top_p": 0.5}, None, {"temperature": 0.7}, "top_p left out"),
    ("the other alone", OLD, {"top_p": 0.5}, None, {"top_p": 0.5}, ""),
    ("none", NEW, {"temperature": 0.7, "top_p": 0.5}, None, {}, "temperature left out"),
    ("a stop", STRANGER, {"stop": "END"}, None, {"stop_sequences": ["END"]}, ""),
    ("stops", STRANGER, {"stop": ["a", " \n"]}, None, {"stop_sequences": ["a"]}, "stop strings"),
    ("a user", STRANGER, {"user": "u1"}, None, {"metadata": {"user_id": "u1"}}, ""),
    (
        "a user of its own",
        STRANGER,
        {"user": "h"},
        {"metadata": {"user_id": "u"}},
        {"metadata": {"user_id": "u"}},
        "",
    ),
    ("what it has no place for", STRANGER, {"seed": 4}, None, {}, "seed left out"),
    ("two answers", STRANGER, {"n": 2}, None, {}, "n left out"),
    ("one answer", STRANGER, {"n": 1, "logprobs": False}, None, {}, ""),
    ("tools", STRANGER, {"tools": [TOOL]}, None, {"tools": [MADE]}, ""),
    (
        "a choice",
        STRANGER,
        {"tools": [TOOL], "tool_choice": "required"},
        None,
        {"tool_choice": {"type": "any"}},
        "",
    ),
    ("a choice of nothing", STRANGER, {"tool_choice": "required"}, None, {}, ""),
    ("a schema", STRANGER, {"response_format": SHAPED}, None, {"output_config": {"format": FORMAT}}, ""),
    ("JSON", STRANGER, {"response_format": {"type": "json_object"}}, None, {}, "json_object left out"),
    ("text", STRANGER, {"response_format": {"type": "text"}}, None, {}, ""),
    (
        "a schema of its own",
        STRANGER,
        {"response_format": SHAPED},
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        "",
    ),
    # --- how deep
    ("effort, old", OLD, {"reasoning_effort": "low"}, None, {"thinking": budget(2048)}, ""),
    (
        "effort, new",
        NEW,
        {"reasoning_effort": "xhigh"},
        None,
        {"thinking": ADAPTIVE, "output_config": {"effort": "xhigh"}},
        "",
    ),
    (
        "effort, between",
        "claude-opus-4-6",
        {"reasoning_effort": "xhigh"},
        None,
        {"thinking": ADAPTIVE, "output_config": {"effort": "high"}},
        "",
    ),
    ("effort, a stranger", STRANGER, {"reasoning_effort": "low"}, None, {"thinking": budget(2048)}, ""),
    ("effort, none", NEW, {"reasoning_effort": "none"}, None, {}, ""),
    (
        "effort, none where it is not asked for",
        ALWAYS,
        {"reasoning_effort": "none"},
        None,
        {"thinking": {"type": "disabled"}},
        "",
    ),
    ("effort of a new kind", NEW, {"reasoning_effort": "cosmic"}, None, {}, ""),
    ("effort that is no word", NEW, {"reasoning_effort": {}}, None, {}, ""),
    (
        "effort of one that has none",
        "claude-3-5-haiku",
        {"reasoning_effort": "low"},
        None,
        {},
        "thinking of type enabled left out",
    ),
    (
        "its own caller's effort is no wish to think",
        NEW,
        {"reasoning_effort": "high"},
        {},
        {"output_config": {"effort": "high"}},
        "",
    ),
    (
        "its own",
        STRANGER,
        {"reasoning_effort": "high"},
        {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}},
        {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}},
        "",
    ),
    (
        "its own, to one that takes it otherwise",
        OLD,
        {},
        {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
        {"thinking": budget(2048)},
        "thinking of type adaptive sent as enabled",
    ),
    (
        "its own budget, to a newer one",
        NEW,
        {"reasoning_effort": "medium"},
        {"thinking": budget(9000)},
        {"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}},
        "sent as adaptive",
    ),
    ("switched off", ALWAYS, {}, {"thinking": {"type": "disabled"}}, {"thinking": {"type": "disabled"}}, ""),
    (
        "beside sampling",
        OLD,
        {"reasoning_effort": "low", "temperature": 0.5, "top_p": 0.97},
        None,
        {"thinking": budget(2048), "top_p": 0.97},
        "temperature left out (not taken beside thinking)",
    ),
    (
        "beside a forced call, by a budget",
        OLD,
        {"reasoning_effort": "low", "tools": [TOOL], "tool_choice": "required"},
        None,
        {"tool_choice": {"type": "any"}},
        "thinking left out (not taken beside a forced tool call)",
    ),
    (
        "beside a forced call, as the model likes",
        NEW,
        {"reasoning_effort": "low", "tools": [TOOL], "tool_choice": "required"},
        None,
        {"tool_choice": {"type": "any"}, "thinking": ADAPTIVE, "output_config": {"effort": "low"}},
        "",
    ),
    # --- the rest of what its own callers send
    (
        "as it was sent",
        STRANGER,
        {},
        {"top_k": 4, "service_tier": "auto", "new": [1], "headers": {"anthropic-beta": "x"}},
        {"top_k": 4, "service_tier": "auto", "new": [1]},
        "",
    ),
    (
        "clearing",
        STRANGER,
        {},
        {"thinking": {"type": "adaptive"}, "context_management": {"edits": [CLEAR]}},
        {"thinking": {"type": "adaptive"}, "context_management": {"edits": [CLEAR]}},
        "",
    ),
    ("clearing what is not there", STRANGER, {}, {"context_management": {"edits": [CLEAR]}}, {}, ""),
    (
        "clearing something else too",
        STRANGER,
        {},
        {"context_management": {"edits": [CLEAR, {"type": "x"}]}},
        {"context_management": {"edits": [{"type": "x"}]}},
        "",
    ),
]
NEEDLESS = (
    "thinking",
    "output_config",
    "temperature",
    "top_p",
    "context_management",
    "tool_choice",
    "metadata",
    "stop_sequences",
)


class FieldsTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(quirks.forget)

    def test_fields(self):
        for name, served, options, own, expected, changed in CASES:
            with self.subTest(name):
                got, words = fields(served, options, own)
                self.assertEqual({key: got.get(key) for key in expected}, expected)
                self.assertEqual([key for key in NEEDLESS if key in got and key not in expected], [])
                self.assertIn("max_tokens", got)
                self.assertIn(changed, "; ".join(words))
                self.assertEqual(bool(words), bool(changed), words)

    # asked, the most it writes, effort -> max_tokens, budget
    ROOM = [
        (100, None, None, 100, None),
        (9000, 4000, None, 4000, None),
        (None, 4000, None, 4000, None),
        (100, None, "low", 4196, 2048),
        (100, 3000, "high", 3000, 1976),
        (100, 1500, "high", 1500, None),
        (30000, None, "high", 46384, 16384),
    ]

    def test_a_budget_is_a_part_of_what_may_be_written(self):
        for asked, most, effort, limit, part in self.ROOM:
            with self.subTest(asked=asked, most=most, effort=effort):
                got, _ = fields(OLD, {"max_tokens": asked, "reasoning_effort": effort}, max_output=most)
                self.assertEqual(got["max_tokens"], limit)
                self.assertEqual(got.get("thinking", {}).get("budget_tokens"), part)

    def test_its_own_callers_limit_is_not_raised(self):
        got, words = fields(OLD, {"max_tokens": 4096}, {"thinking": budget(2000)})
        self.assertEqual((got["max_tokens"], got["thinking"], words), (4096, budget(2000), []))

    def test_thinking_that_was_lost_is_not_asked_for_within_its_turn(self):
        lost = replace(PLAIN, unsealed=True)
        for own in (None, {"thinking": budget(2000), "context_management": {"edits": [CLEAR]}}):
            got, words = fields(OLD, {"reasoning_effort": "low"}, own, lost)
            self.assertNotIn("thinking", got)
            self.assertNotIn("context_management", got)
            self.assertEqual(words, ["thinking left out (what it thought in this turn is lost)"])
        self.assertIn("thinking", fields(NEW, {"reasoning_effort": "low"}, None, lost)[0])

    def test_what_was_refused_by_name_is_left_out(self):
        native = replace(TARGET, api="anthropic")
        quirks.learn(native, Problem(400, "metadata: Extra inputs are not permitted", kind="bad_request"))
        quirks.learn(
            native, Problem(400, "tools.0.custom.strict: Extra inputs are not permitted", kind="bad_request")
        )
        strict = {"type": "function", "function": {"name": "f", "strict": True}}
        got, words = fields("m", {"user": "u", "tools": [strict]})
        self.assertNotIn("metadata", got)
        self.assertEqual(got["tools"], [MADE])
        self.assertIn("metadata left out", words[-1])
