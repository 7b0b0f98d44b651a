from typing import Any
from unittest import mock

from metrics.evidence import offloads, panels, waits
from metrics.store import home
from tests.store.case import HomeCase

AT = "2026-11-29T14:22:20.123Z"


def panel(
    number: int, candidates: tuple[str, ...] = (), answered: tuple[str, ...] = (), **more: Any
) -> dict[str, Any]:
    return {
        "panel": f"p20261129-142220-{number:08x}",
        "at": AT,
        "collection": "core",
        "seats": [{"call": "c", "alias": name, "model_id": f"x:{name}", "status": "ok"} for name in answered],
        "decision": {
            "candidates": [{"alias": name, "model_id": f"x:{name}", "wait": 0} for name in candidates]
        },
    } | more


NO_IDS = [
    "",
    "p",
    "../x",
    "p20261129-142220-abc",
    "p20261129-142220-xyz1",
    "x20261129-142220-abcd",
    "p2026-abcd\n",
]


class Panels(HomeCase):
    def test_the_latest_row_counts(self) -> None:
        first = panel(1, note="one seat is missing")
        panels.record(first)
        self.assertEqual(panels.find(first["panel"]), first)
        later = first | {"note": "all are in"}
        panels.record(later)
        home.close()
        self.assertEqual(panels.find(first["panel"]), later)
        self.assertEqual(panels.recent(9), ([later], None))

    def test_what_cannot_hold_the_words_is_passed_over_and_nothing_else(self) -> None:
        tasks = (
            "Torn WRITE in the index",
            "Straße und ﬁle",
            "a \u212aelvin sign",
            "torn once",
            'a "quoted" torn',
        )
        for number, task in enumerate(tasks):
            panels.record(panel(number, task=task, collection="side" if number == 3 else "core"))
        cases = (
            ((), None, "01234"),
            (("torn",), None, "01234"),  # what is not ASCII may be anything in lower case
            (("TORN", "write"), None, "012"),
            (("strasse",), None, "12"),
            (("kelvin",), None, "12"),
            (("stra\u00dfe",), None, "01234"),
            (('"',), None, "01234"),
            ((), "core", "0124"),
            (("torn",), "side", "3"),
            (("nowhere",), "side", ""),
        )
        for holding, collection, expected in cases:
            with self.subTest(holding=holding, collection=collection):
                told = list(panels.back(None, collection, holding))
                kept = [row for _, row in told if row]
                self.assertEqual(kept, [panels.find(row["panel"]) for row in kept])
                self.assertEqual("".join(sorted(str(int(row["panel"][-8:], 16)) for row in kept)), expected)
        place = list(panels.back())[1][0]
        self.assertEqual([row["task"] for _, row in panels.back(place) if row], list(tasks[2::-1]))

    def test_ids(self) -> None:
        short = panel(1) | {"panel": "p20261129-142220-5da7"}
        panels.record(short)
        self.assertEqual(panels.find("p20261129-142220-5da7"), short)
        for name in NO_IDS:
            with self.subTest(name):
                self.assertIsNone(panels.find(name))

    def test_those_of_a_collection(self) -> None:
        for number in range(6):
            panels.record(panel(number, collection=("core", "review")[number % 2]))
        found, cursor = panels.recent(2, None, "review")
        self.assertEqual([row["panel"][-1] for row in found], ["5", "3"])
        self.assertEqual([row["panel"][-1] for row in panels.recent(2, cursor, "review")[0]], ["1"])

    def test_retain(self) -> None:
        panels.record(panel(1))
        self.assertEqual(panels.retain("2026-12"), 1)
        self.assertIsNone(panels.find(panel(1)["panel"]))


class Waits(HomeCase):
    def test_candidates_wait_until_they_answer(self) -> None:
        panels.record(panel(1, ("a", "b", "c"), ("m", "a")))
        panels.record(panel(2, ("a", "b", "c"), ("m", "b")))
        panels.record(panel(3, ("b", "c"), ("m",)))
        expected = {"x:a": 1, "x:b": 1, "x:c": 3}
        self.assertEqual(waits.of("core"), expected)
        self.assertEqual(waits.of("other"), {})
        home.close()
        self.assertEqual(waits.of("core"), expected)
        home.close()
        (self.home / "panels" / "counters").unlink()
        self.assertEqual(waits.of("core"), expected)

    def test_a_corrected_row_counts_once(self) -> None:
        early = panel(1, ("a", "b"), ("m",))
        panels.record(early)
        panels.record(panel(2, ("a", "b")))
        panels.record(early | {"seats": [*early["seats"], {"alias": "a", "model_id": "x:a", "status": "ok"}]})
        self.assertEqual(waits.of("core"), {"x:b": 2})

    def test_only_answers_end_a_wait(self) -> None:
        for status, expected in (("ok", {}), ("cut", {}), ("timeout", {"x:a": 1}), ("pending", {"x:a": 1})):
            with self.subTest(status), mock.patch.object(panels, "REMEMBERED", 1):
                seat = {"alias": "a", "model_id": "x:a", "status": status}
                panels.record(panel(hash(status) & 0xFFFF, ("a",), collection=status, seats=[seat]))
                self.assertEqual(waits.of(status), expected)

    def test_rows_that_say_less(self) -> None:
        panels.record(panel(1, decision=None, seats=[{"status": "pending"}]))
        panels.record(panel(2, decision={"candidates": ["a"]}))
        self.assertEqual(waits.of("core"), {"a": 1})

    def test_a_panel_without_a_row(self) -> None:
        waits.seen("core", ["a", "b"], ["b"])
        self.assertEqual(waits.of("core"), {"a": 1})


class Offloads(HomeCase):
    def test_found_by_call(self) -> None:
        calls = [
            f"p20261129-142220-0a1b.{seat}"
            for seat in ("member1", "member12", "explorer", "explorer2", "merger")
        ]
        calls.append("r20261129-142220-0a1b2c3d.17")
        for call in calls:
            offloads.record({"at": AT, "call": call, "status": "ok"})
        home.close()
        for call in calls:
            found = offloads.find(call)
            self.assertEqual(found and found["call"], call)
            self.assertEqual(offloads.panel_of(call), call.split(".")[0])

    def test_what_is_no_call(self) -> None:
        for call in (
            *NO_IDS,
            "p20261129-142220-0a1b",
            "p20261129-142220-0a1b.",
            "p20261129-142220-0a1b.judge1",
        ):
            with self.subTest(call):
                self.assertIsNone(offloads.find(call))
                self.assertIsNone(offloads.panel_of(call))
