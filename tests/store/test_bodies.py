import os
import threading
import unittest
from unittest import mock

from metrics.records import Problem
from metrics.store import bodies, disk, home, lines, openlog, sifting, stamps, waiting, writer
from tests.store.case import HomeCase

PANEL = "p20261129-142220-0a1b2c3d"
OLD = "p20261001-000000-abcd"
TWIN = OLD + "ee"  # of the same day
NOW = stamps.epoch("2026-11-29T15:00:00.000Z")
BODY = {"messages": [{"role": "user", "content": "käse \ud800"}], "answers": {f"{PANEL}.member1": "yes"}}

NO_IDS = [
    "",
    "p20261129",
    "../../../etc/passwd",
    PANEL + "/..",
    PANEL + "\n",
    PANEL.upper(),
    "p20261129-142220-0a1",
    "q" + PANEL[1:],
]


def body(number: int) -> dict[str, object]:
    return {"answers": {"a": f"{number} " * 40}}


class Case(HomeCase):
    def setUp(self) -> None:
        super().setUp()
        self.file = self.home / "bodies" / "2026-11-29.jsonl"
        self.old = self.home / "bodies" / "2026-10-01.jsonl"

    def kept(self, *panels: str) -> list[str]:
        """Those of these panels that have a body."""
        return [panel for panel in panels if bodies.read(panel)]

    def names(self) -> set[str]:
        """What is in the folder of the bodies."""
        return {path.name for path in (self.home / "bodies").iterdir()}


class Bodies(Case):
    def test_kept_and_read(self) -> None:
        with mock.patch.object(writer, "wake"):
            bodies.keep(PANEL, BODY)
            self.assertEqual(bodies.read(PANEL), BODY)  # before it is on disk
        self.assertFalse(self.file.exists())
        bodies.flush()
        self.assertTrue(self.file.exists())
        self.assertEqual(bodies.read(PANEL), BODY)
        bodies.keep(PANEL, {"answers": {}})
        self.assertEqual(bodies.read(PANEL), {"answers": {}})
        home.close()
        self.assertEqual(bodies.read(PANEL), {"answers": {}})
        self.assertIsNone(bodies.read(OLD))

    def test_what_is_no_id(self) -> None:
        for panel in NO_IDS:
            with self.subTest(panel):
                self.assertIsNone(bodies.read(panel))
                with self.assertRaises(ValueError):
                    bodies.keep(panel, BODY)
        self.assertIsNone(bodies.read("p20269999-142220-0a1b2c3d"))

    @unittest.skipIf(os.name == "nt", "modes")
    def test_modes(self) -> None:
        bodies.keep(PANEL, BODY)
        home.close()
        for name, mode in self.modes().items():
            self.assertEqual(mode, 0o700 if name == "bodies" else 0o600, name)

    def test_what_cannot_be_read(self) -> None:
        self.file.parent.mkdir()
        for content in (
            b"",
            b'{"panel":"%b"' % PANEL.encode(),
            b'{"panel":"%b","body":3}\n' % PANEL.encode(),
        ):
            self.file.write_bytes(content)
            self.assertIsNone(bodies.read(PANEL))
            home.close()
        self.file.write_bytes(b'{"$schema_version": 9}\n')
        with self.assertRaisesRegex(Problem, "newer program"):
            bodies.read(PANEL)

    def test_a_full_disk(self) -> None:
        panels = [f"p20261129-142220-{number:04x}" for number in range(10)]
        with mock.patch.object(writer, "wake"), mock.patch.object(waiting, "HELD", 1000):
            with mock.patch.object(disk, "write", side_effect=OSError(28, "No space left on device")):
                for number, panel in enumerate(panels):
                    bodies.keep(panel, body(number))
                with self.assertRaises(Problem) as raised:
                    bodies.flush()
                self.assertEqual(raised.exception.status, 507)
                self.assertIn("rows could not be held", raised.exception.message)
            bodies.flush()
        self.assertLess(0, len(self.kept(*panels)))
        self.assertLess(len(self.kept(*panels)), 8)  # memory is bounded


