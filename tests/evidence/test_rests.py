import unittest
from typing import Any

from metrics.evidence import reliability, rests
from metrics.store import home
from tests.store.case import HomeCase

NOW = 1_796_000_000.0
MODEL, OTHER = "groq:kimi-k2", "groq:llama"


class Rests(HomeCase):
    def test_who_rests_until_when(self) -> None:
        # name, what was said (of whom, for how long; None: woken), seconds from now that the model rests
        cases: list[tuple[str, list[tuple[str, float | None]], float | None]] = [
            ("nobody", [], None),
            ("the model", [(MODEL, 60.0)], 60.0),
            ("another one", [(OTHER, 60.0)], None),
            ("its connection", [("groq:", 60.0)], 60.0),
            ("another connection, whose name begins alike", [("gro:", 60.0)], None),
            ("the longer of both", [("groq:", 60.0), (MODEL, 90.0)], 90.0),
            ("the latest word counts", [(MODEL, 90.0), (MODEL, 30.0)], 30.0),
            ("woken", [(MODEL, 90.0), (MODEL, None)], None),
            ("woken with its connection", [(MODEL, 90.0), ("groq:", None)], None),
            ("over", [(MODEL, -1.0)], None),
        ]
        for name, said, wanted in cases:
            with self.subTest(name):
                home.close()
                self.forget()
                for of, seconds in said:
                    self.say(of, seconds)
                until = rests.until(MODEL, NOW)
                self.assertEqual(until and until - NOW, wanted)

    def forget(self) -> None:
        for path in self.home.glob("rests*"):
            path.unlink()
        home.use(self.home)

    def say(self, of: str, seconds: float | None) -> None:
        if seconds is None:
            rests.wake(of, "test", NOW)
        else:
            rests.rest(of, NOW + seconds, "test", NOW)

    def test_a_restart_forgets_nothing(self) -> None:
        self.say(MODEL, 60.0)
        home.close()
        home.use(self.home)
        self.assertEqual(rests.until(MODEL, NOW), NOW + 60)


class Woken(HomeCase):
    """What calls came to before somebody was woken counts no more; what comes after does."""

    def failed(self, at: float, error: str, retry_after: float | None = None) -> None:
        reliability.note("groq:kimi-k2", "error", at, error, retry_after)

    def health(self, at: float) -> Any:
        return reliability.health(MODEL, at)

    def test_a_rest_that_was_stated(self) -> None:
        self.failed(NOW, "rate_limited", 3600.0)
        self.assertEqual(self.health(NOW + 1).until, NOW + 3600)
        reliability.wake(MODEL, "test", NOW + 2)
        self.assertIsNone(self.health(NOW + 3).until)
        reliability.note(MODEL, "ok", NOW + 4)
        self.assertIsNone(self.health(NOW + 5).until)
        self.failed(NOW + 6, "rate_limited", 60.0)
        self.assertEqual((self.health(NOW + 7).until, self.health(NOW + 7).why), (NOW + 66, "rate_limited"))

    def test_failing(self) -> None:
        for second in range(3):
            self.failed(NOW + second, "unreachable")
        self.assertIsNotNone(reliability.failing(MODEL))
        reliability.wake("groq:", "test", NOW + 5)
        self.assertIsNone(reliability.failing(MODEL))
        for second in range(3):
            self.assertIsNone(reliability.failing(MODEL))
            self.failed(NOW + 6 + second, "unreachable")
        self.assertIsNotNone(reliability.failing(MODEL))

    def test_it_stays_awake_when_all_is_counted_again(self) -> None:
        fact = reliability.after({}, "error", NOW, "rate_limited", 3600.0)
        rests.wake(MODEL, "test", NOW + 2)
        reliability.note(MODEL, "error", NOW, "rate_limited", 3600.0)  # as the ledger's rows are, at a start
        self.assertEqual(fact["rested"], NOW)
        self.assertIsNone(self.health(NOW + 3).until)

    def test_why_it_rests(self) -> None:
        rests.rest(MODEL, NOW + 60, "test", NOW)
        self.assertEqual((self.health(NOW).until, self.health(NOW).why), (NOW + 60, reliability.ASKED))
        self.failed(NOW, "rate_limited", 3600.0)
        self.assertEqual((self.health(NOW).until, self.health(NOW).why), (NOW + 3600, "rate_limited"))


if __name__ == "__main__":
    unittest.main()
