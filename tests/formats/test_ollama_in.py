import unittest

from metrics.formats import ollama
from metrics.records import Problem
from tests.formats import mutants
from tests.formats.naming import naming
from tests.formats.ollama_asked import CALLS, HELLO, PICTURE, PNG, TOOLS, chat, generate, resolved


class ChatTest(unittest.TestCase):
    CASES = [
        ("as it is", HELLO, HELLO),
        (
            "roles in capitals, thoughts left out",
            [
                {"role": "System", "content": "s"},
                *HELLO,
                {"role": "assistant", "content": "a", "thinking": "hm"},
                {"role": "assistant", "content": "", "thinking": "hm"},
                *HELLO,
            ],
            [{"role": "system", "content": "s"}, *HELLO, {"role": "assistant", "content": "a"}, *HELLO],
        ),
        (
            "pictures",
            [{"role": "user", "content": "see", "images": [PNG, f"data:image/png;base64,{PNG}"]}],
            [{"role": "user", "content": [{"type": "text", "text": "see"}, PICTURE, PICTURE]}],
        ),
        (
            "a picture alone",
            [{"role": "user", "images": [PNG.rstrip("=")]}],
            [{"role": "user", "content": [PICTURE]}],
        ),
        (
            "its address",
            [{"role": "user", "content": "", "images": ["https://x.org/a.png"]}],
            [
                {
                    "role": "user",
                    "content": [{"type": "image_url", "image_url": {"url": "https://x.org/a.png"}}],
                }
            ],
        ),
        ("no pictures", [{"role": "user", "content": "hello", "images": None}], HELLO),
    ]

    def test_messages(self):
        for name, messages, wanted in self.CASES:
            with self.subTest(name):
                self.assertEqual(chat(messages=messages).messages, wanted)

    def test_calls_and_results(self):
        for result in (
            {"role": "tool", "content": "row 4", "tool_name": "look"},
            {"role": "tool", "content": "row 4", "name": "look"},
            {"role": "tool", "content": "row 4"},
            {"role": "tool", "content": "row 4", "tool_call_id": "x", "tool_name": "look"},
        ):
            with self.subTest(result=result):
                told = chat(
                    messages=[*HELLO, {"role": "assistant", "content": "", "tool_calls": CALLS}, result]
                ).messages
                self.assertEqual(told[1]["content"], None)
                self.assertEqual(
                    told[1]["tool_calls"],
                    [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "look", "arguments": '{"a":1}'},
                        }
                    ],
                )
                self.assertEqual(told[2], {"role": "tool", "tool_call_id": "call_1", "content": "row 4"})

    def test_ids_are_kept(self):
        calls = [{"id": "a", **CALLS[0]}, {"id": "b", **CALLS[0]}]
        results = [{"role": "tool", "content": call_id, "tool_call_id": call_id} for call_id in ("b", "a")]
        told = chat(messages=[*HELLO, {"role": "assistant", "tool_calls": calls}, *results]).messages
        self.assertEqual([(m["tool_call_id"], m["content"]) for m in told[2:]], [("b", "b"), ("a", "a")])

    def test_a_result_with_a_picture(self):
        result = {"role": "tool", "content": "taken", "images": [PNG]}
        calls = {"role": "assistant", "tool_calls": [*CALLS, *CALLS]}
        told = chat(messages=[*HELLO, calls, result, {"role": "tool", "content": "2"}, *HELLO]).messages
        self.assertEqual([m["role"] for m in told], ["user", "assistant", "tool", "tool", "user", "user"])
        self.assertEqual(told[4]["content"], [PICTURE])
        last = chat(messages=[*HELLO, calls, result]).messages[-1]
        self.assertEqual(last, {"role": "user", "content": [PICTURE]})

    def test_it_streams_unless_told_otherwise(self):
        for given, wanted in [(None, True), (True, True), (False, False)]:
            with self.subTest(given=given):
                self.assertEqual(chat(stream=given).stream, wanted)
        self.assertTrue(chat().stream)
        self.assertEqual((chat().framing, generate().framing), ("chat", "generate"))

    OPTIONS = {
        "temperature": 0.5,
        "top_p": 1,
        "seed": 7.0,
        "stop": ["a", "b", "c", "d", "e"],
        "num_predict": 300.0,
        "num_ctx": 8192,
        "top_k": 5,
        "presence_penalty": 0.5,
        "mirostat": "anything",
    }

    def test_options(self):
        request = chat(model="bench/core", options=self.OPTIONS, format="json", think=True, keep_alive="5m")
        self.assertEqual(
            request.options,
            {"temperature": 0.5, "top_p": 1, "seed": 7, "stop": list("abcde"), "max_tokens": 300},
        )
        self.assertEqual(request.ignored, ("format", "think", "presence_penalty", "top_k"))
        for options, wanted in [
            ({"num_predict": -1, "seed": -1}, {}),
            ({"num_predict": -2, "stop": ""}, {}),
            ({"num_predict": 0, "stop": []}, {}),
            ({"stop": "x", "seed": 0}, {"stop": ["x"], "seed": 0}),
            (dict.fromkeys(self.OPTIONS), {}),
            (None, {}),
        ]:
            with self.subTest(options=options):
                self.assertEqual(chat(options=options).options, wanted)

    def test_what_route_mode_passes_on(self):
        schema = {"type": "object", "properties": {"any_of": {"type": "string"}}}
        for given, wanted in [
            ({"format": "json"}, {"response_format": {"type": "json_object"}}),
            (
                {"format": schema},
                {
                    "response_format": {
                        "type": "json_schema",
                        "json_schema": {"name": "response", "schema": schema},
                    }
                },
            ),
            ({"format": ""}, {}),
            ({"format": None, "think": None}, {}),
            ({"think": True}, {"reasoning_effort": "medium"}),
            ({"think": False}, {"reasoning_effort": "none"}),
            ({"think": "high"}, {"reasoning_effort": "high"}),
            ({"options": {"frequency_penalty": 1}}, {"frequency_penalty": 1}),
        ]:
            with self.subTest(given=given):
                self.assertEqual(chat(**given).passed, wanted)
        self.assertEqual(chat(tools=TOOLS).tools, TOOLS)
        self.assertEqual(
            chat(tools=[{"function": {"name": "f", "parameters": None}}]).tools[0]["function"], {"name": "f"}
        )

    REFUSED = [
        ("no messages", {"messages": None}, "messages"),
        ("messages in words", {"messages": "x"}, "messages"),
        ("a message in words", {"messages": ["x"]}, "messages[0]"),
        ("no user", {"messages": [{"role": "system", "content": "x"}]}, "user message"),
        ("an empty user", {"messages": [{"role": "user", "content": ""}]}, "user message"),
        ("an unknown role", {"messages": [{"role": "banana", "content": "x"}]}, "messages[0].role"),
        ("no role", {"messages": [{"content": "x"}]}, "messages[0].role"),
        ("content in parts", {"messages": [{"role": "user", "content": []}]}, "messages[0].content"),
        ("no picture", {"messages": [{"role": "user", "images": ["%"]}]}, "images[0]"),
        ("pictures in words", {"messages": [{"role": "user", "images": PNG}]}, "messages[0].images"),
        ("a picture of a number", {"messages": [{"role": "user", "images": [5]}]}, "images[0]"),
        (
            "a file",
            {"messages": [{"role": "user", "images": ["data:application/pdf;base64,JVBERi0x"]}]},
            "pdf",
        ),
        (
            "a result of nothing",
            {"messages": [*HELLO, {"role": "tool", "content": "x"}]},
            "answers no open call",
        ),
        ("calls in words", {"messages": [*HELLO, {"role": "assistant", "tool_calls": "x"}]}, "tool_calls"),
        (
            "a call of nothing",
            {"messages": [*HELLO, {"role": "assistant", "tool_calls": [{}]}]},
            "tool_calls[0]",
        ),
        (
            "arguments in words",
            {
                "messages": [
                    *HELLO,
                    {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "x"}}]},
                ]
            },
            "arguments",
        ),
        ("tools in words", {"tools": "x"}, '"tools"'),
        ("a hosted tool", {"tools": [{"type": "web_search"}]}, "web_search"),
        ("a tool without a name", {"tools": [{"type": "function", "function": {}}]}, "tools[0]"),
        ("a schema in words", {"tools": [{"function": {"name": "f", "parameters": "x"}}]}, "parameters"),
        ("hot", {"options": {"temperature": 9}}, '"temperature"'),
        ("options in words", {"options": "x"}, '"options"'),
        ("half a token", {"options": {"num_predict": 1.5}}, '"num_predict"'),
        ("stops of numbers", {"options": {"stop": [1]}}, '"stop"'),
        ("another format", {"format": "yaml"}, '"format"'),
        ("a list as format", {"format": []}, '"format"'),
        ("much thinking", {"think": "much"}, '"think"'),
        ("thinking by number", {"think": 5}, '"think"'),
        ("stream in words", {"stream": "yes"}, '"stream"'),
    ]

    def test_refused(self):
        for name, fields, said in self.REFUSED:
            with self.subTest(name):
                with self.assertRaises(Problem) as caught:
                    chat(**fields)
                self.assertEqual(caught.exception.status, 400)
                self.assertIn(said, f"{caught.exception.message} {caught.exception.param}")

    def test_a_panel_takes_no_tools(self):
        for fields in ({"tools": TOOLS}, {"messages": [*HELLO, {"role": "assistant", "tool_calls": CALLS}]}):
            with self.subTest(fields=fields), self.assertRaises(Problem) as caught:
                chat(model="bench/core", **fields)
            self.assertIn(":route", caught.exception.message)
        self.assertEqual(chat(model="bench/core", tools=[]).messages, HELLO)

    def test_wishes(self):
        request = chat(model="bench/core", **{"with": ["x"], "bench": {"deadline": 2.5, "reply": "merged"}})
        self.assertEqual((request.invited, request.deadline, request.reply), (("x",), 2.5, "merged"))


