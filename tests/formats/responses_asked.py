"""What the tests of Responses ask: a body around a call, and input items of every kind that is read."""

import unittest

from metrics.formats import openai_responses
from metrics.records import Problem
from tests.formats.naming import naming

HELLO = {"role": "user", "content": "hello"}
PICTURE = "data:image/png;base64,iVBORw0KGgo="
TOOL = {
    "type": "function",
    "name": "look",
    "description": "d",
    "parameters": {"type": "object"},
    "strict": True,
}
CUSTOM = {"type": "custom", "name": "patch", "description": "d"}
NAMESPACE = {
    "type": "namespace",
    "name": "mcp__a",
    "tools": [{"type": "function", "name": "look"}, {"type": "function", "name": "spawn"}],
}

ASKED = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "x", "annotations": []}],
    },
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "x"},
    {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c2", "name": "patch", "input": "x"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "x"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"},
]


class Body:
    """A call that holds only a body, and headers."""

    key = None

    def __init__(self, headers=None, **fields):
        self.headers = headers or {}
        self.fields = {"model": "bench/core", "input": "hello", **fields}

    def json(self):
        return self.fields


def parse(headers=None, **fields):
    with naming(lambda model, reply=None: ("core", reply or "all")):
        return openai_responses.parse(Body(headers, **fields))


def refused(**fields):
    """What is said of a request that must be refused with 400: the message and the field."""
    with unittest.TestCase().assertRaises(Problem) as caught:
        parse(**fields)
    unittest.TestCase().assertEqual(caught.exception.status, 400)
    return f"{caught.exception.message} {caught.exception.param}"
