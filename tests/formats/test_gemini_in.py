import unittest

from metrics.formats import gemini
from metrics.records import Problem
from tests.formats import mutants
from tests.formats.gemini_asked import (
    CALL,
    DECLARED,
    HELLO,
    RESPONSE,
    SAID,
    URL_SAFE,
    model,
    parse,
    resolved,
    user,
)
from tests.formats.naming import naming


class OptionsTest(unittest.TestCase):
    CONFIG = {
        "temperature": 0.5,
        "top_p": 0.9,
        "maxOutputTokens": 300.0,
        "stop_sequences": ["a", "b", "c", "d", "e"],
        "seed": 7,
        "topK": 40,
        "presence_penalty": 0.5,
        "responseMimeType": "application/json",
        "response_schema": {"type": "OBJECT"},
        "thinkingConfig": {"thinkingLevel": "LOW"},
        "candidateCount": 1,
        "speechConfig": {},
    }

    def test_a_panel_gets_sampling_and_names_the_rest(self):
        request = parse("bench/core", generation_config=self.CONFIG)
        self.assertEqual(
            request.options,
            {"temperature": 0.5, "top_p": 0.9, "max_tokens": 300, "stop": list("abcde"), "seed": 7},
        )
        self.assertEqual(
            request.ignored,
            ("topK", "presence_penalty", "responseMimeType", "response_schema", "thinkingConfig"),
        )
        self.assertEqual(parse(generationConfig={"responseMimeType": "text/plain"}).ignored, ())
        looked = {"mediaResolution": "MEDIA_RESOLUTION_LOW"}
        request = parse("bench/core", generationConfig=looked, safetySettings=[{"category": "c"}])
        self.assertEqual(request.ignored, ("mediaResolution", "safetySettings"))

    def test_route_mode_passes_on_what_chat_has(self):
        request = parse(generationConfig=self.CONFIG)
        self.assertEqual(request.passed["presence_penalty"], 0.5)
        self.assertEqual(request.passed["reasoning_effort"], "low")
        self.assertEqual(
            request.passed["response_format"],
            {"type": "json_schema", "json_schema": {"name": "response", "schema": {"type": "object"}}},
        )

    def test_what_is_cached_at_google_is_for_members_there(self):
        name = {"cachedContent": "cachedContents/x"}
        self.assertEqual(parse(**name).native, name)
        with self.assertRaises(Problem) as caught:
            parse("bench/core", **name)
        self.assertEqual((caught.exception.status, caught.exception.param), (400, "cachedContent"))

    def test_response_formats(self):
        schema = {"type": "object", "properties": {"some_name": {"type": "string"}}}
        wanted = {"type": "json_schema", "json_schema": {"name": "response", "schema": schema}}
        for config, format_ in [
            ({"responseMimeType": "application/json"}, {"type": "json_object"}),
            ({"responseMimeType": "text/plain"}, None),
            ({"response_json_schema": schema}, wanted),
            ({"responseSchema": {"type": "OBJECT", "properties": {"some_name": {"type": "STRING"}}}}, wanted),
            ({"responseFormat": [{"text": {"mimeType": "APPLICATION_JSON", "schema": schema}}]}, wanted),
            ({"responseFormat": {"text": {"mime_type": "application/json"}}}, {"type": "json_object"}),
        ]:
            with self.subTest(config=config):
                self.assertEqual(parse(generationConfig=config).passed.get("response_format"), format_)

    def test_thinking(self):
        for thinking, effort in [
            ({"includeThoughts": True}, None),
            ({"thinkingBudget": -1}, None),
            ({"thinking_budget": 0}, "none"),
            ({"thinkingBudget": 1024}, "low"),
            ({"thinkingBudget": 8000}, "medium"),
            ({"thinkingBudget": 24576}, "high"),
            ({"thinkingLevel": "minimal"}, "minimal"),
            ({"thinkingLevel": "HIGH", "thinkingBudget": 0}, "high"),
            ({"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"}, None),
        ]:
            with self.subTest(thinking=thinking):
                request = parse(generationConfig={"thinkingConfig": thinking})
                self.assertEqual(request.passed.get("reasoning_effort"), effort)

    def test_tools(self):
        schema = {"type": "object", "properties": {"a_b": {"type": "string"}}}
        named = [{"name": "f", "description": "d", "parametersJsonSchema": schema}, {"name": "g"}]
        for tools in ([{"function_declarations": named}], {"functionDeclarations": named}):
            with self.subTest(tools=tools):
                made = parse(tools=tools).tools
                self.assertEqual(
                    made[0],
                    {"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}},
                )
                self.assertEqual(made[1]["function"]["parameters"], {"type": "object", "properties": {}})
        self.assertEqual(parse("bench/core", tools=[]).tools, [])

    def test_tool_choice(self):
        for config, choice, left in [
            ({}, None, ["look", "go"]),
            ({"mode": "AUTO"}, "auto", ["look", "go"]),
            ({"mode": "any"}, "required", ["look", "go"]),
            ({"mode": "NONE"}, "none", ["look", "go"]),
            ({"mode": "VALIDATED"}, "auto", ["look", "go"]),
            (
                {"mode": "ANY", "allowed_function_names": ["go"]},
                {"type": "function", "function": {"name": "go"}},
                ["go"],
            ),
            ({"mode": "ANY", "allowedFunctionNames": ["go", "look"]}, "required", ["look", "go"]),
            ({"mode": "AUTO", "allowedFunctionNames": ["go"]}, "auto", ["go"]),
        ]:
            with self.subTest(config=config):
                request = parse(tools=[DECLARED], tool_config={"function_calling_config": config})
                self.assertEqual(request.passed.get("tool_choice"), choice)
                self.assertEqual([tool["function"]["name"] for tool in request.tools], left)
        self.assertNotIn("tool_choice", parse(toolConfig={"functionCallingConfig": {"mode": "ANY"}}).passed)

    def test_streams_and_wishes(self):
        request = parse(
            method="streamGenerateContent",
            query="?alt=sse&key=k",
            **{"with": ["x"], "bench": {"deadline": 2.5}},
        )
        self.assertEqual((request.stream, request.framing), (True, "sse"))
        self.assertEqual((request.invited, request.deadline, request.reply), (("x",), 2.5, "route"))
        request = parse("bench/core", method="streamGenerateContent", bench={"reply": "merged"})
        self.assertEqual((request.stream, request.framing, request.reply), (True, "array", "merged"))
        self.assertFalse(parse().stream)

    def test_nulls_count_as_absent(self):
        names_ = (
            "tools",
            "toolConfig",
            "systemInstruction",
            "generationConfig",
            "safetySettings",
            "with",
            "bench",
        )
        request = parse(**dict.fromkeys(names_))
        self.assertEqual((request.messages, dict(request.options), dict(request.passed)), (SAID, {}, {}))
        config = dict.fromkeys(self.CONFIG)
        self.assertEqual(dict(parse(generationConfig=config).options), {})

    REFUSED = [
        ("hot", {"temperature": 3}, '"temperature"'),
        ("a true temperature", {"temperature": True}, '"temperature"'),
        ("no tokens", {"maxOutputTokens": 0}, '"maxOutputTokens"'),
        ("half a token", {"maxOutputTokens": 1.5}, '"maxOutputTokens"'),
        ("stops of numbers", {"stopSequences": [1]}, '"stopSequences"'),
        ("two candidates", {"candidateCount": 2}, '"candidateCount" is 2'),
        ("speech", {"responseModalities": ["TEXT", "AUDIO"]}, "AUDIO"),
        ("a schema in words", {"responseSchema": "x"}, "responseSchema"),
        ("a list as schema", {"responseJsonSchema": []}, "responseJsonSchema"),
        ("a value of a list", {"responseMimeType": "text/x.enum"}, "text/x.enum"),
        ("speech, the new way", {"responseFormat": [{"audio": {}}]}, "responseFormat[0]"),
        ("thinking in words", {"thinkingConfig": "much"}, '"thinkingConfig"'),
        ("a penalty in words", {"presencePenalty": "x"}, '"presencePenalty"'),
    ]
    REFUSED_TOOLS = [
        ("search", {"tools": [{"googleSearch": {}}]}, "googleSearch"),
        ("search in snake case", {"tools": [{"google_search_retrieval": {}}]}, "googleSearchRetrieval"),
        ("code", {"tools": [DECLARED, {"codeExecution": {}}]}, "tools[1]"),
        ("tools in words", {"tools": "x"}, '"tools" must be a list'),
        (
            "a function without a name",
            {"tools": [{"functionDeclarations": [{}]}]},
            "functionDeclarations[0].name",
        ),
        (
            "parameters in words",
            {"tools": [{"functionDeclarations": [{"name": "f", "parameters": "x"}]}]},
            "parameters",
        ),
        ("a mode of nobody's", {"toolConfig": {"functionCallingConfig": {"mode": "MAYBE"}}}, "MAYBE"),
        (
            "a function that is not declared",
            {"tools": [DECLARED], "toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["x"]}}},
            "not declared",
        ),
        ("config in words", {"generationConfig": "x"}, '"generationConfig"'),
    ]

    def test_refused(self):
        cases = [(name, {"generationConfig": config}, said) for name, config, said in self.REFUSED]
        for name, fields, said in cases + self.REFUSED_TOOLS:
            with self.subTest(name):
                with self.assertRaises(Problem) as caught:
                    parse(**fields)
                self.assertEqual(caught.exception.status, 400)
                self.assertIn(said, f"{caught.exception.message} {caught.exception.param}")

    def test_a_panel_takes_no_tools(self):
        for fields in ({"tools": [DECLARED]}, {"contents": [*HELLO, model(CALL), user(RESPONSE)]}):
            with self.subTest(fields=fields), self.assertRaises(Problem) as caught:
                parse("bench/core", **fields)
            self.assertIn(":route", caught.exception.message)

    def test_careless_and_hostile_bodies(self):
        good = {
            "contents": [
                {
                    "role": "user",
                    "parts": [{"text": "x"}, {"inline_data": {"data": URL_SAFE, "mime_type": "x"}}],
                },
                {
                    "role": "model",
                    "parts": [{**CALL, "thoughtSignature": "c2ln"}, {"text": "t", "thought": True}],
                },
                {"role": "user", "parts": [RESPONSE, {"fileData": {"fileUri": "https://x.org/a.png"}}]},
            ],
            "systemInstruction": {"parts": [{"text": "s"}]},
            "tools": [DECLARED],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look"]}},
            "generationConfig": {**self.CONFIG, "responseModalities": ["TEXT"]},
            "safetySettings": [{"category": "X"}],
            "with": ["x"],
            "bench": {"deadline": 2, "quorum": 1},
        }
        taken = 0
        with naming(resolved):
            for number, body in enumerate(mutants.bodies(good, 20261129, 1500)):
                name = "core:route" if number % 3 else "core"
                with self.subTest(number=number, body=body[:300]):
                    parts = {"name": f"models/{name}"}
                    taken += (
                        mutants.refused_well(gemini.parse, "/v1beta/models/x:generateContent", parts, body)
                        is None
                    )
                    mutants.refused_well(gemini.count_tokens, "/v1beta/models/x:countTokens", parts, body)
        self.assertGreater(taken, 100)