class Sweep(Case):
    """Four panels, two of them of one expired day; `OLD` is wanted."""

    def setUp(self) -> None:
        super().setUp()
        for panel in (PANEL, OLD, TWIN, "p20261030-000000-aaaa"):
            bodies.keep(panel, {"answers": {panel: "x" * 300}})
        bodies.flush()

    def sweep(self, *wanted: str) -> int:
        return bodies.sweep(NOW, 30, lambda panel: panel in wanted)

    def test_what_is_old_goes_but_what_is_wanted(self) -> None:
        self.assertEqual(self.sweep(OLD), 1)
        self.assertEqual(
            self.kept(PANEL, OLD, TWIN, "p20261030-000000-aaaa"), [PANEL, OLD, "p20261030-000000-aaaa"]
        )
        self.assertNotIn(TWIN.encode(), self.old.read_bytes())
        self.assertEqual(bodies.read(OLD), {"answers": {OLD: "x" * 300}})
        with mock.patch.object(disk, "put", side_effect=AssertionError("written again")):
            self.assertEqual(self.sweep(OLD), 0)
        home.close()
        self.assertEqual(bodies.read(OLD), {"answers": {OLD: "x" * 300}})
        self.assertEqual(self.sweep(), 1)
        home.close()
        self.assertEqual(
            self.names(),
            {f"{day}.{kind}" for day in ("2026-10-30", "2026-11-29") for kind in ("jsonl", "index")},
        )
        self.assertEqual(self.sweep(), 0)

    def test_each_panel_is_asked_about_and_counted_once(self) -> None:
        bodies.keep(OLD, body(1))
        bodies.keep(TWIN, body(2))
        asked: list[str] = []
        self.assertEqual(bodies.sweep(NOW, 30, lambda panel: bool(asked.append(panel)) or panel == OLD), 1)
        self.assertEqual(sorted(asked), [OLD, TWIN])
        self.assertEqual(bodies.read(OLD), body(1))  # the latest, of two

    def test_bodies_that_come_meanwhile(self) -> None:
        third = OLD + "ff"

        def keep(panel: str) -> bool:
            bodies.keep(third, body(3))
            bodies.flush()
            return panel == OLD

        self.assertEqual(bodies.sweep(NOW, 30, keep), 1)
        bodies.keep(OLD + "fe", body(4))
        bodies.flush()
        for _ in range(2):
            self.assertEqual(self.kept(OLD, TWIN, third, OLD + "fe"), [OLD, third, OLD + "fe"])
            home.close()

    def test_read_while_a_file_is_exchanged(self) -> None:
        held, go, read = threading.Event(), threading.Event(), []
        keep_only = openlog.Segment.keep_only

        def slowly(segment: openlog.Segment, stay: list[sifting.Line]) -> None:
            keep_only(segment, stay)
            held.set()
            go.wait(10)

        with mock.patch.object(openlog.Segment, "keep_only", slowly):
            sweeper = threading.Thread(target=self.sweep, args=(OLD,))
            sweeper.start()
            self.assertTrue(held.wait(10))
            bodies.keep(PANEL, body(5))  # nobody who asks for something waits
            self.assertEqual(bodies.read(PANEL), body(5))
            reader = threading.Thread(target=lambda: read.append(bodies.read(OLD)))
            reader.start()
            go.set()
            reader.join(10)
            sweeper.join(10)
        self.assertEqual(read, [{"answers": {OLD: "x" * 300}}])

    def test_read_again_when_the_file_was_exchanged_under_our_hands(self) -> None:
        rows, swept = openlog.Segment.rows, []

        def late(segment: openlog.Segment, key: str) -> object:
            offsets = list(segment.index.offsets(key)) if segment.index else []
            if not swept:
                swept.append(self.sweep(OLD))
                return iter(
                    [row for row in (lines.decode(lines.at(self.old, place)) for place in offsets) if row]
                )
            return rows(segment, key)

        with mock.patch.object(openlog.Segment, "rows", late):
            self.assertEqual(bodies.read(OLD), {"answers": {OLD: "x" * 300}})
        self.assertEqual(swept, [1])

    def test_killed_at_any_moment(self) -> None:
        home.close()
        before = {path: path.read_bytes() for path in self.old.parent.iterdir()}
        self.sweep(OLD)
        after = self.old.read_bytes()
        draft = disk.draft_of(self.old)
        home.close()
        for name, left in (
            ("with a draft", {draft: after[:99]}),
            ("before the index", {self.old: after}),
            ("while the index is empty", {self.old: after, self.old.with_suffix(".index"): b""}),
        ):
            for path, content in {**before, **left}.items():
                path.write_bytes(content)
            with self.subTest(name):
                self.assertEqual(self.kept(OLD, PANEL), [OLD, PANEL])
                self.assertEqual(self.sweep(OLD), int(name == "with a draft"))
                self.assertEqual(self.kept(OLD, TWIN), [OLD])
                self.assertFalse(draft.exists())
                home.close()

    def test_a_disk_that_refuses(self) -> None:
        before = self.old.read_bytes()
        with mock.patch.object(disk, "write", side_effect=OSError(28, "No space left on device")):
            with self.assertRaises(Problem) as raised:
                self.sweep(OLD)
            self.assertEqual(raised.exception.status, 507)
        self.assertEqual(self.old.read_bytes(), before)
        self.assertEqual(self.kept(OLD, TWIN), [OLD, TWIN])
        self.assertEqual(self.sweep(OLD), 1)

    def test_files_that_somebody_else_changed_or_removed(self) -> None:
        rows = self.old.read_bytes().splitlines(keepends=True)
        self.old.write_bytes(b"".join(rows[:-1]))
        self.assertEqual(self.sweep(OLD), 0)
        self.assertEqual(self.kept(OLD, TWIN), [OLD])
        self.old.unlink()
        self.assertEqual(self.sweep(OLD), 0)
        self.assertEqual(self.kept(OLD, TWIN), [])
        bodies.keep(TWIN, body(1))
        self.assertEqual(self.sweep(OLD), 1)
        self.assertFalse(self.old.exists())
