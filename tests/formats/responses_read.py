"""A strict reader of Responses streams, for tests: it checks what the API promises, and puts the response
together from its events as SDKs do."""

import json

TERMINAL = ("response.completed", "response.incomplete", "response.failed")

# What opens an item's inside, says a piece, ends it: (item type, part opened, delta, done, key of the whole).
INSIDES = {
    "message": ("content_part.added", "output_text.delta", "output_text.done", "text"),
    "reasoning": (
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "text",
    ),
    "function_call": (None, "function_call_arguments.delta", "function_call_arguments.done", "arguments"),
    "custom_tool_call": (None, "custom_tool_call_input.delta", "custom_tool_call_input.done", "input"),
}
# The fields that every event of an item's inside names, beside those of all.
NAMED = {
    "output_text.delta": {"content_index", "logprobs", "delta"},
    "output_text.done": {"content_index", "logprobs", "text"},
    "content_part.added": {"content_index", "part"},
    "content_part.done": {"content_index", "part"},
    "reasoning_summary_text.delta": {"summary_index", "delta"},
    "reasoning_summary_text.done": {"summary_index", "text"},
    "reasoning_summary_part.added": {"summary_index", "part"},
    "reasoning_summary_part.done": {"summary_index", "part"},
    "function_call_arguments.delta": {"delta"},
    "function_call_arguments.done": {"name", "arguments"},
    "custom_tool_call_input.delta": {"delta"},
    "custom_tool_call_input.done": {"name", "input"},
}
RESPONSE = {
    *(
        "id",
        "object",
        "created_at",
        "status",
        "completed_at",
        "error",
        "incomplete_details",
        "model",
        "output",
    ),
    *("previous_response_id", "store", "background", "truncation", "usage"),
}


class Reader:
    """Reads a stream piece by piece; raises AssertionError where it breaks a promise. After `end`: `final`
    (the last event's response), `kinds`, `texts` (what the deltas of each item said), `error`."""

    def __init__(self):
        self.buffer, self.kinds, self.items, self.texts, self.error, self.final = b"", [], [], [], None, None
        self.open = None  # the index of the item that is open
        self.done = set()

    def feed(self, piece):
        self.buffer += piece
        while b"\n\n" in self.buffer:
            frame, self.buffer = self.buffer.split(b"\n\n", 1)
            name, line = frame.decode().split("\n", 1)
            assert name.startswith("event: ") and line.startswith("data: ") and "\n" not in line, frame[:80]
            self.hear(name[7:], json.loads(line[6:]))

    def end(self):
        assert self.buffer == b"" and self.final is not None, "the stream has no end"
        return self

    def hear(self, name, event):
        assert self.final is None, f"{name} behind the end"
        assert event["type"] == name
        assert event["sequence_number"] == len(self.kinds), "a number out of order"
        self.kinds.append(name)
        if len(self.kinds) < 3:
            assert name == ("response.created", "response.in_progress")[len(self.kinds) - 1]
        if name == "error":
            assert set(event) == {"type", "sequence_number", "code", "message", "param"}
            self.error = event
        elif "response" in event:
            assert not RESPONSE - set(event["response"])
            self.response(name, event["response"])
        else:
            self.item(name.removeprefix("response."), event)

    def response(self, name, response):
        if name in TERMINAL:
            assert response["status"] == name.removeprefix("response.")
            told = [item["id"] for item in response["output"]]
            assert told == [item["id"] for item in self.items], "the end leaves items out"
            self.final = response
        else:
            assert response["status"] == "in_progress" and response["usage"] is None

    def item(self, name, event):
        index = event["output_index"]
        if name == "output_item.added":
            assert index == len(self.items) and event["item"]["status"] == "in_progress"
            assert self.open in (None, index), "two items open"
            self.open = index
            self.items.append(event["item"])
            self.texts.append("")
            return
        assert index == self.open, f"{name} of an item that is not open"
        kind = self.items[index]["type"]
        _, delta, done, whole = INSIDES[kind]
        if name == "output_item.done":
            assert event["item"]["id"] == self.items[index]["id"] and event["item"]["type"] == kind
            self.items[index] = event["item"]
            self.done.add(index)
            self.open = None
            return
        assert set(event) == {"type", "sequence_number", "item_id", "output_index", *NAMED[name]}, (
            name,
            event,
        )
        assert event["item_id"] == self.items[index]["id"]
        if name == delta:
            assert event["delta"]
            self.texts[index] += event["delta"]
        elif name == done:
            assert event[whole] == self.texts[index], "the end says something else"


def read(pieces):
    reader = Reader()
    for piece in pieces:
        reader.feed(piece)
    return reader.end()


def said(output):
    """(text, reasoning, calls) of a response's output; a call is (id, name, what it is given)."""
    text = reasoning = ""
    calls = []
    for item in output:
        if item["type"] == "message":
            text += "".join(part["text"] for part in item["content"])
        elif item["type"] == "reasoning":
            reasoning += "".join(part["text"] for part in item["summary"])
        else:
            given = item["input"] if "input" in item else json.loads(item["arguments"])
            calls.append((item["call_id"], item["name"], given))
    return text, reasoning, calls
