"""What a request to Gemini says beside its conversation."""

import unittest
from dataclasses import replace

from metrics.client import gemini_fields, room
from tests.client.arrivals import TARGET

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
LOOK = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": SCHEMA}}
GO = {"type": "function", "function": {"name": "go"}}
CUSTOM = {"type": "custom", "custom": {"name": "patch", "description": "Patches."}}
LOOKS = {"name": "look", "description": "Looks.", "parametersJsonSchema": SCHEMA}
GOES = {"name": "go"}
OTHER = "m"


def generated(options, native=None, served=OTHER, **more):
    changed = []
    made = gemini_fields.generation(replace(TARGET, served=served, **more), options, native, changed)
    return made, changed


class GenerationTest(unittest.TestCase):
    # options, generationConfig, a word in what was changed ("": nothing)
    CASES = [
        ({}, {}, ""),
        (
            {"temperature": 1.5, "top_p": 0.5, "presence_penalty": 1, "frequency_penalty": 0.5, "n": 2},
            {
                "temperature": 1.5,
                "topP": 0.5,
                "presencePenalty": 1,
                "frequencyPenalty": 0.5,
                "candidateCount": 2,
            },
            "",
        ),
        ({"n": 1}, {}, ""),
        ({"max_tokens": 9}, {"maxOutputTokens": 9}, ""),
        ({"max_tokens": 9, "max_completion_tokens": 8}, {"maxOutputTokens": 8}, ""),
        ({"stop": "x"}, {"stopSequences": ["x"]}, ""),
        ({"stop": list("abcdef")}, {"stopSequences": list("abcde")}, "stop cut"),
        ({"seed": 7}, {"seed": 7}, ""),
        ({"seed": 2**40 + 7}, {"seed": 7}, "seed"),
        ({"response_format": {"type": "text"}}, {}, ""),
        ({"response_format": {"type": "json_object"}}, {"responseMimeType": "application/json"}, ""),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "x", "schema": {**SCHEMA, "$id": 1}},
                }
            },
            {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA},
            "",
        ),
        ({"logprobs": True, "top_logprobs": 3}, {"responseLogprobs": True, "logprobs": 3}, ""),
        ({"logprobs": False, "top_logprobs": 3}, {}, ""),
        ({"verbosity": "low"}, {}, "verbosity left out"),
        ({"parallel_tool_calls": False}, {}, "parallel_tool_calls left out"),
        ({"parallel_tool_calls": True, "store": False, "metadata": {}}, {}, ""),
        ({"model": "x", "messages": [], "stream": True, "stream_options": {}, "tools": []}, {}, ""),
    ]

    def test_options(self):
        for options, expected, word in self.CASES:
            with self.subTest(options):
                made, changed = generated(options)
                self.assertEqual(made, expected)
                self.assertTrue(any(word in one for one in changed) if word else not changed, changed)

    def test_room_to_think(self):
        raised = 100 + room.LEAST
        for served, reasoning, native, expected in [
            ("gemini-2.5-flash", None, None, raised),
            ("models/gemini-3-pro-preview", None, None, raised),
            ("gemini-2.0-flash", None, None, 100),
            ("other", None, None, 100),
            ("other", True, None, raised),
            ("gemini-2.5-flash", False, None, 100),
            ("gemini-2.5-flash", None, {}, 100),  # its caller speaks this API, and knows
        ]:
            with self.subTest(served=served, reasoning=reasoning, native=native):
                made, _ = generated({"max_tokens": 100}, native, served, reasoning=reasoning)
                self.assertEqual(made["maxOutputTokens"], expected)

    # served name, effort, thinkingConfig, a word in what was changed
    EFFORTS = [
        ("gemini-3-flash-preview", "none", {"thinkingLevel": "minimal"}, ""),
        ("gemini-3-flash-preview", "medium", {"thinkingLevel": "medium", "includeThoughts": True}, ""),
        ("gemini-flash-latest", "max", {"thinkingLevel": "high", "includeThoughts": True}, ""),
        ("models/gemini-3.1-pro", "minimal", {"thinkingLevel": "low", "includeThoughts": True}, "as low"),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}, ""),
        ("gemini-2.5-flash", "low", {"thinkingBudget": 1024, "includeThoughts": True}, ""),
        ("gemini-2.5-flash", "xhigh", {"thinkingBudget": 24576, "includeThoughts": True}, ""),
        ("gemini-2.5-pro", "none", {"thinkingBudget": 128}, "128 tokens"),
        ("gemini-2.0-flash", "high", None, "left out"),
        ("gemma-3-27b-it", "high", None, "left out"),
        ("gemini-3-flash-preview", None, None, ""),
    ]

    def test_effort(self):
        for served, effort, expected, word in self.EFFORTS:
            with self.subTest(served, effort=effort):
                made, changed = generated({"reasoning_effort": effort} if effort else {}, None, served)
                self.assertEqual(made.get("thinkingConfig"), expected)
                self.assertTrue(any(word in one for one in changed) if word else not changed, changed)

    def test_the_callers_own_words(self):
        own = {"topK": 40, "responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING"}}
        options = {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}, "seed": 1}
        self.assertEqual(generated(options, own)[0], {"seed": 1, **own})
        own = {"responseFormat": [{"text": {"mimeType": "APPLICATION_JSON"}}]}
        self.assertEqual(generated(options, own)[0], {"seed": 1, **own})
        for served, sent, effort, expected in [
            ("gemini-3-pro", {"thinkingLevel": "HIGH"}, "high", {"thinkingLevel": "HIGH"}),
            ("gemini-3-pro", {"thinkingBudget": 0}, "none", {"thinkingBudget": 0}),
            ("gemini-2.5-pro", {"thinkingBudget": -1, "includeThoughts": True}, None, None),
            ("gemini-2.5-pro", {"includeThoughts": True}, None, None),
            (
                "gemini-2.5-flash",
                {"thinkingLevel": "LOW", "includeThoughts": False},
                "low",
                {"thinkingBudget": 1024},
            ),
        ]:
            with self.subTest(served, sent=sent):
                options = {"reasoning_effort": effort} if effort else {}
                made, _ = generated(options, {"thinkingConfig": sent}, served)
                self.assertEqual(made["thinkingConfig"], expected or sent)
        made, changed = generated({}, {"thinkingConfig": {"includeThoughts": True}}, "gemini-2.0-flash")
        self.assertEqual(made, {})
        self.assertIn("does not think", changed[0])


