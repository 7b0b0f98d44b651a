import os
import unittest
from unittest import mock

from metrics.records import Problem
from metrics.store import bodies, disk, home, stamps, writer
from tests.store.case import HomeCase

PANEL = "p20261129-142220-0a1b2c3d"
OLD = "p20261001-000000-abcd"
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


class Bodies(HomeCase):
    def path(self, panel: str) -> str:
        return f"bodies/{panel[1:5]}-{panel[5:7]}-{panel[7:9]}/{panel}.json"

    def test_kept_and_read(self) -> None:
        with mock.patch.object(writer, "wake"):
            bodies.keep(PANEL, BODY)
            self.assertEqual(bodies.read(PANEL), BODY)  # before it is on disk
        self.assertFalse((self.home / self.path(PANEL)).exists())
        bodies.flush()
        self.assertTrue((self.home / self.path(PANEL)).exists())
        self.assertEqual(bodies.read(PANEL), BODY)
        bodies.keep(PANEL, {"answers": {}})
        home.close()
        self.assertEqual(bodies.read(PANEL), {"answers": {}})
        self.assertIsNone(bodies.read(OLD))

    def test_what_is_no_id(self) -> None:
        for panel in NO_IDS:
            with self.subTest(panel):
                self.assertIsNone(bodies.read(panel))
                with self.assertRaises(ValueError):
                    bodies.keep(panel, BODY)

    @unittest.skipIf(os.name == "nt", "modes")
    def test_modes(self) -> None:
        bodies.keep(PANEL, BODY)
        bodies.flush()
        self.assertEqual({mode for name, mode in self.modes().items() if name.endswith(".json")}, {0o600})
        self.assertEqual({mode for name, mode in self.modes().items() if not name.endswith(".json")}, {0o700})

    def test_what_cannot_be_read(self) -> None:
        path = self.home / self.path(PANEL)
        path.parent.mkdir(parents=True)
        for content in (b"", b"{half", b"[]"):
            path.write_bytes(content)
            self.assertIsNone(bodies.read(PANEL))
        path.write_bytes(b'{"$schema_version": 9}')
        with self.assertRaisesRegex(Problem, "newer program"):
            bodies.read(PANEL)

    def test_sweep(self) -> None:
        for panel in (PANEL, OLD, OLD + "ee", "p20261030-000000-aaaa"):
            bodies.keep(panel, BODY)
        bodies.flush()
        draft = disk.draft_of(self.home / self.path(OLD))
        draft.write_bytes(b"half")
        self.assertEqual(bodies.sweep(NOW, 30, lambda panel: panel == OLD), 1)
        self.assertFalse(draft.exists())
        kept = [panel for panel in (PANEL, OLD, OLD + "ee", "p20261030-000000-aaaa") if bodies.read(panel)]
        self.assertEqual(kept, [PANEL, OLD, "p20261030-000000-aaaa"])
        self.assertEqual(bodies.sweep(NOW, 30, lambda panel: False), 1)
        self.assertFalse((self.home / self.path(OLD)).parent.exists())

    def test_a_full_disk(self) -> None:
        with mock.patch.object(writer, "wake"), mock.patch.object(bodies, "HELD", 500):
            with mock.patch.object(disk, "write", side_effect=OSError(28, "No space left on device")):
                for number in range(10):
                    bodies.keep(f"p20261129-142220-{number:04x}", {"answers": {"a": "x" * 100}})
                with self.assertRaises(Problem) as raised:
                    bodies.flush()
                self.assertEqual(raised.exception.status, 507)
            bodies.flush()
        kept = [number for number in range(10) if bodies.read(f"p20261129-142220-{number:04x}")]
        self.assertEqual(kept, [7, 8, 9])  # memory is bounded; the oldest went
