import io
import json
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from metrics.store import backup, home, migrate, restore
from metrics.store.files import JsonFile
from metrics.store.log import JsonLog
from tests.store.logs import count, row
from tests.store.test_backup import NOW, BackupCase


def forged(**members: bytes) -> bytes:
    """A zip with these members, and the manifest that fits them unless one is given."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return written.getvalue()


def manifest(version: object = 1, **files: bytes) -> bytes:
    entries = {name: backup._entry(content) for name, content in files.items()}
    return json.dumps({migrate.VERSION: version, "files": entries}).encode()


class Restore(BackupCase):
    def archive(self, content: bytes) -> Path:
        path = self.home.parent / f"{self.home.name}.zip"
        path.write_bytes(content)
        self.addCleanup(path.unlink, missing_ok=True)
        return path

    def elsewhere(self) -> Path:
        return self.home / "elsewhere"

    def test_round(self) -> None:
        self.log.append_all([row(1), row(2)])
        JsonFile("settings.json")
        (self.home / "settings.json").write_text('{"max_calls": 6}', "utf-8")
        found = restore.check(self.saved())
        self.assertIsNone(restore.put(found, self.elsewhere(), False, NOW))
        self.assertEqual(home.current(), self.elsewhere())
        log = JsonLog("rows", key="id", partition="month", fold=count)
        self.assertEqual(log.state, {"rows": 2, "sum": 3})
        self.assertEqual(JsonFile("settings.json").read(), {"max_calls": 6})
        self.assertEqual([row["id"] for row in log.recent(5)[0]], ["k2", "k1"])
        modes = {path.stat().st_mode & 0o077 for path in self.elsewhere().rglob("*")}
        self.assertEqual(modes, {0})

    def test_what_is_refused(self) -> None:
        body, name = b'{"a": 1}', "models.json"
        good = {f"home/{name}": body, "manifest.json": manifest(**{name: body})}
        self.assertEqual(restore.check(self.archive(forged(**good))).size, len(body))
        evil = (
            "../up.json",
            "/up.json",
            "a/../../up.json",
            "C:\\up.json",
            ".bashrc",
            "server.lock",
            "a//b.json",
        )
        cases = [
            ("no zip", b"hello", "not a whole zip"),
            ("half a zip", forged(**good)[:-30], "not a whole zip"),
            ("another zip", forged(x=b""), "no manifest.json"),
            ("a manifest that is none", forged(**{"manifest.json": b"[}"}), "cannot be read"),
            ("a list", forged(**{"manifest.json": b"[]"}), "lists no files|cannot be read"),
            ("a newer archive", forged(**{"manifest.json": manifest(2)}), "version 2.*newer program"),
            ("changed", forged(**good | {f"home/{name}": b'{"a": 2}'}), "models.json is damaged"),
            ("longer", forged(**good | {f"home/{name}": body * 9}), "models.json is damaged"),
            ("missing", forged(**{"manifest.json": manifest(**{name: body})}), "models.json is missing"),
            ("unlisted", forged(**good | {"home/keys.json": b"{}"}), "'home/keys.json'.*does not list"),
            ("outside", forged(**good | {"../keys.json": b"{}"}), "does not list"),
            *(
                (
                    each,
                    forged(**{f"home/{each}": body, "manifest.json": manifest(**{each: body})}),
                    "no data folder",
                )
                for each in evil
            ),
        ]
        for title, content, words in cases:
            with self.subTest(title), self.assertRaisesRegex(Exception, words) as raised:
                restore.check(self.archive(content))
            self.assertEqual(getattr(raised.exception, "kind", None), "backup", title)

    def test_files_of_a_newer_program_are_refused(self) -> None:
        JsonFile("ours.json", version=3)
        JsonLog("theirs", partition="month", version=2)
        for name, version, refused in (
            ("ours.json", 3, False),
            ("ours.json", 4, True),
            ("theirs/2026-11.jsonl", 2, False),
            ("theirs/2026-11.jsonl", 3, True),
            ("unheard.json", 1, False),
            ("unheard.json", 2, True),
        ):
            body = json.dumps({migrate.VERSION: version}).encode() + b"\n"
            path = self.archive(forged(**{f"home/{name}": body, "manifest.json": manifest(**{name: body})}))
            with self.subTest(name, version=version):
                if refused:
                    self.assertRaisesRegex(Exception, "newer program", restore.check, path)
                else:
                    restore.check(path)

    def test_a_folder_in_use_or_not_empty(self) -> None:
        self.log.append(row(1))
        (self.home / "credentials.json").write_text('{"e": "sk-old"}', "utf-8")
        found = restore.check(self.saved())
        folder = self.elsewhere()
        restore.put(found, folder, False, NOW)
        self.assertRaisesRegex(Exception, "is not empty", restore.put, found, folder, False, NOW)
        (folder / "credentials.json").write_text('{"e": "sk-kept"}', "utf-8")
        (folder / "mine.txt").write_text("mine", "utf-8")
        aside = restore.put(found, folder, True, NOW)
        assert aside is not None
        self.assertEqual((folder / "credentials.json").read_text("utf-8"), '{"e": "sk-kept"}')
        self.assertEqual((aside / "mine.txt").read_text("utf-8"), "mine")
        self.assertFalse((folder / "mine.txt").exists())
        home.use(folder)
        with home.own(port=7):
            pass
        lock = home.FileLock(folder / "server.lock")
        lock.take()
        self.addCleanup(lock.release)
        self.assertRaisesRegex(Exception, "in use", restore.put, found, folder, True, NOW)

    def test_no_room(self) -> None:
        self.log.append(row(1))
        found = restore.check(self.saved())
        usage = mock.Mock(free=10)
        with mock.patch("shutil.disk_usage", return_value=usage):
            self.assertRaisesRegex(
                Exception, "10 bytes left", restore.put, found, self.elsewhere(), False, NOW
            )
        restore.put(found, self.elsewhere(), False, NOW)  # what failed left nothing in the way

    def test_a_restore_that_was_killed_half_way_is_begun_again(self) -> None:
        self.log.append(row(1))
        found = restore.check(self.saved())
        stage = self.elsewhere() / restore.STAGE
        stage.mkdir(parents=True)
        (stage / "half.json").write_text("{", "utf-8")
        restore.put(found, self.elsewhere(), False, NOW)
        self.assertFalse((self.elsewhere() / "half.json").exists())


if __name__ == "__main__":
    unittest.main()
