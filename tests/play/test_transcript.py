import unittest

from metrics.events import Closed, Text, gather
from metrics.play import transcript
from metrics.play.panel import Complete, Done, Said, Started
from metrics.records import Problem, Skipped
from tests.play.people import ID, answer, failed, panel, seat


def happenings(asked, *answers, merged=None, note=None, pending=()):
    yield Started(asked)
    for one in answers:
        yield Said(one.seat, Text(one.text))
        yield Done(one)
    yield Complete(asked, answers, pending, merged, note)


def read(*args, **more):
    return gather(transcript.spoken(happenings(*args, **more)))


class AllTest(unittest.TestCase):
    def test_every_seat_is_named_with_its_call(self):
        asked = panel("a", "b")
        reply = read(asked, answer("a", "one"), answer("b", "two", "member2"))
        for expected in (
            ID,
            "core",
            "shape general",
            "### a ·",
            "### b ·",
            f"{ID}.member2",
            "one",
            "two",
            "--useful",
        ):
            self.assertIn(expected, reply.text)
        self.assertEqual([row["alias"] for row in reply.extra["bench"]["seats"]], ["a", "b"])
        self.assertEqual(reply.usage.prompt, 20)

    def test_a_failed_seat_stands_beside_an_answer(self):
        reply = read(panel("a", "b"), failed("a"), answer("b", "two", "member2"))
        self.assertLess(reply.text.index("*a failed*"), reply.text.index("two"))

    def test_a_program_is_never_passed_off_as_a_model(self):
        asked = panel("practice-lint")
        one = answer("practice-lint")
        program = type(one)(seat("practice-lint", builtin=True), "ok", "text")
        self.assertIn("a program and not a model", read(asked, program).text)

    def test_who_stayed_off_is_told(self):
        asked = panel("a", skipped=[Skipped("explorer", "z", "rests for another 9 s")])
        self.assertIn("z rests for another 9 s", read(asked, answer("a")).text)

    def test_a_straggler_is_said_to_be_pending(self):
        late = seat("b", "member2")
        reply = read(panel("a", "b"), answer("a"), pending=(late,))
        self.assertIn(f"still answering; call {late.call}", reply.text)
        self.assertEqual(reply.extra["bench"]["seats"][1]["status"], "pending")

    def test_an_answer_that_broke_off_is_shown_and_marked(self):
        reply = read(panel("a"), answer("a", "half a th", status="cut", message="reset"))
        self.assertIn("half a th", reply.text)
        self.assertIn("*broke off: reset*", reply.text)


class NobodyTest(unittest.TestCase):
    """Decisions 12: what a panel says in which every seat failed."""

    CASES = [
        ("all limited", [failed("a", 429, retry_after=9.0), failed("b", 429, retry_after=4.0)], 429, 4.0),
        ("limited without a word on when", [failed("a", 429)], 429, None),
        ("all timed out", [failed("a", 504, status="timeout")] * 2, 504, None),
        ("the same refusal", [failed("a", 400), failed("b", 400)], 400, None),
        ("context of all", [failed("a", 413, error="context")], 413, None),
        ("different refusals", [failed("a", 400), failed("b", 401)], 502, None),
        ("mixed", [failed("a", 429), failed("b", 500)], 502, None),
        ("all broken", [failed("a", 500), failed("b", 500)], 502, None),
    ]

    def test_status(self):
        for name, answers, status, retry_after in self.CASES:
            with self.subTest(name):
                said = []
                with self.assertRaises(Problem) as caught:
                    for event in transcript.spoken(happenings(panel("a", "b"), *answers)):
                        said.append(event)
                self.assertEqual(
                    (caught.exception.status, caught.exception.retry_after), (status, retry_after)
                )
                self.assertEqual(said, [], "a failed panel says nothing before its status")
                self.assertIn("a failed", caught.exception.message)

    def test_a_seat_is_named_once(self):
        said = answer("a", status="error", message="a: boom", http_status=500)
        with self.assertRaises(Problem) as caught:
            read(panel("a"), said)
        self.assertIn("a: boom", caught.exception.message)
        self.assertNotIn("a: a:", caught.exception.message)


class MergedTest(unittest.TestCase):
    def merge(self, merged, note=None):
        asked = panel("a", "b", reply="merged")
        answers = (answer("a", "one"), answer("b", "two", "member2"))

        def play():
            yield Started(asked)
            for one in answers:
                yield Done(one)
            if merged:
                for piece in ("both ", "agree"):
                    yield Said(merged.seat, Text(piece))
                yield Done(merged)
            yield Complete(asked, answers, (), merged, note)

        return list(transcript.spoken(play()))

    def test_the_mergers_words_come_as_it_writes_them(self):
        events = self.merge(answer("m", "both agree", "merger"))
        self.assertEqual(events[:2], [Text("both "), Text("agree")])
        self.assertIn("Merged by m", events[2].text)
        self.assertIsInstance(events[-1], Closed)
        self.assertEqual(events[-1].extra["bench"]["merger"]["alias"], "m")

    def test_a_failed_merger_leaves_all_answers_and_a_note(self):
        for merged in (None, failed("m", name="merger")):
            with self.subTest(merged=merged):
                reply = gather(iter(self.merge(merged, "nobody can merge")))
                for expected in ("*nobody can merge*", "one", "two"):
                    self.assertIn(expected, reply.text)
                self.assertEqual(reply.extra["bench"]["note"], "nobody can merge")
