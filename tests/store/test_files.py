import json
import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from unittest import mock

from metrics.records import Problem
from metrics.store import disk, files, home, migrate
from metrics.store.files import FRESH, JsonFile, look_again, moment, once_a_moment
from tests.store.case import HomeCase

ROOT = Path(__file__).resolve().parents[2]

# name, bytes, the line that is named, words of the reason
BROKEN = [
    ("cut in half", b'{\n  "a": {"x": 1},\n  "b": {"x', 3, "column"),
    ("a comma missing", b'{\n  "a": 1\n  "b": 2\n}\n', 3, "column 3"),
    ("a key twice", b'{\n  "a": 1,\n  "b": 2,\n  "a": 3\n}', 4, 'the key "a" is there twice'),
    ("a key twice, further down", b'{\n "o": {\n  "b": 2,\n  "b": 3\n}}', 4, 'the key "b" is there twice'),
    ("not an object", b"[1, 2]", 1, "object"),
    ("empty", b"", 1, "it is empty"),
    ("blank", b" \n \n", 1, "it is empty"),
    ("a mark and nothing else", b"\xef\xbb\xbf", 1, "it is empty"),
    ("NaN", b'{\n"a": NaN}', 2, "NaN is not a JSON value"),
    ("two documents", b'{"a": 1}\n{"b": 2}', 2, "Extra data"),
    ("UTF-16", '{"a": 1}'.encode("utf-16"), 1, "it is not UTF-8 text"),
    ("Latin-1", b'{\n"a": "caf\xe9"}', 2, "it is not UTF-8 text"),
    ("too deep", b'{"a":' + b"[" * 100_000, 1, "nested too deeply"),
]

BY_HAND = [
    ("plain", b'{"a": 1}'),
    ("Windows", b'\xef\xbb\xbf{\r\n  "a": 1\r\n}\r\n'),
    ("with a version", b'{"$schema_version": 1, "a": 1}'),
]

EDITOR = """
import sys
from pathlib import Path
from metrics.store import home
from metrics.store.files import JsonFile
home.use(Path(sys.argv[1]))
file = JsonFile("collections.json")
for number in range(int(sys.argv[3])):
    with file.edit() as saved:
        saved[f"{sys.argv[2]}-{number}"] = {"members": ["a", "b"]}
    print(f"{sys.argv[2]}-{number}", flush=True)
"""


