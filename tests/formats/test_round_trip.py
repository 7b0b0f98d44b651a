"""What a format writes for its caller, the dialect of the same API reads back as the same message."""

import json
import unittest

from metrics.client import chat
from metrics.events import Failed, Text, gather
from metrics.formats import openai_chat
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Request
from tests.client.arrivals import TARGET, Arrived
from tests.effort import effort
from tests.formats.streams import STREAMS

ASKED = Request("core", "core", "all", [{"role": "user", "content": "x"}], include_usage=True)
STAMP = Stamp("ab12", 1_796_000_000)
STEP = effort(61, 7)  # bytes between cuts; the reader's own tests cut at every one


def read(pieces):
    return gather(chat.read(Arrived(pieces), TARGET))


def calls(reply):
    return [(call["id"], call["name"], json.loads(call["arguments"] or "{}")) for call in reply.tool_calls]


class ChatTest(unittest.TestCase):
    def test_every_stream_is_read_back(self):
        for name, events, text, reasoning, called in STREAMS:
            written = b"".join(openai_chat.stream(ASKED, iter(events), STAMP))
            cuts = range(0, min(len(written), 3000), STEP)
            for at in cuts:
                with self.subTest(name, at=at):
                    reply = read([written[:at], written[at:]])
                    self.assertEqual((reply.text, reply.reasoning, calls(reply)), (text, reasoning, called))
                    self.assertEqual(reply.finish, events[-1].finish)
                    spent = events[-1].usage
                    if spent.out is not None:
                        self.assertEqual((reply.usage.prompt, reply.usage.out), (spent.prompt, spent.out))

    def test_a_late_failure_is_read_as_one(self):
        events = [Text("half"), Failed(Problem(429, "slow down, please", retry_after=3))]
        with self.assertRaises(Problem) as caught:
            read([b"".join(openai_chat.stream(ASKED, iter(events), STAMP))])
        self.assertIn("slow down", caught.exception.message)
