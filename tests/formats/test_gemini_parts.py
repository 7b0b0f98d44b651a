import base64
import unittest

from metrics.records import Problem
from tests.formats.gemini_asked import (
    CALL,
    HELLO,
    PICTURE,
    PNG,
    RESPONSE,
    SAID,
    URL_SAFE,
    model,
    parse,
    turns,
    user,
)


class ConversationTest(unittest.TestCase):
    CASES = [
        ("one text", [user({"text": "a"})], [{"role": "user", "content": "a"}]),
        ("no role", [{"parts": [{"text": "a"}]}], [{"role": "user", "content": "a"}]),
        ("one object for a list", {"parts": {"text": "a"}}, [{"role": "user", "content": "a"}]),
        (
            "several texts",
            [user({"text": "a"}, {"text": ""}, {"text": "b"})],
            [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
        ),
        (
            "a model's text in pieces, its thoughts left out",
            [
                user({"text": "a"}),
                model({"text": "hm", "thought": True}, {"text": "b"}, {"text": "c", "thoughtSignature": "x"}),
                model({"text": "d"}, {"thoughtSignature": "y"}),
                user({"text": "e"}),
            ],
            [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": "bcd"},
                {"role": "user", "content": "e"},
            ],
        ),
        (
            "thoughts before a call stay with it",
            [user({"text": "a"}), model({"text": "hm", "thought": True}, CALL)],
            [
                {"role": "user", "content": "a"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "look", "arguments": '{"snake_case":{"inner_key":1}}'},
                        }
                    ],
                    "reasoning_content": "hm",
                },
            ],
        ),
        (
            "a turn that is all thoughts",
            [user({"text": "a"}), model({"text": "hm", "thought": True}), user({"text": "b"})],
            [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
        ),
        (
            "a picture, URL-safe and unlabelled",
            [user({"inline_data": {"data": URL_SAFE, "mime_type": "image/jpg"}})],
            [{"role": "user", "content": [PICTURE]}],
        ),
        (
            "a text file",
            [user({"inlineData": {"mimeType": "text/plain", "data": "w6k_"}})],
            [{"role": "user", "content": "é?"}],
        ),
        (
            "a picture's address",
            [user({"text": "see"}, {"fileData": {"fileUri": "https://x.org/a", "mimeType": "image/png"}})],
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "see"},
                        {"type": "image_url", "image_url": {"url": "https://x.org/a"}},
                    ],
                }
            ],
        ),
        (
            "a picture's address without a type",
            [user({"file_data": {"file_uri": "http://x.org/a.JPG?w=1"}})],
            [
                {
                    "role": "user",
                    "content": [{"type": "image_url", "image_url": {"url": "http://x.org/a.JPG?w=1"}}],
                }
            ],
        ),
    ]

    def test_in_chat_shape(self):
        for name, contents, wanted in self.CASES:
            with self.subTest(name):
                self.assertEqual(parse(contents=contents).messages, wanted)

    def test_system_instruction(self):
        for given in ("s", {"parts": [{"text": "s"}]}, {"role": "user", "parts": {"text": "s"}}):
            for name in ("systemInstruction", "system_instruction"):
                with self.subTest(name=name, given=given):
                    self.assertEqual(parse(**{name: given}).messages[0], {"role": "system", "content": "s"})
        several = {"parts": [{"text": "a"}, {"text": "b"}]}
        self.assertEqual(parse(systemInstruction=several).messages[0]["content"], "a\nb")
        self.assertEqual(parse(systemInstruction=None).messages, SAID)

    def test_calls_and_results(self):
        told = turns(
            user({"text": "both"}),
            model({"text": "I look."}, CALL, CALL),
            {
                "role": "function",
                "parts": [RESPONSE, {"functionResponse": {"name": "look", "response": {"a_b": 1}}}],
            },
            user({"text": "more"}),
        )
        calls = told[1]["tool_calls"]
        self.assertEqual([message["role"] for message in told], ["user", "assistant", "tool", "tool", "user"])
        self.assertEqual(told[1]["content"], "I look.")
        self.assertEqual(
            calls[0]["function"], {"name": "look", "arguments": '{"snake_case":{"inner_key":1}}'}
        )
        self.assertEqual([call["id"] for call in calls], ["call_1", "call_2"])
        self.assertEqual([told[2]["tool_call_id"], told[3]["tool_call_id"]], ["call_1", "call_2"])
        self.assertEqual([told[2]["content"], told[3]["content"]], ["row 4", '{"a_b":1}'])

    def test_ids_are_kept_and_win_over_order(self):
        def called(call_id):
            return {"function_call": {"id": call_id, "name": "look", "args": None}}

        def answered(call_id, text):
            return {"function_response": {"id": call_id, "name": "look", "response": {"output": text}}}

        told = turns(
            user({"text": "x"}),
            model(called("a"), called("b")),
            user(answered("b", "two"), answered("a", "one")),
        )
        self.assertEqual([call["id"] for call in told[1]["tool_calls"]], ["a", "b"])
        self.assertEqual([(m["tool_call_id"], m["content"]) for m in told[2:]], [("b", "two"), ("a", "one")])

    def test_a_result_with_a_picture(self):
        parts = [{"inlineData": {"mimeType": "image/png", "data": PNG}}]
        shot = {"functionResponse": {"name": "look", "response": {"output": "taken"}, "parts": parts}}
        told = turns(user({"text": "x"}), model(CALL), user(shot, {"text": "well?"}))
        self.assertEqual(told[2]["content"], "taken")
        self.assertEqual(told[3]["content"], [PICTURE, {"type": "text", "text": "well?"}])

    def test_signatures(self):
        for given, kept in [
            ("c2ln", "c2ln"),
            ("skip_thought_signature_validator", None),
            (base64.b64encode(b"skip_thought_signature_validator").decode(), None),
            (5, None),
            (None, None),
        ]:
            with self.subTest(given=given):
                part = {**CALL, "thought_signature": given}
                told = turns(user({"text": "x"}), model(part), user(RESPONSE))
                self.assertEqual(told[1]["tool_calls"][0].get("_signature"), kept)

    REFUSED = [
        ("no contents", {"contents": None}, "contents"),
        ("no content", {"contents": []}, "contents"),
        ("contents in words", {"contents": "hello"}, '"contents" must be a list'),
        ("contents of words", {"contents": ["hello"]}, '"contents" must be a list'),
        ("an unknown role", {"contents": [{"role": "assistant", "parts": []}]}, "contents[0].role"),
        ("a role that is no string", {"contents": [{"role": ["user"], "parts": []}]}, "contents[0].role"),
        ("parts in words", {"contents": [{"parts": "x"}]}, "contents[0].parts"),
        ("an empty text", {"contents": [user({"text": ""})]}, "contents"),
        ("no user", {"contents": [model({"text": "x"})]}, "contents"),
        ("a text that is none", {"contents": [user({"text": 5})]}, "contents[0].parts[0].text"),
        ("a part of nothing", {"contents": [user({"sound": 1})]}, "contents[0].parts[0] holds none"),
        ("code that ran", {"contents": [user({"executableCode": {}})]}, "executableCode"),
        (
            "audio",
            {"contents": [user({"inlineData": {"mimeType": "audio/wav", "data": "UklGRgAA"}})]},
            "audio/wav",
        ),
        (
            "a PDF",
            {"contents": [user({"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0x"}})]},
            "pdf",
        ),
        ("no base64", {"contents": [user({"inlineData": {"mimeType": "image/png", "data": "%"}})]}, "base64"),
        ("no data", {"contents": [user({"inlineData": {"mimeType": "image/png"}})]}, "inlineData.data"),
        ("inline data in words", {"contents": [user({"inlineData": "x"})]}, "inlineData must be an object"),
        (
            "text that is none",
            {"contents": [user({"inlineData": {"mimeType": "text/plain", "data": "_w=="}})]},
            "UTF-8",
        ),
        ("a bucket", {"contents": [user({"fileData": {"fileUri": "gs://b/x.png"}})]}, "file at Google"),
        (
            "an uploaded file",
            {
                "contents": [
                    user(
                        {
                            "fileData": {
                                "mimeType": "image/png",
                                "fileUri": "https://generativelanguage.googleapis.com/v1beta/files/x",
                            }
                        }
                    )
                ]
            },
            "file at Google",
        ),
        ("a film", {"contents": [user({"fileData": {"fileUri": "https://youtu.be/x"}})]}, "only pictures"),
        (
            "a document's address",
            {
                "contents": [
                    user({"fileData": {"fileUri": "https://x.org/a.pdf", "mimeType": "application/pdf"}})
                ]
            },
            "only pictures",
        ),
        ("no address", {"contents": [user({"fileData": {"mimeType": "image/png"}})]}, "fileUri"),
        ("a broken address", {"contents": [user({"fileData": {"fileUri": "http://[x"}})]}, "fileUri"),
        ("a call of the user's", {"contents": [user(CALL)]}, "turn of the model"),
        ("a call without a name", {"contents": [*HELLO, model({"functionCall": {}})]}, "functionCall.name"),
        (
            "arguments in a list",
            {"contents": [*HELLO, model({"functionCall": {"name": "f", "args": []}})]},
            "args",
        ),
        ("a result of nothing", {"contents": [user(RESPONSE)]}, "answers no open call"),
        ("a picture of the model's", {"contents": [*HELLO, model({"inlineData": {}})]}, "a model's turn"),
        ("a picture that instructs", {"systemInstruction": {"parts": [{"inlineData": {}}]}}, "only text"),
        ("an instruction of numbers", {"systemInstruction": 5}, "systemInstruction"),
    ]

    def test_refused(self):
        for name, fields, said in self.REFUSED:
            with self.subTest(name):
                with self.assertRaises(Problem) as caught:
                    parse(**fields)
                self.assertEqual(caught.exception.status, 400)
                self.assertIn(said, f"{caught.exception.message} {caught.exception.param}")
