"""Refusals as providers word them, and what each teaches."""

import unittest

from metrics.client import lessons
from metrics.records import Problem

# api, message, param, the lessons
CASES = [
    (
        "responses",
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        None,
        "drop reasoning.effort",
    ),
    (
        "responses",
        "Unsupported value: 'minimal' is not supported.",
        "reasoning.effort",
        "drop reasoning.effort",
    ),
    ("responses", "Model grok-4 does not support parameter reasoningEffort.", None, "drop reasoning.effort"),
    ("responses", "Unknown parameter: 'reasoning'.", "reasoning", "drop reasoning"),
    ("responses", "Encrypted content is not supported with this model.", None, "drop include"),
    (
        "responses",
        "Unsupported parameter: 'temperature' is not supported with this model.",
        "temperature",
        "drop temperature",
    ),
    ("responses", "body.text.verbosity: Extra inputs are not permitted", None, "drop text.verbosity"),
    ("responses", "Unknown parameter: 'client_metadata'.", None, "drop client_metadata"),
    ("responses", "Unknown parameter: 'input'.", "input", ""),
    ("responses", "The text format is not supported.", None, ""),
    ("responses", "Unsupported parameter: 'instructions'", "instructions", "system input"),
    ("chat", "Argument not supported on this model: presencePenalty", None, "drop presence_penalty"),
    ("chat", "tools.0.function.strict: Extra inputs are not permitted", None, "tool_drop strict"),
    (
        "chat",
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        None,
        "budget max_completion_tokens",
    ),
    ("chat", "please stop; this is not supported", None, ""),
    ("anthropic", "output_config.effort: Extra inputs are not permitted", None, "drop output_config.effort"),
    ("anthropic", "temperature: Extra inputs are not permitted", None, "drop temperature"),
    ("anthropic", "`temperature` is not supported with this model", None, "drop temperature"),
    (
        "anthropic",
        "tools.0.custom.eager_input_streaming: Extra inputs are not permitted",
        None,
        "tool_drop eager_input_streaming",
    ),
    (
        "gemini",
        "Unknown name \"thinkingConfig\" at 'generation_config': Cannot find field.",
        None,
        "drop generationConfig.thinkingConfig",
    ),
    (
        "gemini",
        "Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot "
        "find field.",
        None,
        "schema_drop additionalProperties",
    ),
    ("ollama", '"tiny" does not support thinking', None, "drop think"),
    ("ollama", '"tiny" does not support tools', None, ""),
    (
        "chat",
        "Tool call id was call_49c8 but must be a-z, A-Z, 0-9, with a length of 9.",
        None,
        "ids [a-zA-Z0-9]{9}",
    ),
    (
        "chat",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        None,
        "thoughts wanted",
    ),
    (
        "chat",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        None,
        "thoughts wanted",
    ),
    ("chat", "maximum context length is 10", None, ""),
]


class LessonsTest(unittest.TestCase):
    def test_each_refusal(self):
        for api, message, param, lesson in CASES:
            with self.subTest(api, message=message):
                problem = Problem(400, f"a: {message}", kind="bad_request", param=param)
                self.assertEqual(lessons.of(problem, api, "max_tokens"), {lesson} if lesson else set())

    def test_a_code_is_enough_with_a_param(self):
        problem = Problem(400, "no", kind="bad_request", param="seed", code="unsupported_parameter")
        self.assertEqual(lessons.of(problem), {"drop seed"})

    def test_no_field_can_be_taken_for_another(self):
        """Each name that one can do without, refused by itself, teaches itself and nothing else."""
        for api, names in lessons.OPTIONAL.items():
            for name in names:
                with self.subTest(api, name=name):
                    problem = Problem(400, f"Unknown parameter: '{name}'", kind="bad_request", param=name)
                    found = lessons.of(problem, api)
                    self.assertIn(f"drop {name}", found)
                    others = {one for one in found if one.startswith("drop ")} - {f"drop {name}"}
                    self.assertEqual({one for one in others if one.partition(" ")[2] not in name}, set())
