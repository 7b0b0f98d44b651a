"""The route policies play conversations whose truth is known; what they lose is measured against always
asking the best member."""

import random
import unittest
from typing import Any
from unittest import mock

from tests import judge_adapter

MEMBERS = ("ra", "rb", "rc", "rd", "re")
SHAPES = ("code", "review")


def regret(policy: str, seed: int, turns: int, judged: float, breaks_at: int = -1) -> float:
    """The share of conversations lost against the best available member, `judged` of them judged, some days
    late; from `breaks_at` on the best member is much worse."""
    draw = random.Random(f"world {seed}")
    base = {alias: draw.gauss(0.6, 0.17) for alias in MEMBERS}
    odds = {(alias, shape): base[alias] + draw.gauss(0, 0.08) for alias in MEMBERS for shape in SHAPES}
    state = judge_adapter.init({})
    late: list[tuple[int, dict[str, Any]]] = []
    lost = 0.0
    with mock.patch.object(judge_adapter, "POLICY", policy):
        for turn in range(turns):
            at = random.Random(f"{seed} {turn}")
            if turn == breaks_at:
                best = max(MEMBERS, key=lambda alias: base[alias])
                odds |= {(best, shape): odds[best, shape] - 0.35 for shape in SHAPES}
            for due, event in [pair for pair in late if pair[0] <= turn]:
                late.remove((due, event))
                judge_adapter.observe(state, event)
            shape, day = at.choice(SHAPES), turn / 8
            up = [alias for alias in MEMBERS if at.random() > 0.06] or list(MEMBERS)
            first = judge_adapter.route(state, {"candidates": up, "shape": shape, "day": day}, str(turn))[
                "order"
            ][0]
            lost += max(odds[alias, shape] for alias in up) - odds[first, shape]
            judge_adapter.observe(state, {"kind": "panel", "panel": turn, "seats": [first]})
            told = {"kind": "verdict", "alias": first, "shape": shape, "day": day, "seat": "route"}
            if at.random() < judged:
                useful = at.random() < odds[first, shape]
                late.append((turn + at.randrange(1, 20), {**told, "useful": useful}))
    return lost / turns


class SlowRegret(unittest.TestCase):
    def test_the_record_loses_less_than_counting(self) -> None:
        cases = [("base", 300, 0.2, -1, 0.7), ("sparse", 300, 0.1, -1, 0.85), ("drift", 400, 0.2, 150, 0.7)]
        for name, turns, judged, breaks_at, share in cases:
            with self.subTest(name):
                totals = {
                    policy: sum(regret(policy, seed, turns, judged, breaks_at) for seed in range(10, 22))
                    for policy in ("record", "counts")
                }
                self.assertLess(totals["record"], share * totals["counts"], totals)


if __name__ == "__main__":
    unittest.main()
