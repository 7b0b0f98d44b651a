import unittest
from typing import Any

from metrics.limits import speed
from metrics.store.stamps import stamp

NOW = 1_796_000_000.0


def row(seconds: float | None, status: str = "ok", at: float = NOW, **more: Any) -> dict[str, Any]:
    usual = {"at": stamp(at), "model_id": "box:a", "seconds": seconds, "status": status}
    return {**usual, "first_token_s": None, **more}


class Of(unittest.TestCase):
    def test_the_middle_and_the_far_end(self) -> None:
        # name, seconds (negative: a time-out after so many), p50, p95, whether these are "at least"
        cases: tuple[tuple[str, list[float], tuple[float, float, bool, bool]], ...] = (
            ("one", [4.0], (4.0, 4.0, False, False)),
            ("twenty", [float(n) for n in range(1, 21)], (10.0, 19.0, False, False)),
            ("the slow end timed out", [1.0] * 18 + [-30.0, -30.0], (1.0, 30.0, False, True)),
            ("most timed out", [1.0, -30.0, -30.0], (30.0, 30.0, True, True)),
            ("an early time-out leaves all above it in doubt", [-2.0, 5.0, 6.0], (5.0, 6.0, True, True)),
        )
        for name, seconds, wanted in cases:
            with self.subTest(name):
                told = speed.of([row(abs(each), "timeout" if each < 0 else "ok") for each in seconds])
                whole = told["box:a"]["whole"]
                got = tuple(whole[field] for field in ("p50", "p95", "p50_at_least", "p95_at_least"))
                self.assertEqual(got, wanted)

    def test_first_token(self) -> None:
        rows = [row(5.0, first_token_s=0.4), row(6.0, first_token_s=0.8), row(7.0)]
        self.assertEqual(speed.of(rows)["box:a"]["first"], {"p50": 0.4, "p95": 0.8})
        self.assertEqual(speed.of([row(5.0)])["box:a"]["first"], {"p50": None, "p95": None})

    def test_what_failed_says_nothing_of_speed(self) -> None:
        self.assertEqual(speed.of([row(0.1, "error"), row(None), row(1.0, model_id=None)]), {})

    def test_each_model_by_itself(self) -> None:
        told = speed.of([row(1.0), row(9.0, model_id="box:b")])
        self.assertEqual(
            {name: one["whole"]["p50"] for name, one in told.items()}, {"box:a": 1.0, "box:b": 9.0}
        )


class Course(unittest.TestCase):
    def test_over_time(self) -> None:
        rows = [row(1.0 + n // 30, at=NOW + 60 * n) for n in range(60)]
        told = speed.course(rows)
        self.assertEqual((len(told["at"]), sum(told["calls"])), (speed.PIECES, 60))
        self.assertEqual((told["p50"][0], told["p50"][-1]), (1.0, 2.0))

    def test_a_gap_is_unknown(self) -> None:
        rows = [row(1.0, at=NOW + n) for n in range(5)] + [row(2.0, at=NOW + 86_400 + n) for n in range(2)]
        told = speed.course(rows)
        self.assertEqual((told["p50"][0], told["p50"][5], told["p50"][-1]), (1.0, None, None))

    def test_too_few(self) -> None:
        self.assertEqual(speed.course([row(1.0), row(2.0)])["at"], [])


if __name__ == "__main__":
    unittest.main()
