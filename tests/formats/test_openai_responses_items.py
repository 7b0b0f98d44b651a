import json
import unittest

from metrics.formats.openai_responses_items import COMPLETED, IN_PROGRESS, Message, Numbering


def told(frames):
    """(event name, its object) of each frame."""
    for frame in frames:
        name, _, data = frame.decode().partition("\n")
        yield name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


class ItemsTest(unittest.TestCase):
    def test_numbers_rise_by_one_from_zero(self):
        numbering = Numbering()
        written = [
            numbering.event(b"response.created", b',"a":1'),
            numbering.event(b"response.in_progress", b""),
        ]
        events = list(told(written))
        self.assertEqual([name for name, _ in events], ["response.created", "response.in_progress"])
        self.assertEqual([event["sequence_number"] for _, event in events], [0, 1])
        self.assertEqual((events[0][1]["type"], events[0][1]["a"]), ("response.created", 1))

    def test_a_message_opens_its_part_and_says_its_place(self):
        message = Message(Numbering(), "ab")
        events = list(told(message.start(2)))
        self.assertEqual(
            [name for name, _ in events], ["response.output_item.added", "response.content_part.added"]
        )
        self.assertEqual({event["output_index"] for _, event in events}, {2})
        self.assertEqual(message.item(IN_PROGRESS)["content"], [])
        message.pieces.append("hi")
        self.assertEqual(message.item(COMPLETED)["content"][0]["text"], "hi")