def editor(folder: Path, name: str, times: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", EDITOR, str(folder), name, str(times)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


class FileCase(HomeCase):
    def setUp(self) -> None:
        super().setUp()
        self.file = JsonFile("collections.json")
        self.path = self.home / "collections.json"


class Read(FileCase):
    def test_no_file_is_an_empty_mapping(self) -> None:
        self.assertEqual(self.file.read(), {})
        self.assertEqual(JsonFile("x.json", empty=lambda: {"a": 1}).read(), {"a": 1})
        self.assertIsNone(self.file.problem)

    def test_a_hand_edit_is_picked_up(self) -> None:
        for name, content in BY_HAND:
            with self.subTest(name):
                self.path.write_bytes(content)
                self.assertEqual(self.file.read(), {"a": 1})
        self.path.write_bytes(b'{"a": 2}')
        self.assertEqual(self.file.read(), {"a": 2})
        self.path.unlink()
        self.assertEqual(self.file.read(), {})

    def test_an_edit_of_equal_size_in_the_same_tick_is_picked_up(self) -> None:
        for number in range(5):
            self.path.write_bytes(b'{"a": %d}' % number)
            self.assertEqual(self.file.read(), {"a": number})

    def test_an_old_file_is_parsed_once(self) -> None:
        self.path.write_bytes(b'{"a": 1}')
        os.utime(self.path, (1_000_000_000, 1_000_000_000))
        first = self.file.read()
        with mock.patch.object(disk, "read", side_effect=AssertionError("read again")):
            self.assertIs(self.file.read(), first)

    def test_within_a_moment_a_file_is_looked_at_once_and_own_edits_show(self) -> None:
        self.path.write_bytes(b'{"a": 1}')
        with moment():
            self.assertEqual(self.file.read(), {"a": 1})
            self.path.write_bytes(b'{"a": 22}')
            self.assertEqual(self.file.read(), {"a": 1})
            with self.file.edit() as saved:
                self.assertEqual(saved, {"a": 22}, "an edit is made to what is on disk")
                saved["a"] = 3
            self.assertEqual(self.file.read(), {"a": 3})
        self.path.write_bytes(b'{"a": 44}')
        self.assertEqual(self.file.read(), {"a": 44}, "afterwards every read looks again")

    def test_moments_that_follow_at_once_share_a_look_until_something_changes(self) -> None:
        def seen() -> object:
            with moment():
                with moment():
                    self.file.read()
                return self.file.read()["a"]

        now = [1.0]
        with mock.patch.object(files.time, "monotonic", lambda: now[0]):
            self.path.write_bytes(b'{"a": 1}')
            self.assertEqual(seen(), 1)
            self.path.write_bytes(b'{"a": 22}')
            self.assertEqual(seen(), 1, "an edit by hand shows a little later")
            now[0] += FRESH
            self.assertEqual(seen(), 22)
            with self.file.edit() as saved:
                saved["a"] = 3
            self.assertEqual(seen(), 3, "one of our own at once")
            self.path.write_bytes(b'{"a": 44}')
            look_again()
            self.assertEqual(seen(), 44)
            other = home.use(self.path.parent / "other")
            (other / self.file.name).write_bytes(b'{"a": 5}')
            self.assertEqual(seen(), 5, "another folder is another moment")

    def test_a_file_that_was_repaired_is_seen_at_the_next_request(self) -> None:
        self.path.write_bytes(b'{"a": 1')
        with self.assertRaises(Problem), moment():
            self.file.read()
        self.path.write_bytes(b'{"a": 1}')
        with moment():
            self.assertEqual(self.file.read(), {"a": 1})

    def test_once_a_moment_each_thing_that_is_asked_about_is_worked_out_once(self) -> None:
        done: list[str] = []

        @once_a_moment
        def of(name: str) -> str:
            done.append(name)
            return name.upper()

        with moment():
            self.assertEqual([of("a"), of("b"), of("a")], ["A", "B", "A"])
        self.assertEqual(done, ["a", "b"])

    def test_once_a_moment_what_rests_on_files_is_worked_out_once(self) -> None:
        done: list[int] = []

        @once_a_moment
        def doubled() -> int:
            done.append(1)
            return int(self.file.read().get("a", 0)) * 2

        self.assertEqual((doubled(), doubled(), len(done)), (0, 0, 2), "outside of a moment each time")
        with moment():
            self.assertEqual((doubled(), doubled(), len(done)), (0, 0, 3))
            with self.file.edit() as saved:
                saved["a"] = 4
            self.assertEqual((doubled(), len(done)), (8, 4), "an edit is seen at once by who made it")
        self.assertEqual(doubled(), 8)

    def test_what_does_not_parse_is_reported_and_left_alone(self) -> None:
        for name, content, line, words in BROKEN:
            with self.subTest(name):
                self.path.write_bytes(content)
                with self.assertRaises(Problem) as raised:
                    self.file.read()
                problem = raised.exception
                self.assertEqual((problem.status, problem.kind), (503, "config"))
                self.assertIn(f"collections.json, line {line}:", problem.message)
                self.assertIn(words, problem.message)
                self.assertEqual(self.file.problem, problem.message)
                with self.assertRaises(Problem), self.file.edit() as saved:
                    saved["new"] = 1
                self.assertEqual(self.path.read_bytes(), content)
        self.path.write_bytes(b'{"a": 1}')
        self.assertIsNone(self.file.problem)

    def test_a_newer_version_is_refused_and_left_alone(self) -> None:
        content = b'{"$schema_version": 2, "a": 1}'
        self.path.write_bytes(content)
        for attempt in (self.file.read, lambda: self.file.edit().__enter__()):
            with self.assertRaisesRegex(Problem, "collections.json .* version 2.* newer"):
                attempt()
        self.assertEqual(self.path.read_bytes(), content)

    def test_an_older_version_is_lifted(self) -> None:
        file = JsonFile("old.json", version=2)
        (self.home / "old.json").write_bytes(b'{"a": 1}')
        with mock.patch.dict(migrate.LIFTS, {("old.json", 1): lambda old: {"b": old["a"]}}):
            self.assertEqual(file.read(), {"b": 1})
            with file.edit() as saved:
                saved["c"] = 2
        self.assertEqual(
            json.loads((self.home / "old.json").read_bytes()), {"$schema_version": 2, "b": 1, "c": 2}
        )

    def test_another_folder_is_another_file(self) -> None:
        with self.file.edit() as saved:
            saved["a"] = 1
        home.use(self.home / "second")
        self.assertEqual(self.file.read(), {})
        home.use(self.home)
        self.assertEqual(self.file.read(), {"a": 1})


class Edit(FileCase):
    def test_saved_with_its_version_and_read_without(self) -> None:
        with self.file.edit() as saved:
            saved["käse"] = {"members": ["a"]}
        self.assertEqual(self.file.read(), {"käse": {"members": ["a"]}})
        text = self.path.read_text(encoding="utf-8")
        self.assertEqual(json.loads(text), {"$schema_version": 1, "käse": {"members": ["a"]}})
        self.assertIn("käse", text)

    def test_half_a_surrogate_pair_can_be_kept(self) -> None:
        with self.file.edit() as saved:
            saved["a"] = "\ud800"
        self.assertEqual(self.file.read(), {"a": "\ud800"})

    def test_untouched_when_the_block_raises_or_changes_nothing(self) -> None:
        with self.file.edit() as saved:
            saved["a"] = {"x": True}
        before = os.stat(self.path)
        with self.assertRaises(KeyError), self.file.edit() as saved:
            saved["b"] = 1
            raise KeyError
        with self.file.edit() as saved:
            saved["a"] = {"x": True}
        self.assertEqual(os.stat(self.path).st_ino, before.st_ino)
        self.assertEqual(self.file.read(), {"a": {"x": True}})
        with self.file.edit() as saved:
            saved["a"] = {"x": 1}  # equal in Python, another thing in JSON
        self.assertIs(type(self.file.read()["a"]["x"]), int)

    def test_readers_keep_their_mapping(self) -> None:
        with self.file.edit() as saved:
            saved["a"] = {"x": [1]}
        held = self.file.read()
        with self.file.edit() as saved:
            saved["a"]["x"].append(2)
        self.assertEqual((held, self.file.read()), ({"a": {"x": [1]}}, {"a": {"x": [1, 2]}}))

    @unittest.skipIf(os.name == "nt", "modes and symbolic links")
    def test_modes_and_symbolic_links(self) -> None:
        real = self.home / "elsewhere" / "real.json"
        real.parent.mkdir()
        real.write_bytes(b'{"a": 1}')
        real.chmod(0o644)
        self.path.symlink_to(real)
        with self.file.edit() as saved:
            saved["b"] = 2
        self.assertTrue(self.path.is_symlink())
        self.assertEqual(json.loads(real.read_bytes()), {"$schema_version": 1, "a": 1, "b": 2})
        self.assertEqual(real.stat().st_mode & 0o777, 0o600)
        self.assertEqual((real.parent / "real.json.lock").stat().st_mode & 0o777, 0o600)
        self.assertEqual(sorted(path.name for path in real.parent.iterdir()), ["real.json", "real.json.lock"])

    @unittest.skipIf(os.name == "nt", "symbolic links")
    def test_a_link_to_nothing_yet(self) -> None:
        self.path.symlink_to(self.home / "made" / "later.json")
        with self.file.edit() as saved:
            saved["a"] = 1
        self.assertEqual(self.file.read(), {"a": 1})
        self.assertTrue(self.path.is_symlink())

    def test_a_full_disk_changes_nothing(self) -> None:
        with self.file.edit() as saved:
            saved["a"] = 1
        before = self.path.read_bytes()
        for seam in ("write", "sync_folder"):
            with (
                self.subTest(seam),
                mock.patch.object(disk, seam, side_effect=OSError(28, "No space left on device")),
            ):
                with self.assertRaises(Problem) as raised, self.file.edit() as saved:
                    saved["a"] = 1 if seam == "sync_folder" else 2
                    saved["b"] = 2
                self.assertEqual(raised.exception.status, 507)
                self.assertIn("collections.json", raised.exception.message)
                if seam == "write":
                    self.assertEqual(self.path.read_bytes(), before)
                self.assertEqual([p.name for p in self.home.iterdir() if p.name.endswith(".draft")], [])
        self.assertEqual(self.file.read()["a"], 1)

    def test_a_killed_writers_draft_is_no_hindrance(self) -> None:
        disk.draft_of(self.path).write_bytes(b"{half")
        with self.file.edit() as saved:
            saved["a"] = 1
        self.assertEqual(self.file.read(), {"a": 1})
        self.assertFalse(disk.draft_of(self.path).exists())

    def test_a_writer_that_holds_on_is_named(self) -> None:
        lock = files.lock_beside(self.path)
        self.assertTrue(lock.take())
        self.addCleanup(lock.release)
        with mock.patch.object(files, "WAIT", 0.0), self.assertRaises(Problem) as raised, self.file.edit():
            pass
        self.assertEqual((raised.exception.status, raised.exception.kind), (503, "busy"))

    def test_sharing_violations_are_waited_out(self) -> None:
        refusals = iter([PermissionError(), PermissionError()])
        slept: list[float] = []

        def replace() -> str:
            for refusal in refusals:
                raise refusal
            return "done"

        self.assertEqual(disk.patiently(replace, (0.1, 0.2, 0.4), slept.append), "done")
        self.assertEqual(slept, [0.1, 0.2])
        with self.assertRaises(PermissionError):
            disk.patiently(mock.Mock(side_effect=PermissionError), (0.1,), slept.append)


class Together(FileCase):
    def test_24_threads_keep_all_24(self) -> None:
        def save(number: int) -> None:
            with JsonFile("collections.json").edit() as saved:
                saved[f"c{number}"] = {}

        threads = [threading.Thread(target=save, args=(number,)) for number in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(self.file.read()), {f"c{number}" for number in range(24)})

    def test_processes_and_threads_keep_everything_and_no_reader_sees_half(self) -> None:
        children = [editor(self.home, f"p{number}", 6) for number in range(4)]
        torn: list[str] = []
        stopped = threading.Event()

        def read() -> None:
            while not stopped.is_set():
                if self.file.problem:
                    torn.append(str(self.file.problem))
                if self.path.exists():
                    json.loads(self.path.read_bytes())

        reader = threading.Thread(target=read)
        reader.start()
        try:
            for number in range(6):
                with self.file.edit() as saved:
                    saved[f"mine-{number}"] = {}
            for child in children:
                child.communicate(timeout=60)
        finally:
            stopped.set()
            reader.join()
        self.assertEqual(torn, [])
        expected = {f"p{child}-{number}" for child in range(4) for number in range(6)}
        self.assertEqual(set(self.file.read()), expected | {f"mine-{number}" for number in range(6)})


def kill_while_saving(case: FileCase, kills: int) -> None:
    """Kill a process that saves in a loop, again and again: all it reported as saved must be there, the file
    whole."""
    saved: set[str] = set()
    for kill in range(kills):
        child = editor(case.home, f"k{kill}", 10_000)
        assert child.stdout is not None
        for _ in range(1 + kill % 4):
            saved.add(child.stdout.readline().strip())
        child.kill()
        saved |= set(child.communicate()[0].split())
        home.use(case.home)
        case.assertLessEqual(saved, set(case.file.read()))
        case.assertEqual([path.name for path in case.home.iterdir() if path.name.endswith(".draft")], [])


class Killed(FileCase):
    def test_three_kills(self) -> None:
        kill_while_saving(self, 3)


@unittest.skipIf(os.environ.get("BENCH_QUICK"), "slow")
class SlowKilled(FileCase):
    def test_25_kills(self) -> None:
        kill_while_saving(self, 25)
