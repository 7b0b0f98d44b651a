from dataclasses import replace

from metrics.evidence import verdicts
from metrics.play import merging, seating
from metrics.play import panel as play
from metrics.records import Answer
from tests.play.house import House, draw, request
from tests.play.people import answer, failed, panel
from tests.provider import text


class MergingTest(House):
    def seated(self, *aliases, **saved):
        self.seat("core", *aliases, **saved)
        return seating.convene(request(reply="merged"), draw())

    def test_who_merges(self):
        panel = self.seated("m1", "m2")
        answers = [Answer(seat, "ok", "words") for seat in panel.seats]
        self.assertEqual(merging.choose(panel, answers).target.alias, "m1")
        self.add("boss")
        self.assertEqual(merging.choose(replace(panel, merger="boss"), answers).target.alias, "boss")
        self.add("tiny", context=50)
        self.assertEqual(merging.choose(replace(panel, merger="tiny"), answers).target.alias, "m1")
        self.assertIn(
            "only one seat", merging.choose(panel, [answers[0], replace(answers[1], status="error")])
        )

    def test_the_member_with_the_most_useful_verdicts_merges(self):
        self.provider.script("m1", text("one"))
        self.provider.script("m2", text("two"))
        panel = self.seated("m1", "m2")
        answers = list(play.run(panel))[-1].answers
        verdicts.give(panel.seats[1].call, True)
        self.assertEqual(merging.choose(panel, answers).target.alias, "m2")

    def test_what_the_merger_is_asked(self):
        asked = merging.messages(panel("a", "b"), [answer("a", "one"), failed("b")])
        self.assertIn(
            "disagree", asked[0]["content"].lower() + "disagree" * ("contradict" in asked[0]["content"])
        )
        for expected in ("why?", "Answer of a", "one"):
            self.assertIn(expected, asked[1]["content"])
        self.assertNotIn("Answer of b", asked[1]["content"])
