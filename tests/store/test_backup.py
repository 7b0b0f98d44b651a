import json
import threading
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from metrics.store import backup, disk, restore
from metrics.store.files import JsonFile
from metrics.store.log import JsonLog
from tests.store.logs import AT, LogCase, count, row

NOW = 1_796_000_000.0


class BackupCase(LogCase):
    def saved(self, moment: backup.Cut | None = None) -> Path:
        """A backup, in a file outside the data folder."""
        target = self.home.parent / f"{self.home.name}.zip"
        self.addCleanup(target.unlink, missing_ok=True)
        disk.put(target, backup.packed(moment or backup.cut(NOW)), durable=False)
        return target

    def names(self, path: Path) -> set[str]:
        with zipfile.ZipFile(path) as archive:
            return {name.removeprefix("home/") for name in archive.namelist()}

    def read(self, path: Path, name: str) -> bytes:
        with zipfile.ZipFile(path) as archive:
            return archive.read(f"home/{name}")


class Backup(BackupCase):
    def test_it_holds_the_moment_and_nothing_of_after(self) -> None:
        self.log.submit(row(1))  # queued, not written yet
        with JsonFile("settings.json").edit() as settings:
            settings["max_calls"] = 6
        moment = backup.cut(NOW)
        self.log.append(row(2))
        with JsonFile("settings.json").edit() as settings:
            settings["max_calls"] = 7
        path = self.saved(moment)
        self.assertEqual(
            self.names(path), {"manifest.json", "settings.json", "rows/2026-11.jsonl", "rows/counters"}
        )
        self.assertEqual(json.loads(self.read(path, "settings.json"))["max_calls"], 6)
        self.assertIn(b'"k1"', self.read(path, "rows/2026-11.jsonl"))
        self.assertNotIn(b'"k2"', self.read(path, "rows/2026-11.jsonl"))
        self.assertEqual(json.loads(self.read(path, "rows/counters"))["state"], {"rows": 1, "sum": 1})
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
        self.assertEqual((manifest["at"], manifest["left_out"]), ("2026-11-30T00:53:20.000Z", []))

    def test_secrets_and_what_belongs_to_nobody_stay_out(self) -> None:
        for name in (*backup.SECRETS, "models.json", "notes.txt", ".env", "old.zip", "suite/a.json"):
            disk.make_folder((self.home / name).parent)
            (self.home / name).write_text('{"key": "sk-1"}', "utf-8")
        (self.home / "before-restore-2026").mkdir()
        (self.home / "before-restore-2026" / "models.json").write_text("{}", "utf-8")
        moment = backup.cut(NOW)
        self.assertEqual(moment.left_out, tuple(sorted((*backup.SECRETS, "notes.txt", ".env", "old.zip"))))
        path = self.saved(moment)
        self.assertEqual(self.names(path), {"manifest.json", "models.json", "suite/a.json"})
        self.assertEqual(backup.seal(path, self.home), backup.SECRETS)
        self.assertEqual(self.read(path, "credentials.json"), b'{"key": "sk-1"}')
        self.assertEqual(restore.check(path).secrets, backup.SECRETS)
        whole = self.saved(backup.cut(NOW, secrets=True))
        self.assertEqual(restore.check(whole).secrets, backup.SECRETS)

    def test_half_a_line_of_a_killed_writer_stays_out(self) -> None:
        (self.home / "stray.jsonl").write_bytes(b'{"a":1}\n{"b":')
        (self.home / "torn.jsonl").write_bytes(b'{"b":')
        path = self.saved()
        self.assertEqual(self.read(path, "stray.jsonl"), b'{"a":1}\n')
        self.assertEqual(self.read(path, "torn.jsonl"), b"")

    def test_files_that_change_hands_while_they_are_copied(self) -> None:
        """A file of bodies is written anew, one of an old month is removed: after the moment, before its
        turn."""
        bodies = JsonLog("texts", key="id", partition="day")
        bodies.append_all([row(number, AT) for number in range(3)])
        self.log.append(row(1, "2020-01-01T00:00:00.000Z"))
        moment = backup.cut(NOW)
        bodies.thin("2026-12", lambda key: key == "k1")
        self.log.retain("2026-01")
        path = self.saved(moment)
        lines = self.read(path, "texts/2026-11-29.jsonl").splitlines()
        self.assertEqual([json.loads(line).get("id") for line in lines], [None, "k1"])
        self.assertEqual(self.read(path, "rows/2020-01.jsonl"), b"")
        restore.check(path)

    def test_counters_count_the_rows_of_the_copy_while_others_write(self) -> None:
        stop = threading.Event()

        def write() -> None:
            number = 0
            while not stop.is_set():
                self.log.submit(row(number := number + 1))

        self.log.open()
        writer = threading.Thread(target=write)
        writer.start()
        try:
            moments = [backup.cut(NOW) for _ in range(20)]
        finally:
            stop.set()
            writer.join()
        for moment in moments[::5]:
            path = self.saved(moment)
            rows = [json.loads(line) for line in self.read(path, "rows/2026-11.jsonl").splitlines()[1:]]
            state: dict[str, int] = {}
            for each in rows:
                count(state, each)
            self.assertEqual(json.loads(self.read(path, "rows/counters"))["state"], state)

    def test_who_speaks_of_others_is_cut_before_them(self) -> None:
        logs = [JsonLog(name, fold=count) for name in ("ledger", "panels", "offloads", "verdicts")]
        for log in logs:
            log.open()
        order: list[str] = []

        def noted(log: JsonLog) -> object:
            order.append(log.name)
            return {}, None

        with mock.patch.object(JsonLog, "cut", noted):
            backup.cut(NOW)
        self.assertEqual(order[-3:], ["panels", "offloads", "ledger"])
        self.assertIn("verdicts", order[:-3])

    def test_a_disk_that_is_full_takes_nothing_away(self) -> None:
        self.log.append(row(1))
        self.log.submit(row(2))
        with mock.patch.object(disk, "write", side_effect=OSError(28, "No space left on device")):
            moment = backup.cut(NOW)
        path = self.saved(moment)
        self.assertIn(b'"k1"', self.read(path, "rows/2026-11.jsonl"))
        self.assertNotIn(b'"k2"', self.read(path, "rows/2026-11.jsonl"))

    def test_links_are_followed_but_not_in_circles(self) -> None:
        (self.home / "far").mkdir()
        (self.home / "far" / "x.json").write_text("{}", "utf-8")
        (self.home / "far" / "round").symlink_to(self.home / "far")
        self.assertIn("far/x.json", self.names(self.saved()))


if __name__ == "__main__":
    unittest.main()
