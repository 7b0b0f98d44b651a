import unittest

from metrics.client.chunks import FINISHES, Chunks
from metrics.events import Opened, Text
from metrics.records import Target

TARGET = Target("m", "e:m", "e", "e", "m", "http://127.0.0.1:9/v1")


def chunks():
    return Chunks(TARGET, lambda: 0.0, lambda: "call_new")


def chunk(delta, finish=None, **more):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


class ChunksTest(unittest.TestCase):
    def test_who_answers_is_told_once_and_first(self):
        reader = chunks()
        first = reader.take(chunk({"content": "a"}, model="big", provider="p", system_fingerprint="fp"))
        self.assertEqual(first, [Opened("big", "p", "fp"), Text("a")])
        self.assertEqual(reader.take(chunk({"content": "b"}, model="big")), [Text("b")])

    def test_every_word_for_an_end(self):
        for word, finish in FINISHES.items():
            if finish in ("", "tool_calls"):  # calls count by themselves, whatever the word
                continue
            with self.subTest(word):
                reader = chunks()
                reader.take(chunk({"content": "a"}))
                reader.take(chunk({}, word))
                self.assertTrue(reader.finished)
                self.assertEqual(list(reader.close())[-1].finish, finish)
