import http.client
import json
import unittest
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from scripts.driven import brain
from scripts.driven.brain import HELD, MODELS, PIECE, Brain
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

    def test_one_model_keeps_its_callers_waiting(self) -> None:
        with mock.patch.object(brain.time, "sleep") as slept:
            self.assertEqual(self.post(model=HELD, messages=[ASK])[0], 200)
            self.assertEqual(self.post(model=MODELS[0], messages=[ASK])[0], 200)
        self.assertEqual([call.args for call in slept.call_args_list], [(brain.WAIT,), (0,)])

    def test_streamed_and_whole_say_the_same(self) -> None:
        whole = json.loads(self.post(model="plain-a", messages=[ASK], tools=[READ])[2])["choices"][0]
        message, ended = self.streamed(model="plain-a", messages=[ASK], tools=[READ])
        self.assertTrue(ended)
        self.assertEqual(message["content"], whole["message"]["content"])
        arguments = whole["message"]["tool_calls"][0]["function"]["arguments"]
        self.assertEqual(message["calls"], {0: arguments})
        self.assertEqual(json.loads(arguments), {"path": "a rather long path"})
        self.assertEqual(whole["finish_reason"], "tool_calls")

    def test_usage_comes_when_it_is_asked_for(self) -> None:
        ask = {"model": "plain-a", "messages": [ASK], "stream": True}
        self.assertNotIn(b"usage", self.post(**ask)[2])
        self.assertIn(b"usage", self.post(**ask, stream_options={"include_usage": True})[2])

    def test_who_is_asked_first_of_two_is_always_asked_too_much(self) -> None:
        asked = ["limited-b", "limited-a", "limited-b", "plain-a", "limited-a"]
        replies = [self.post(model=model, messages=[ASK]) for model in asked]
        self.assertEqual([reply[0] for reply in replies], [429, 200, 429, 200, 200])
        self.assertEqual(replies[0][1]["retry-after"], "1")

    def test_who_is_asked_first_for_a_second_turn_dies_in_it(self) -> None:
        self.assertTrue(self.streamed(model="dying-a", messages=[ASK], tools=[READ])[1])
        message, ended = self.streamed(model="dying-b", messages=BEGUN, tools=[READ])
        self.assertFalse(ended)
        self.assertTrue(message["content"], "it had begun to speak")
        self.assertTrue(self.streamed(model="dying-b", messages=[ASK], tools=[READ])[1])
        self.assertTrue(self.streamed(model="dying-a", messages=BEGUN, tools=[READ])[1])
        with self.assertRaises(http.client.RemoteDisconnected):
            self.post(model="dying-b", messages=BEGUN, tools=[READ])

    def test_tamed_they_all_behave(self) -> None:
        self.brain.tame = True
        self.assertEqual(self.post(model="limited-a", messages=[ASK])[0], 200)
        self.assertTrue(self.streamed(model="dying-a", messages=BEGUN, tools=[READ])[1])

    def test_it_speaks_nothing_else_and_keeps_what_it_was_asked(self) -> None:
        for path in ("/messages", "/responses", "/completions"):
            with self.subTest(path):
                self.assertEqual(self.post(path, model="plain-a")[0], 404)
        self.post(model="plain-a", messages=[ASK])
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
