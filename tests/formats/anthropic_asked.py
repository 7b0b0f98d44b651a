"""What the tests of Anthropic's format ask, and a strict reader of what they get."""

import json

from metrics.formats import anthropic
from metrics.formats.protocol import Stamp
from metrics.records import Request
from metrics.web.table import Call
from tests.formats.naming import naming

HELLO = [{"role": "user", "content": "hello"}]
B64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwC"
PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": B64}}
SEEN = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{B64}"}}
TOOL = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}
FUNCTION = {
    "type": "function",
    "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}},
}
USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {"a": "é"}}
CALL = {"id": "t1", "type": "function", "function": {"name": "look", "arguments": '{"a":"é"}'}}
MARK = {"type": "ephemeral"}
BILLING = "x-anthropic-billing-header: cc_version=2.1.150; cch=abc12;"
SCHEMA = {"type": "json_schema", "schema": {"type": "object"}}
STAMP = Stamp("ab12", 1_796_000_000)


def text(said, **more):
    return {"type": "text", "text": said, **more}


def result(content, use="t1", **more):
    return {"type": "tool_result", "tool_use_id": use, "content": content, **more}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def body(**fields):
    return {"model": "bench/core", "max_tokens": 100, "messages": HELLO, **fields}


def request(fields, path="/v1/messages", headers=None):
    return Call("POST", path, headers or {}, json.dumps(fields).encode(), request_id="req-1")


def resolving(mode):
    return naming(lambda model, reply=None: ("core", reply or mode))


def parse(mode="route", headers=None, **fields):
    with resolving(mode):
        return anthropic.parse(request(body(**fields), headers=headers))


class Reader:
    """A strict reader of Anthropic's streams: AssertionError for whatever a client could stumble over."""

    def __init__(self):
        self.buffer = b""
        self.message = self.error = None
        self.ended = False
        self.open = None
        self.blocks = []
        self.pings = 0

    def feed(self, piece):
        self.buffer += piece
        while b"\n\n" in self.buffer:
            frame, self.buffer = self.buffer.split(b"\n\n", 1)
            name, told = frame.decode().split("\n")
            value = json.loads(told.removeprefix("data: "))
            assert name == f"event: {value['type']}", name
            assert not self.ended and not self.error, f"{name} after the end"
            getattr(self, "on_" + value["type"])(value)

    def on_ping(self, value):
        self.pings += 1

    def on_message_start(self, value):
        assert self.message is None
        self.message = value["message"]

    def on_content_block_start(self, value):
        assert self.message and self.open is None, "two blocks are open"
        assert value["index"] == len(self.blocks)
        self.open = value["index"]
        self.blocks.append({**value["content_block"], "pieces": []})

    def on_content_block_delta(self, value):
        assert value["index"] == self.open
        block, delta = self.blocks[-1], value["delta"]
        kinds = {
            "text": ("text_delta", "text"),
            "tool_use": ("input_json_delta", "partial_json"),
            "thinking": ("thinking_delta", "thinking"),
        }
        if delta["type"] == "signature_delta":
            assert block["type"] == "thinking"
            block["signature"] = delta["signature"]
            block["signed"] = True
            return
        kind, field = kinds[block["type"]]
        assert delta["type"] == kind and "signed" not in block
        block["pieces"].append(delta[field])

    def on_content_block_stop(self, value):
        assert value["index"] == self.open
        assert self.blocks[-1]["type"] != "thinking" or self.blocks[-1]["signed"]
        self.open = None

    def on_message_delta(self, value):
        assert self.open is None
        self.last = value

    def on_message_stop(self, value):
        assert self.last
        self.ended = True

    def on_error(self, value):
        self.error = value

    def of(self, kind):
        return ["".join(block["pieces"]) for block in self.blocks if block["type"] == kind]

    @property
    def calls(self):
        uses = [block for block in self.blocks if block["type"] == "tool_use"]
        return [(use["id"], use["name"], json.loads("".join(use["pieces"]) or "{}")) for use in uses]


REQUEST = Request("bench/core:route", "core", "route", HELLO, framing="thinking")


def written(events, request=REQUEST):
    return b"".join(anthropic.stream(request, iter(events), STAMP))


def heard(events, request=REQUEST):
    reader = Reader()
    reader.feed(written(events, request))
    assert not reader.buffer
    return reader
