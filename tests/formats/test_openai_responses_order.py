"""What stands where in a response: thoughts and their seals, messages and their phases, calls."""

import unittest
from dataclasses import replace

from metrics.events import Reasoning, Text, gather
from metrics.formats.openai_responses_out import reply, stream
from metrics.formats.protocol import Stamp
from metrics.records import Request
from tests.formats.responses_read import read
from tests.formats.streams import CALLED, END, call

STAMP = Stamp("ab12", 1_796_000_000)
REQUEST = Request("bench/core:route", "core", "route", [{"role": "user", "content": "hello"}])


def streamed(*events, request=REQUEST):
    return read(list(stream(request, iter(events), STAMP)))


class OrderTest(unittest.TestCase):
    def test_a_seal_is_given_to_who_asked_for_it(self):
        sealed = {"type": "reasoning", "id": "rs_9", "encrypted_content": "gA"}
        said_so = (
            Reasoning("a"),
            Reasoning("b", sealed=sealed),
            Reasoning("", sealed={**sealed, "encrypted_content": "gB"}),
            Reasoning("c", sealed={"type": "redacted_thinking", "data": "x"}),
            Text("x"),
            END,
        )
        asked = replace(REQUEST, native={"include": ["reasoning.encrypted_content"]})
        for request, expected in (
            (asked, [("ab", "gA"), ("", "gB"), ("c", None)]),
            (REQUEST, [("abc", None)]),
        ):
            output = streamed(*said_so, request=request).final["output"]
            thoughts = [
                ("".join(part["text"] for part in item["summary"]), item["encrypted_content"])
                for item in output[:-1]
            ]
            self.assertEqual((thoughts, output[-1]["type"]), (expected, "message"))
        whole = reply(asked, gather(iter(said_so)), STAMP)["output"]
        self.assertEqual([item.get("encrypted_content") for item in whole], ["gA", "gB", None, None])

    def test_a_whole_reply_has_its_items_in_the_order_of_the_stream(self):
        thought = [Reasoning("hm", sealed={"encrypted_content": "gA"})]
        for said_so in (
            [*thought, Text("a"), *thought, Text("b"), *thought, *call(0, "c1", "look"), CALLED],
            [Text("a"), *call(0, "c1", "look", "{}"), *thought, *call(1, "c2", "look", "{}"), CALLED],
        ):
            whole = reply(REQUEST, gather(iter(said_so)), STAMP)["output"]
            kinds = [item["type"] for item in streamed(*said_so).final["output"]]
            self.assertEqual([item["type"] for item in whole], kinds)

    def test_a_phase_is_a_message_of_its_own(self):
        told = (Text("on ", phase="commentary"), Text("it"), Text("yes", phase="final_answer"), END)
        whole = reply(REQUEST, gather(iter(told)), STAMP)["output"]
        for output in (streamed(*told).final["output"], whole):
            self.assertEqual([item["phase"] for item in output], ["commentary", "final_answer"])
            self.assertEqual([item["content"][0]["text"] for item in output], ["on it", "yes"])
