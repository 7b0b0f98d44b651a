import json
import unittest

from tests.cases import judge
from tests.cases.judge import NOTHING, Sent, at, holds
from tests.cases.wire import Heard, Reply
from tests.provider import Received

JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream"}
CHUNK = {"index": 0, "delta": {"content": "fine"}, "finish_reason": "stop"}
STREAM = f"data: {json.dumps({'choices': [CHUNK]})}\n\ndata: [DONE]\n\n".encode()
ASKED = {"method": "POST", "path": "/v1/chat/completions?x=1"}


def sent(**body):
    return Sent(
        [("m1", Received("POST", "/v1/chat/completions", {"x-a": "b"}, json.dumps(body).encode(), 1))]
    )


def judged(got, calls=None, **expect):
    return judge.reply(got, ASKED, {"format": "openai-chat", "expect": expect}, calls or sent(n=1))


class ReplyTest(unittest.TestCase):
    FINE = Reply(200, EVENTS, STREAM)
    REFUSED = Reply(404, JSON, b'{"error": "none"}')

    def test_what_holds(self):
        for got, calls, expect in [
            (self.FINE, None, {"assembled": {"text": "fine", "stop": "stop"}, "ends_with": "[DONE]"}),
            (self.FINE, None, {"upstream": [[0, "n", "eq", 1]], "upstream_calls": 1, "matches": ["fi.e"]}),
            (self.FINE, None, {"status": [200, 400], "upstream_by_member": {"m1": {"max": 2}, "m2": 0}}),
            (self.FINE, None, {"any_of": [{"status": 400}, {"contains": ["fine"]}]}),
            (self.REFUSED, Sent([]), {"status": [200, 404], "upstream": [[0, "n", "eq", 1]]}),
            (self.REFUSED, None, {"status": 404, "client": [["error", "type", "string"]]}),
        ]:
            with self.subTest(expect):
                self.assertEqual(judged(got, calls, **expect), [])

    def test_what_does_not(self):
        for got, expect in [
            (None, {}),
            (self.FINE, {"status": 400}),
            (self.FINE, {"assembled": {"text": "other"}}),
            (self.FINE, {"assembled": {"tool_calls": [{}]}}),
            (self.FINE, {"order": ["message_start"]}),
            (self.FINE, {"contains": ["other"]}),
            (self.FINE, {"not_contains": ["fine"]}),
            (self.FINE, {"matches": ["^fine"]}),
            (self.FINE, {"ends_with": "fine"}),
            (self.FINE, {"body_empty": True}),
            (self.FINE, {"headers": [["Content-Type", "matches", "json"]]}),
            (self.FINE, {"upstream": [[0, "n", "eq", 2]]}),
            (self.FINE, {"upstream": [[1, "n", "eq", 1]]}),
            (self.FINE, {"upstream_headers": [[0, "X-A", "eq", "c"]]}),
            (self.FINE, {"upstream_calls": 0}),
            (self.FINE, {"upstream_by_member": {"m2": 1}}),
            (self.FINE, {"upstream_body_contains": ["other"]}),
            (self.FINE, {"upstream_body_not_contains": ['"n"']}),
            (self.FINE, {"upstream_path": "/other"}),
            (self.FINE, {"upstream_path_not_contains": ["completions"]}),
            (self.FINE, {"one_member": True, "upstream_calls": 2}),
            (self.REFUSED, {"status": 404, "client": [["error", "type", "object"]]}),
            (Reply(200, EVENTS, STREAM[:-16]), {}),
            (Reply(200, EVENTS, STREAM, cut=True), {}),
            (Reply(200, EVENTS, STREAM.replace(b"}\n", b"\n")), {}),
            (Reply(200, EVENTS, STREAM, seconds=3), {"max_seconds": 2}),
        ]:
            with self.subTest(expect, got=got):
                self.assertNotEqual(judged(got, **expect), [])

    def test_turns_of_several_members(self):
        two = Sent([*sent(n=1).calls, ("m2", sent(n=1).calls[0][1])])
        self.assertEqual(judged(self.FINE, sent(n=1), one_member=True), [])
        self.assertNotEqual(judged(self.FINE, two, one_member=True), [])

    def test_a_call_without_arguments_is_no_whole_one(self):
        for raw, fine in (("", True), ('{"a', True), ("{}", False)):
            with self.subTest(raw):
                piece = {"index": 0, "id": "c", "function": {"name": "f", "arguments": raw}}
                choice = {"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": "length"}
                told = f"data: {json.dumps({'choices': [choice]})}\n\ndata: [DONE]\n\n".encode()
                self.assertEqual(not judged(Reply(200, EVENTS, told), no_finished_tool_call=True), fine)

    def test_replies_on_one_socket(self):
        for heard, replies, fine in [
            (Heard([self.FINE, None], b"", True), [{}, {"or_closed": True}], True),
            (Heard([self.FINE, None], b"", True), [{}, {}], False),
            (Heard([self.FINE], b"more", True), [{}], False),
            (Heard([self.REFUSED], b"", False), [{"status": 404, "closed": True}], False),
            (Heard([self.REFUSED], b"", True), [{"status": 404, "closed": True}], True),
            (Heard([self.FINE], b"", True, ["no 100"]), [{}], False),
        ]:
            with self.subTest(heard):
                wrong = judge.heard(heard, {"expect": {"replies": replies}}, Sent([]))
                self.assertEqual(not wrong, fine, wrong)


class ValueTest(unittest.TestCase):
    def test_places(self):
        tree = {"a": [{"b": 1}, {"b": None}], "c": [{"text": "x"}, {"type": "image"}, {"text": "y"}]}
        for path, value in [
            ("a.0.b", 1), ("a.-1.b", None), ("a.2.b", NOTHING), ("a.b", NOTHING), ("a.0.b.c", NOTHING),
            ("c~text", "x\n\ny"),
        ]:  # fmt: skip
            with self.subTest(path):
                self.assertEqual(at(tree, path), value)

    def test_operators(self):
        for got, op, value, fine in [
            (1, "eq", 1, True), (1, "eq", True, False), (NOTHING, "eq", None, False), (1, "ne", 2, True),
            ("", "present", None, False), (0, "present", None, True), (True, "type", "number", False),
            ({"a": 1}, "matches", '"a"', True), ("b", "in", ["a"], False), (NOTHING, "in", [None], True),
            (None, "has", "a", False), ("5", "gte", 5, True), (6, "lte", 5, False),
            (NOTHING, "absent", None, True), (None, "absent", None, False), (3, "absent_or_lte", 5, True),
            (NOTHING, "lte", 5, False), (3, "between", [1, 2], False), (1.1, "approx", [1, 0.2], True),
            ([1], "len", 1, True), (1, "eq_path", 1, True), (1, "ne_path", 1, False),
        ]:  # fmt: skip
            with self.subTest(got=got, op=op, value=value):
                self.assertEqual(holds("it", got, op, value) == [], fine)
