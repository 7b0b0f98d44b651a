import json
import unittest

from scripts.bench import stamped
from scripts.bench.stamped import Manner


class Machine:
    """A clock in nanoseconds that only sleeping moves, and each chunk a little."""

    def __init__(self):
        self.now = 5_000_000_000
        self.sent = []
        self.slept = []

    def clock(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(round(seconds, 6))
        self.now += round(seconds * 1e9)

    def send(self, data):
        self.sent.append(data)
        self.now += 3_000_000


def events(sent):
    """The events of what was sent, taken out of its transfer coding."""
    got = b"".join(sent)
    head, _, rest = got.partition(b"\r\n\r\n")
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        body, rest = body + rest[:length], rest[length + 2 :]
    lines = [line for line in body.split(b"\n") if line.startswith(b"data: {")]
    return [json.loads(line[6:]) for line in lines]


class ManneredTest(unittest.TestCase):
    def test_a_models_name_says_how_it_answers(self):
        cases = [
            (b'{"model":"mock-1","stream":true}', Manner()),
            (b'{"model":"mock","stream":true}', Manner()),
            (b'{"model":"mock-d50"}', Manner(0.05)),
            (b'{"model": "mock-c100", "stream": true}', Manner(0.0, 0.0, 100)),
            (b'{"stream":true,"model":"mock-g20-c50"}', Manner(0.0, 0.02, 50)),
            (b'{"model":"mock-d5-g20-c50","stream":true}', Manner(0.005, 0.02, 50)),
            (b'{"model":"mock-c100","stream":false}', Manner()),
            (b'{"model":"another-c100","stream":true}', Manner()),
        ]
        for body, expected in cases:
            with self.subTest(body):
                self.assertEqual(stamped.manner(body), expected)


class StreamTest(unittest.TestCase):
    def test_chunks_are_sent_one_by_one_with_the_time(self):
        for messages in (False, True):
            machine = Machine()
            stamped.stream(machine.send, Manner(count=3), messages, machine.clock, machine.sleep)
            with self.subTest(messages=messages):
                self.assertEqual(len(machine.sent), 3 + 2)
                stamps = [int(found[1]) for found in map(stamped.STAMP.search, machine.sent) if found]
                self.assertEqual(stamps, [5_003_000_000, 5_006_000_000, 5_009_000_000])
                self.assertEqual(machine.slept, [])
                self.assertTrue(machine.sent[-1].endswith(b"0\r\n\r\n"))
                self.assertIn(b"dog.", machine.sent[-2])

    def test_a_late_chunk_makes_no_other_one_late(self):
        machine = Machine()
        stamped.stream(machine.send, Manner(gap=0.02, count=3), False, machine.clock, machine.sleep)
        self.assertEqual(machine.slept, [0.0, 0.017, 0.017])

        slow = Machine()
        stamped.stream(slow.send, Manner(gap=0.002, count=3), False, slow.clock, slow.sleep)
        self.assertEqual(slow.slept, [0.0, 0.0, 0.0])

    def test_both_formats_say_the_same(self):
        texts = {}
        for messages in (False, True):
            machine = Machine()
            stamped.stream(machine.send, Manner(count=4), messages, machine.clock, machine.sleep)
            said = events(machine.sent)
            if messages:
                kinds = [event["type"] for event in said]
                self.assertEqual(kinds[0], "message_start")
                self.assertEqual(kinds[-1], "message_stop")
                texts[messages] = [e["delta"]["text"] for e in said if e["type"] == "content_block_delta"]
            else:
                self.assertEqual(said[-1]["usage"]["completion_tokens"], 100)
                deltas = [e["choices"][0]["delta"] for e in said if e["choices"]]
                texts[messages] = [delta["content"] for delta in deltas if delta.get("content")]
        self.assertEqual(texts[False], texts[True])
        self.assertEqual(len(texts[False]), 4)


class DelaysTest(unittest.TestCase):
    def test_each_chunk_is_found_once_however_it_is_cut(self):
        got = b"a #1000000000# b #1500000000# c"
        for cut in range(len(got) + 1):
            with self.subTest(cut=cut):
                first, seen = stamped.delays(got[:cut], 0, 2_000_000_000)
                second, seen = stamped.delays(got, seen, 2_000_000_000)
                self.assertEqual([*first, *second], [1.0, 0.5])
                self.assertEqual(stamped.delays(got, seen, 9_000_000_000), ([], seen))
