from typing import Any

from metrics.evidence import shadows
from metrics.store import home
from tests.store.case import HomeCase


def row(number: int, agreement: str = "same", day: str = "2026-11-29", **more: Any) -> dict[str, Any]:
    return {
        "at": f"{day}T14:22:20.123Z",
        "shadow_call": f"r20261129-142220-{number:08x}.shadow2",
        "call": f"r20261129-142220-{number:08x}.1",
        "conversation": f"r20261129-142220-{number:08x}",
        "collection": "core",
        "model": "kimi",
        "model_id": "x:kimi",
        "shadow": "glm",
        "shadow_id": "x:glm",
        "agreement": agreement,
    } | more


class Shadows(HomeCase):
    def test_what_a_day_had_survives_a_restart(self) -> None:
        for number in range(3):
            shadows.record(row(number))
        shadows.record(row(3, collection="side"))
        shadows.record(row(4, day="2026-11-30"))
        home.close()
        cases = [("core", "2026-11-29", 3), ("side", "2026-11-29", 1), ("core", "2026-11-30", 1)]
        for collection, day, count in [*cases, ("core", "2026-12-01", 0), ("none", "2026-11-29", 0)]:
            with self.subTest(collection=collection, day=day):
                self.assertEqual(shadows.placed(collection, day), count)

    def test_old_days_are_forgotten_and_pairs_are_not(self) -> None:
        for number in range(shadows.DAYS + 2):
            shadows.record(row(number, day=f"2026-11-{number + 10}"))
        self.assertEqual(shadows.placed("core", "2026-11-10"), 0)
        self.assertEqual(shadows.agreement()[0]["turns"], shadows.DAYS + 2)

    def test_how_often_pairs_agreed(self) -> None:
        for number, agreement in enumerate(("same", "same", "tools", "failed")):
            shadows.record(row(number, agreement))
        shadows.record(row(8, "kind", shadow="new-name"))
        shadows.record(row(9, "arguments", shadow="llama", shadow_id="x:llama"))
        shadows.record(row(10, collection="side"))
        first, second = shadows.agreement("core")
        counts = {"same": 2, "arguments": 0, "tools": 1, "kind": 1, "failed": 1}
        self.assertEqual(
            first, {"collection": "core", "model": "kimi", "shadow": "new-name", "turns": 5, **counts}
        )
        self.assertEqual((second["shadow"], second["arguments"]), ("llama", 1))
        self.assertEqual([tally["collection"] for tally in shadows.agreement()], ["core", "core", "side"])

    def test_found_by_turn(self) -> None:
        shadows.record(row(1))
        self.assertEqual(shadows.of("r20261129-142220-00000001", 2), row(1))
        others = [("r20261129-142220-00000001", 1), ("r20261129-142220-00000002", 2), ("", 2), ("../x", 2)]
        for conversation, turn in others:
            with self.subTest(conversation, turn=turn):
                self.assertIsNone(shadows.of(conversation, turn))

    def test_those_of_a_collection(self) -> None:
        for number in range(4):
            shadows.record(row(number, collection=("core", "side")[number % 2]))
        self.assertEqual(
            [one["call"][-3:] for one in shadows.recent(9, None, "side")[0]],
            ["3.1", "1.1"],
        )