class GenerateTest(unittest.TestCase):
    def test_prompts(self):
        system = {"role": "system", "content": "s"}
        for fields, wanted in [
            ({}, HELLO),
            ({"system": "s", "context": [], "suffix": "", "raw": False}, [system, *HELLO]),
            ({"images": [PNG]}, [{"role": "user", "content": [{"type": "text", "text": "hello"}, PICTURE]}]),
            ({"prompt": "", "images": [PNG]}, [{"role": "user", "content": [PICTURE]}]),
        ]:
            with self.subTest(fields=fields):
                self.assertEqual(generate(**fields).messages, wanted)
        self.assertEqual(generate(template="{{ .Prompt }}").ignored, ("template",))

    def test_refused(self):
        for fields, said in [
            ({"context": [1, 2]}, "/api/chat"),
            ({"suffix": "x"}, "suffix"),
            ({"raw": True, "template": "x"}, "raw"),
            ({"prompt": 5}, '"prompt" must be a string'),
            ({"prompt": ""}, '"prompt"'),
            ({"prompt": ["a", "b"]}, '"prompt"'),
            ({"system": 5}, '"system"'),
            ({"images": "x"}, '"images"'),
        ]:
            with self.subTest(fields=fields), self.assertRaises(Problem) as caught:
                generate(**fields)
            self.assertEqual(caught.exception.status, 400)
            self.assertIn(said, f"{caught.exception.message} {caught.exception.param}")

    def test_careless_and_hostile_bodies(self):
        good_chat = {
            "model": "bench/core:route",
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": "x", "images": [PNG]},
                {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": CALLS},
                {"role": "tool", "content": "x", "tool_name": "look", "images": [PNG]},
            ],
            "stream": True,
            "format": {"type": "object"},
            "options": ChatTest.OPTIONS,
            "keep_alive": 0,
            "tools": TOOLS,
            "think": "low",
            "with": ["x"],
            "bench": {"quorum": 1},
        }
        good_prompt = {
            "model": "bench/core:route",
            "prompt": "x",
            "suffix": None,
            "system": "s",
            "template": "t",
            "context": [],
            "raw": False,
            "images": [PNG],
            "options": {"stop": "x"},
            "keep_alive": "5m",
        }
        taken = 0
        with naming(resolved):
            for path, good in (("/api/chat", good_chat), ("/api/generate", good_prompt)):
                for number, body in enumerate(mutants.bodies(good, 7, 1000)):
                    with self.subTest(number=number, body=body[:300]):
                        taken += mutants.refused_well(ollama.parse, path, {}, body) is None
                        mutants.refused_well(ollama.at_once, path, {}, body)
        self.assertGreater(taken, 100)