class ToolsTest(unittest.TestCase):
    # declared, choice, declarations, functionCallingConfig
    CASES = [
        (None, "auto", None, None),
        ([], {"type": "function", "function": {"name": "look"}}, None, None),
        ([LOOK, GO], None, [LOOKS, GOES], None),
        ([LOOK, GO], "auto", [LOOKS, GOES], None),
        ([LOOK], "none", [LOOKS], {"mode": "NONE"}),
        ([LOOK], "required", [LOOKS], {"mode": "ANY"}),
        (
            [LOOK, GO],
            {"type": "function", "function": {"name": "go"}},
            [LOOKS, GOES],
            {"mode": "ANY", "allowedFunctionNames": ["go"]},
        ),
        (
            [LOOK, GO],
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [GO]}},
            [GOES],
            None,
        ),
        (
            [LOOK, GO],
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [GO, LOOK]}},
            [LOOKS, GOES],
            {"mode": "ANY", "allowedFunctionNames": ["go", "look"]},
        ),
    ]

    def test_cases(self):
        for declared, choice, expected, calling in self.CASES:
            with self.subTest(choice=choice, declared=declared):
                changed = []
                made = gemini_fields.tools(declared, choice, {}, changed)
                wanted = {"tools": [{"functionDeclarations": expected}]} if expected else {}
                wanted |= {"toolConfig": {"functionCallingConfig": calling}} if calling else {}
                self.assertEqual(made, wanted)
                self.assertEqual(changed, [])

    def test_a_custom_tool_is_a_function_with_one_text(self):
        changed = []
        made = gemini_fields.tools([CUSTOM], {"type": "custom", "custom": {"name": "patch"}}, {}, changed)
        [declared] = made["tools"][0]["functionDeclarations"]
        self.assertEqual([*declared["parametersJsonSchema"]["properties"]], ["input"])
        self.assertEqual(made["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"], ["patch"])
        self.assertIn("patch", changed[0])

    def test_the_callers_own_declarations(self):
        own = {"name": "look", "parameters": {"type": "OBJECT", "propertyOrdering": ["a"]}}
        made = gemini_fields.tools([LOOK, GO], "auto", {"tools": {"look": own}, "mode": "VALIDATED"}, [])
        self.assertEqual(made["tools"][0]["functionDeclarations"], [own, GOES])
        self.assertEqual(made["toolConfig"], {"functionCallingConfig": {"mode": "VALIDATED"}})
        made = gemini_fields.tools([LOOK], "required", {"mode": "VALIDATED"}, [])
        self.assertEqual(made["toolConfig"], {"functionCallingConfig": {"mode": "ANY"}})
