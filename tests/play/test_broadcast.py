import unittest

from metrics.events import Opened, Reasoning, Text
from metrics.play import broadcast
from metrics.play.panel import Complete, Done, Said, Started
from tests.play.people import answer, failed, panel, seat


class BroadcastTest(unittest.TestCase):
    def test_a_panel_event_by_event(self):
        asked, place = panel("a"), seat("a")
        done = answer("a", "hi")
        play = [
            Started(asked),
            None,
            Said(place, Opened("m")),
            Said(place, Reasoning("hm")),
            Said(place, Text("hi")),
            Done(done),
            Complete(asked, (done,)),
        ]
        told = list(broadcast.told(play))
        self.assertEqual(
            [event["event"] for event in told],
            [
                "panel.started",
                "tick",
                "seat.started",
                "seat.reasoning",
                "seat.delta",
                "seat.done",
                "panel.done",
            ],
        )
        self.assertEqual(told[0]["seats"][0]["alias"], "a")
        self.assertEqual(told[4], {"event": "seat.delta", "call": place.call, "text": "hi"})
        self.assertEqual((told[5]["answer"], told[5]["cost"]), ("hi", None))
        self.assertEqual(told[6]["usage"], {"in": 10, "out": 5, "reasoning": 0, "estimated": False})

    def test_the_merger_is_told_apart(self):
        asked = panel("a", reply="merged")
        merged = answer("m", "x", "merger")
        told = list(
            broadcast.told(
                [Said(merged.seat, Text("x")), Done(merged), Complete(asked, (answer("a"),), (), merged)]
            )
        )
        self.assertEqual(
            [event["event"] for event in told[:3]], ["merge.started", "merge.delta", "merge.done"]
        )

    def test_nobody_answered(self):
        asked = panel("a")
        told = list(broadcast.told([Done(failed("a", 429)), Complete(asked, (failed("a", 429),))]))
        self.assertEqual((told[-1]["event"], told[-1]["status"]), ("failed", 429))
        self.assertEqual(told[-1]["bench"]["seats"][0]["status"], "error")
