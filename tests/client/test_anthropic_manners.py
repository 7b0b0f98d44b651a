import unittest
from dataclasses import replace

from metrics.client import anthropic_manners, quirks
from metrics.client.anthropic_manners import STRANGER, learn, of, of_name, without_thinking
from metrics.records import Problem
from tests.client.arrivals import TARGET

# served name -> thinking, highest effort, how many of temperature and top_p, system messages within
NAMES = [
    ("claude-3-haiku-20240307", [], "", 2, False),
    ("claude-3-5-sonnet-latest", [], "", 2, False),
    ("claude-3-7-sonnet-20250219", ["enabled"], "", 2, False),
    ("claude-sonnet-4-20250514", ["enabled"], "", 2, False),
    ("claude-opus-4-1-20250805", ["enabled"], "", 1, False),
    ("claude-haiku-4-5", ["enabled"], "", 1, False),
    ("anthropic/claude-sonnet-4.5", ["enabled"], "", 1, False),
    ("us.anthropic.claude-opus-4-6-v1:0", ["adaptive", "enabled"], "max", 1, False),
    ("claude-opus-4-7", ["adaptive"], "max", 0, False),
    ("claude-opus-4-8-20260528", ["adaptive"], "max", 0, True),
    ("claude-sonnet-5", ["adaptive"], "max", 0, False),
    ("claude-opus-5-5", ["adaptive"], "max", 0, True),
    ("MiniMax-M2", ["adaptive", "enabled"], "max", 2, False),
]


class NamesTest(unittest.TestCase):
    def test_what_a_name_says(self):
        for served, thinking, effort, sampling, system in NAMES:
            with self.subTest(served):
                manners = of_name(served)
                self.assertEqual(sorted(manners.thinking), thinking)
                self.assertEqual(manners.efforts[-1:], (effort,) if effort else ())
                self.assertEqual((manners.sampling, manners.system), (sampling, system))
                self.assertEqual(manners.known, "claude" in served)

    def test_who_always_thinks(self):
        told = {
            name: (of_name(name).always, of_name(name).firm) for name in ("claude-opus-5", "claude-fable-5")
        }
        self.assertEqual(told, {"claude-opus-5": (True, False), "claude-fable-5": (True, True)})
        self.assertFalse(of_name("claude-opus-4-8").always)


def refusal(message, status=400):
    return Problem(status, f"a: {message}", kind="bad_request")


# what a server says -> what is altered, and the same again teaches nothing
LESSONS = [
    ("role 'system' is not supported on this model", {"system": False}),
    ("messages[1].role must be either 'user' or 'assistant', but got 'system'", {"system": False}),
    ("body.messages.1.role: Input should be 'user' or 'assistant'", {"system": False}),
    ("messages[1].role: unknown variant `system`, expected `user` or `assistant`", {"system": False}),
    (
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter',
        {"system": False},
    ),
    ("Validation: `thinking.type` must be `enabled` or `disabled`", {"thinking": frozenset({"enabled"})}),
    (
        "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: "
        "'disabled', 'enabled'",
        {"thinking": frozenset({"enabled"})},
    ),
    ("This model does not support the effort parameter.", {"efforts": ()}),
    ("adaptive thinking is not supported on this model", {"thinking": frozenset({"enabled"})}),
    (
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
        '"output_config.effort" to control thinking behavior.',
        {"thinking": frozenset({"adaptive"})},
    ),
    ("`temperature` and `top_p` cannot both be specified for this model.", {"sampling": 1}),
    ("`temperature` is deprecated for this model.", {"sampling": 0}),
    (
        "Unexpected value(s) `context-1m-2025-08-07`, `new-1` for the `anthropic-beta` header.",
        {"betas": frozenset({"context-1m-2025-08-07", "new-1"})},
    ),
    ("invalid beta flag", {"betas": frozenset("*")}),
]


class LearnTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(anthropic_manners.forget)
        self.addCleanup(quirks.forget)

    def test_a_refusal_teaches_once(self):
        for message, altered in LESSONS:
            with self.subTest(message):
                anthropic_manners.forget()
                self.assertTrue(learn(TARGET, refusal(message)))
                self.assertEqual(of(TARGET), replace(of_name(TARGET.served), **altered))
                self.assertEqual(of(replace(TARGET, served="other")), STRANGER)
                self.assertFalse(learn(TARGET, refusal(message)))

    def test_one_sampling_field_less_after_the_other(self):
        learn(TARGET, refusal("`temperature` and `top_p` cannot both be specified for this model."))
        learn(TARGET, refusal("`temperature` is deprecated for this model."))
        self.assertEqual(of(TARGET).sampling, 0)

    def test_a_field_that_is_refused_by_name_is_a_quirk(self):
        native = replace(TARGET, api="anthropic")
        self.assertTrue(learn(native, refusal("context_management: Extra inputs are not permitted")))
        self.assertIn("context_management", quirks.for_target(native).drop)

    NOTHING = [
        "messages: at least one message is required",
        "prompt is too long: 300000 tokens > 200000 maximum",
    ]

    def test_what_teaches_nothing(self):
        for message in self.NOTHING:
            with self.subTest(message):
                self.assertFalse(learn(TARGET, refusal(message)))
        self.assertFalse(learn(TARGET, refusal(LESSONS[0][0], status=500)))

    SIGNATURES = [
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different "
        "conversation.",
        "messages.3.content.0.thinking: each thinking block must contain thinking",
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
        "messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message "
        "cannot be modified.",
    ]

    def test_a_refused_signature_is_of_one_request(self):
        for message in self.SIGNATURES:
            with self.subTest(message):
                self.assertFalse(without_thinking(TARGET))
                self.assertTrue(learn(TARGET, refusal(message)))
                self.assertEqual([without_thinking(TARGET), without_thinking(TARGET)], [True, False])
                self.assertEqual(of(TARGET), STRANGER)

    def test_it_is_not_asked_a_third_time(self):
        learn(TARGET, refusal(self.SIGNATURES[0]))
        without_thinking(TARGET)
        self.assertFalse(learn(TARGET, refusal(self.SIGNATURES[0])))
        self.assertFalse(without_thinking(TARGET))
        self.assertTrue(learn(TARGET, refusal(self.SIGNATURES[0])))

    def test_another_model_is_not_meant(self):
        learn(TARGET, refusal(self.SIGNATURES[0]))
        self.assertFalse(without_thinking(replace(TARGET, served="other")))
