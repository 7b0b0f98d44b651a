import http.client
import json
import unittest
from typing import Any
from urllib.parse import urlsplit

from scripts.driven.brain import MODELS, PIECE, Brain
from scripts.driven.plans import Json

READ = {
    "type": "function",
    "function": {"name": "read", "parameters": {"properties": {"path": {"type": "string"}}}},
}
STEPS = [{"do": "read", "path": "a rather long path"}, {"do": "read", "path": "b"}]
ASK = {"role": "user", "content": "PLAN " + json.dumps({"steps": STEPS, "final": "END"})}
FIRST = {"id": "call_1_0", "type": "function", "function": {"name": "read", "arguments": "{}"}}
BEGUN = [ASK, {"role": "assistant", "tool_calls": [FIRST]}, {"role": "tool", "tool_call_id": "call_1_0"}]


class Behaviour(unittest.TestCase):
    def setUp(self) -> None:
        self.brain = self.enterContext(Brain())

    def post(self, path: str = "/chat/completions", **body: Any) -> tuple[int, dict[str, str], bytes]:
        where = urlsplit(self.brain.base)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=10)
        try:
            connection.request("POST", where.path + path, json.dumps(body))
            reply = connection.getresponse()
            heads = {name.lower(): value for name, value in reply.getheaders()}
            try:
                return reply.status, heads, reply.read()
            except http.client.IncompleteRead as cut:
                return reply.status, heads, cut.partial
        finally:
            connection.close()

    def streamed(self, **body: Any) -> tuple[Json, bool]:
        """The message that the chunks make, and whether they came to an end."""
        raw = self.post(stream=True, **body)[2].decode()
        lines = [line.removeprefix("data: ") for line in raw.splitlines() if line]
        message: Json = {"content": "", "calls": {}}
        for chunk in map(json.loads, filter(lambda line: line != "[DONE]", lines)):
            for choice in chunk["choices"]:
                message["content"] += choice["delta"].get("content") or ""
                for call in choice["delta"].get("tool_calls") or ():
                    self.assertLessEqual(len(call["function"]["arguments"]), PIECE)
                    before = message["calls"].get(call["index"], "")
                    message["calls"][call["index"]] = before + call["function"]["arguments"]
        return message, "[DONE]" in lines

    def test_streamed_and_whole_say_the_same(self) -> None:
        whole = json.loads(self.post(model="first", messages=[ASK], tools=[READ])[2])["choices"][0]
        message, ended = self.streamed(model="first", messages=[ASK], tools=[READ])
        self.assertTrue(ended)
        self.assertEqual(message["content"], whole["message"]["content"])
        arguments = whole["message"]["tool_calls"][0]["function"]["arguments"]
        self.assertEqual(message["calls"], {0: arguments})
        self.assertEqual(json.loads(arguments), {"path": "a rather long path"})
        self.assertEqual(whole["finish_reason"], "tool_calls")

    def test_usage_comes_when_it_is_asked_for(self) -> None:
        ask = {"model": "first", "messages": [ASK], "stream": True}
        self.assertNotIn(b"usage", self.post(**ask)[2])
        self.assertIn(b"usage", self.post(**ask, stream_options={"include_usage": True})[2])

    def test_one_is_always_asked_too_much(self) -> None:
        status, heads, _ = self.post(model="limited", messages=[ASK])
        self.assertEqual((status, heads["retry-after"]), (429, "1"))

    def test_one_dies_in_its_second_turn_only(self) -> None:
        self.assertTrue(self.streamed(model="dying", messages=[ASK], tools=[READ])[1])
        message, ended = self.streamed(model="dying", messages=BEGUN, tools=[READ])
        self.assertFalse(ended)
        self.assertTrue(message["content"], "it had begun to speak")
        self.assertTrue(self.streamed(model="first", messages=BEGUN, tools=[READ])[1])
        with self.assertRaises(http.client.RemoteDisconnected):
            self.post(model="dying", messages=BEGUN, tools=[READ])

    def test_it_speaks_nothing_else_and_keeps_what_it_was_asked(self) -> None:
        for path in ("/messages", "/responses", "/completions"):
            with self.subTest(path):
                self.assertEqual(self.post(path, model="first")[0], 404)
        self.post(model="first", messages=[ASK])
        self.assertEqual([body["messages"] for body in self.brain.asked], [[ASK]])

    def test_it_lists_its_models(self) -> None:
        where = urlsplit(self.brain.base)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=10)
        connection.request("GET", "/v1/models")
        listed = json.loads(connection.getresponse().read())["data"]
        connection.close()
        self.assertEqual(tuple(model["id"] for model in listed), MODELS)


if __name__ == "__main__":
    unittest.main()
