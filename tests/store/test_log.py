import json
import os
import threading
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from metrics.records import Problem
from metrics.store import counters, disk, home, lines, log, openlog, segment, waiting, writer
from metrics.store.log import JsonLog
from tests.store.case import HomeCase

AT = "2026-11-29T14:22:20.123Z"
FULL = OSError(28, "No space left on device")


def count(state: dict[str, Any], row: dict[str, Any]) -> None:
    state["rows"] = state.get("rows", 0) + 1
    state["sum"] = state.get("sum", 0) + row["n"]


def row(number: int, at: str = AT, **more: Any) -> dict[str, Any]:
    return {"id": f"k{number}", "at": at, "n": number, **more}


class LogCase(HomeCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.monthly()
        self.file = self.home / "rows" / "2026-11.jsonl"

    def monthly(self) -> JsonLog:
        return JsonLog("rows", key="id", monthly=True, fold=count)

    def rows(self, path: Path | None = None) -> list[dict[str, Any]]:
        found = map(lines.decode, (path or self.file).read_bytes().splitlines())
        return [each for each in found if each]

    def again(self) -> JsonLog:
        """The log as the next start finds it."""
        home.close()
        self.log = self.monthly()
        return self.log

    def settle(self) -> None:
        """Wait for background work."""
        mender = self.log.open()._mender
        if mender:
            mender.join(30)
        self.assertTrue(self.log.ready)


class Write(LogCase):
    def test_appended_and_submitted_rows(self) -> None:
        plain = JsonLog("plain.jsonl", key="id", fold=count)
        plain.append(row(1))
        plain.append_all([row(2), row(3)])
        self.log.submit(row(4))
        self.log.flush()
        self.assertEqual([each["n"] for each in self.rows(self.home / "plain.jsonl")], [1, 2, 3])
        self.assertEqual([each["n"] for each in self.rows()], [4])
        self.assertEqual(plain.state, {"rows": 3, "sum": 6})

    def test_the_writer_writes_without_being_asked(self) -> None:
        mine, written = self.log.open(), threading.Event()
        drain = openlog.OpenLog.drain

        def watched(opened: openlog.OpenLog) -> None:
            drain(opened)
            if opened is mine:
                written.set()

        with mock.patch.object(openlog.OpenLog, "drain", watched):
            self.log.submit(row(1))
            self.assertTrue(written.wait(10))
        self.assertEqual(self.rows(), [row(1)])

    def test_a_file_a_month_by_the_rows_own_time(self) -> None:
        for number, at in enumerate(
            ("2026-10-31T23:59:59.999Z", AT, "2026-10-01T00:00:00.000Z", "2027-01-01")
        ):
            self.log.submit(row(number, at))
        self.log.flush()
        found = {
            path.name: [each["n"] for each in self.rows(path)] for path in self.file.parent.glob("*.jsonl")
        }
        self.assertEqual(found, {"2026-10.jsonl": [0, 2], "2026-11.jsonl": [1], "2027-01.jsonl": [3]})
        with self.assertRaises(ValueError):
            self.log.submit(row(5, "soon"))

    def test_every_file_says_its_version(self) -> None:
        self.log.append(row(1))
        self.assertEqual(json.loads(self.file.read_bytes().splitlines()[0]), {"$schema_version": 1})

    def test_a_newer_file_is_refused_by_name_and_left_alone(self) -> None:
        self.file.parent.mkdir()
        self.file.write_bytes(b'{"$schema_version":2}\n{"id":"k1"}')
        for attempt in (self.log.open, lambda: self.log.append(row(1)), lambda: self.log.find("k1")):
            with self.assertRaisesRegex(Problem, "2026-11.jsonl .* newer"):
                attempt()
        self.assertEqual(self.file.read_bytes(), b'{"$schema_version":2}\n{"id":"k1"}')

    @unittest.skipIf(os.name == "nt", "modes")
    def test_modes(self) -> None:
        self.log.submit(row(1))
        JsonLog("plain.jsonl", key="id", fold=count).append(row(1))
        home.close()
        for name, mode in self.modes().items():
            self.assertEqual(mode, 0o700 if name == "rows" else 0o600, name)

    def test_durable_rows_are_synced_before_append_returns(self) -> None:
        with mock.patch.object(os, "fsync", wraps=os.fsync) as sync:
            JsonLog("plain.jsonl").append(row(1))
            self.assertEqual(sync.call_count, 0)
            durable = JsonLog("durable.jsonl", durable=True)
            durable.append(row(1))
            self.assertEqual(
                sync.call_count, 1 if os.name == "nt" else 2
            )  # the file, and its name in the folder
            durable.append(row(2))
            self.assertEqual(sync.call_count, 2 if os.name == "nt" else 3)

    def test_a_folder_that_another_process_owns_is_not_written(self) -> None:
        self.log.append(row(1))
        before = self.file.read_bytes()
        self.again()
        with mock.patch.object(home, "writable", return_value=False):
            self.assertEqual(self.log.find("k1"), row(1))
            self.assertEqual(self.log.state, {"rows": 1, "sum": 1})
            with self.assertRaisesRegex(Problem, "belongs to the server"):
                self.log.append(row(2))
        home.close()
        self.assertEqual(self.file.read_bytes(), before)


class Heal(LogCase):
    def test_a_tail_torn_anywhere(self) -> None:
        whole = b"".join(map(lines.encode, (row(1), row(2))))
        last = whole.index(b"\n") + 1
        self.file.parent.mkdir()
        for cut in range(last, len(whole) + 1):
            with self.subTest(cut=cut):
                self.file.write_bytes(whole[:cut])
                self.again().append(row(3))
                complete = cut >= len(whole) - 1  # only the line end was missing
                kept = [1, 2, 3] if complete else [1, 3]
                self.assertEqual([each["n"] for each in self.rows()], kept)
                self.assertTrue(self.file.read_bytes().startswith(whole[:cut]))
                self.assertEqual(self.log.state, {"rows": len(kept), "sum": sum(kept)})
                self.assertEqual([each["n"] for each in self.log.recent(9)[0]], kept[::-1])
                self.assertEqual(self.log.find("k3"), row(3))
                self.assertEqual(self.log.find("k2"), row(2) if complete else None)

    def test_healed_at_open(self) -> None:
        self.log.append(row(1))
        home.close()
        with self.file.open("ab") as file:
            file.write(b'{"id":"k2","n"')
        self.again().open()
        self.assertTrue(self.file.read_bytes().endswith(b"\n"))

    def test_a_bent_row_counts_for_nothing_and_stops_nothing(self) -> None:
        self.file.parent.mkdir()
        self.file.write_bytes(b'{"id":"k1","n":"many"}\n[]\n\x00\x00\n' + lines.encode(row(2)))
        self.assertEqual(self.log.state["sum"], 2)
        self.assertEqual(self.log.find("k2"), row(2))


class Find(LogCase):
    def test_the_latest_row_wins_wherever_it_is(self) -> None:
        self.log.append(row(1, note="old"))
        self.log.append(row(1, note="new"))
        self.assertEqual(self.log.find("k1"), row(1, note="new"))
        self.log.submit(row(1, note="queued"))
        self.assertEqual(self.log.find("k1"), row(1, note="queued"))
        self.log.flush()
        self.assertEqual(self.log.find("k1"), row(1, note="queued"))
        self.assertEqual([each["note"] for each in self.log.find_all("k1")], ["queued", "new", "old"])
        self.assertIsNone(self.log.find("k2"))
        self.assertEqual(self.log.find_all("k2"), [])

    def test_months(self) -> None:
        self.log.append(row(1, "2026-09-01", note="september"))
        self.log.append(row(2, "2026-11-01"))
        self.assertEqual(self.log.find("k1")["note"], "september")  # type: ignore[index]
        self.assertIsNone(self.log.find("k1", since="2026-10"))
        self.assertIsNotNone(self.log.find("k2", since="2026-11"))

    def test_an_index_that_was_deleted_or_spoiled(self) -> None:
        for number in range(20):
            self.log.submit(row(number))
        index = self.file.with_suffix(".index")
        for name, spoil in (
            ("deleted", index.unlink),
            ("empty", lambda: index.write_bytes(b"")),
            ("garbage", lambda: index.write_bytes(os.urandom(16 * 20))),
            ("torn", lambda: index.write_bytes(index.read_bytes()[:-5])),
        ):
            home.close()
            spoil()
            with self.subTest(name):
                self.again()
                for number in range(20):
                    self.assertEqual(self.log.find(f"k{number}"), row(number))
        with mock.patch.object(lines, "encode", wraps=lines.encode):
            index.unlink()  # while it is in use
            self.log.append(row(20))
        self.assertEqual(self.log.find("k20"), row(20))

    def test_a_key_that_collides_is_told_apart(self) -> None:
        with (
            mock.patch("metrics.store.index.digest", return_value=b"same one"),
            mock.patch("metrics.store.segment.digest", return_value=b"same one"),
        ):
            for number in range(3):
                self.log.append(row(number))
            self.assertEqual(self.log.find("k0"), row(0))
            self.assertIsNone(self.log.find("k9"))


class Recent(LogCase):
    def test_pages(self) -> None:
        months = ("2026-09-30", "2026-10-01", AT)
        for number in range(9):
            self.log.append(row(number, months[number // 3]))
        pages, cursor = [], None
        while True:
            page, cursor = self.log.recent(2, cursor)
            pages.append([each["n"] for each in page])
            if cursor is None:
                break
        self.assertEqual(pages, [[8, 7], [6, 5], [4, 3], [2, 1], [0]])
        self.assertEqual(self.log.recent(9)[1], None)

    def test_a_row_that_was_corrected_is_there_once(self) -> None:
        for number, note in ((1, "old"), (2, "x"), (1, "new"), (3, "x")):
            self.log.append(row(number, note=note))
        found, _ = self.log.recent(9)
        self.assertEqual([(each["n"], each["note"]) for each in found], [(3, "x"), (1, "new"), (2, "x")])

    def test_queued_rows_are_among_them(self) -> None:
        self.log.submit(row(1))
        self.assertEqual(self.log.recent(1)[0], [row(1)])

    def test_a_choice_of_rows_and_how_far_it_looks(self) -> None:
        for number in range(10):
            self.log.append(row(number))
        odd = self.log.recent(2, None, lambda each: each["n"] % 2 == 1)
        self.assertEqual([each["n"] for each in odd[0]], [9, 7])
        with mock.patch.object(log, "LOOK", 3):
            none, cursor = self.log.recent(2, None, lambda each: each["n"] == 5)
            self.assertEqual(none, [])
            one, _ = self.log.recent(2, cursor, lambda each: each["n"] == 5)
            self.assertEqual([each["n"] for each in one], [5])

    def test_what_is_no_cursor(self) -> None:
        for cursor in ("", "x", "2026-11.jsonl:", "2026-11.jsonl:-1", ":5", "a:b"):
            with self.subTest(cursor), self.assertRaises(Problem) as raised:
                self.log.recent(1, cursor)
            self.assertEqual(raised.exception.status, 400)


class Counters(LogCase):
    def test_kept_over_a_restart_without_reading_the_log(self) -> None:
        for number in range(100):
            self.log.submit(row(number))
        self.again()
        with mock.patch.object(
            counters.Counters, "add_stored", side_effect=AssertionError("the log was read")
        ):
            self.assertEqual(self.log.state, {"rows": 100, "sum": 4950})

    def test_the_tail_since_they_were_saved_is_added(self) -> None:
        self.log.append(row(1))
        self.log.open().save()
        saved = (self.file.parent / "counters").read_bytes()
        self.log.append(row(2))
        home.close()
        (self.file.parent / "counters").write_bytes(saved)  # as a kill -9 leaves it
        self.assertEqual(self.again().state, {"rows": 2, "sum": 3})

    def test_never_a_row_twice_however_it_ends(self) -> None:
        for number in range(30):
            self.log.submit(row(number))
            if number % 7 == 0:
                self.log.open().save()  # with rows still queued: must not save what is not on disk
            if number % 5 == 0:
                self.log.flush()
        self.log.flush()
        self.log.open().save()
        copied = {path: path.read_bytes() for path in self.file.parent.iterdir()}
        home.close()
        for path, content in copied.items():
            path.write_bytes(content)
        self.assertEqual(self.again().state, {"rows": 30, "sum": 435})

    def test_counted_anew_when_they_do_not_fit(self) -> None:
        self.log.append_all([row(1), row(2)])
        home.close()
        saved, content = self.file.parent / "counters", self.file.read_bytes()
        kept = saved.read_bytes()
        for name, spoil, expected in (
            ("deleted", saved.unlink, 3),
            ("garbage", lambda: saved.write_bytes(b"{"), 3),
            ("zeros", lambda: saved.write_bytes(bytes(99)), 3),
            ("the log was edited", lambda: self.file.write_bytes(content.replace(b'"n":2', b'"n":7')), 8),
            ("the log was cut", lambda: self.file.write_bytes(content[: content.index(b'{"id":"k2"')]), 1),
            (
                "another way of counting",
                lambda: saved.write_bytes(kept.replace(b'"meaning": 1', b'"meaning": 0')),
                3,
            ),
            (
                "a newer version",
                lambda: saved.write_bytes(kept.replace(b'version": 1', b'version": 2')),
                3,
            ),
        ):
            self.file.write_bytes(content)
            saved.write_bytes(kept)
            spoil()
            with self.subTest(name):
                self.assertEqual(self.again().state["sum"], expected)
                home.close()

    def test_saved_from_time_to_time(self) -> None:
        with mock.patch.object(openlog, "SAVE_BYTES", 1000):
            for number in range(50):
                self.log.append(row(number))
        saved = json.loads((self.file.parent / "counters").read_bytes())
        self.assertGreater(saved["state"]["rows"], 25)

    def test_a_look_at_them_is_undisturbed(self) -> None:
        self.log.append(row(1))
        self.assertEqual(self.log.counted(lambda state: sorted(state.items())), [("rows", 1), ("sum", 1)])


class Background(LogCase):
    """What is too long to be read while somebody waits."""

    def setUp(self) -> None:
        super().setUp()
        for module in (openlog, segment):
            patch = mock.patch.object(module, "CATCH_UP", 1000)
            patch.start()
            self.addCleanup(patch.stop)
        rest = mock.patch.object(openlog, "REST", 0.0)
        rest.start()
        self.addCleanup(rest.stop)

    def grown(self, number: int = 200) -> None:
        """A log without counters and index, as another program may leave it."""
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_bytes(b"".join(lines.encode(row(each)) for each in range(number)))

    def test_counters_and_index_are_made_while_the_log_is_used(self) -> None:
        self.grown()
        held, go = threading.Event(), threading.Event()
        forwards = lines.forwards

        def slowly(*given: Any) -> Any:
            held.set()
            go.wait(10)
            yield from forwards(*given)

        with mock.patch.object(lines, "forwards", slowly):
            self.log.open()
            self.assertTrue(held.wait(10))
            self.assertFalse(self.log.ready)
            with self.assertRaises(Problem) as raised:
                self.log.find("k7")
            self.assertEqual((raised.exception.status, raised.exception.retry_after), (503, 5.0))
            self.log.append(row(200))
            self.log.submit(row(201))
            self.assertEqual(self.log.find("k200"), row(200))
            self.assertEqual([each["n"] for each in self.log.recent(2)[0]], [201, 200])
            go.set()
            self.settle()
        self.log.submit(row(202))
        for number in (0, 7, 199, 200, 201, 202):
            self.assertEqual(self.log.find(f"k{number}"), row(number))
        self.assertEqual(self.log.state, {"rows": 203, "sum": sum(range(203))})
        self.assertEqual(self.again().state, {"rows": 203, "sum": sum(range(203))})
        self.assertTrue(self.log.ready)

    def test_closed_in_the_middle(self) -> None:
        self.grown()
        with mock.patch.object(openlog, "REST", 1e6):
            self.log.open()
            self.again()
        self.log.open()
        self.settle()
        self.assertEqual(self.log.state, {"rows": 200, "sum": sum(range(200))})

    def test_a_file_that_was_changed_under_our_hands(self) -> None:
        self.log.append_all([row(number) for number in range(100)])
        for name, change, expected in (
            ("rows added by another", lambda: self._add(lines.encode(row(1000))), 1000),
            ("replaced", lambda: self._replace(lines.encode(row(5000))), 5000),
            ("removed", self.file.unlink, 0),
        ):
            with self.subTest(name):
                before = 0 if name != "rows added by another" else sum(range(100))
                change()
                self.log.append(row(7))
                self.settle()
                self.assertEqual(self.log.state["sum"], before + expected + 7)
                self.assertEqual(self.log.find("k7"), row(7))

    def _add(self, content: bytes) -> None:
        with self.file.open("ab") as file:
            file.write(content)

    def _replace(self, content: bytes) -> None:
        other = self.home / "other"
        other.write_bytes(content)
        os.replace(other, self.file)

    def test_opening_a_long_log_reads_next_to_nothing(self) -> None:
        open_a_long_log(self, 10_000)


@unittest.skipIf(os.environ.get("BENCH_QUICK"), "slow")
class SlowOpen(LogCase):
    def test_200_000_rows(self) -> None:
        open_a_long_log(self, 200_000)


def open_a_long_log(case: LogCase, length: int) -> None:
    """Open a log of so many rows and use it, counting the bytes that are read: they must not depend on its
    length."""
    case.file.parent.mkdir()
    case.file.write_bytes(b"".join(lines.encode(row(each)) for each in range(length)))
    with mock.patch.object(openlog, "CATCH_UP", 10**9), mock.patch.object(segment, "CATCH_UP", 10**9):
        case.log.open()
    case.again()
    read = [0]
    seam = disk.read

    def counting(fd: int, size: int, offset: int) -> bytes:
        content = seam(fd, size, offset)
        read[0] += len(content)
        return content

    with mock.patch.object(disk, "read", counting):
        case.assertEqual(case.log.state["rows"], length)
        case.assertTrue(case.log.ready)
        case.assertLess(read[0], 50_000)
        read[0] = 0
        case.log.submit(row(length))
        case.log.flush()
        for number in (length, length - 10):
            case.assertEqual(case.log.find(f"k{number}"), row(number))
        case.assertEqual(len(case.log.recent(20)[0]), 20)
        case.assertLess(read[0], 200_000)
        read[0] = 0
        case.assertEqual(case.log.find("k3"), row(3))
        case.assertLess(read[0], length * 16 + 50_000)


class Trouble(LogCase):
    def tearDown(self) -> None:
        self.assertIsNone(log.trouble())
        super().tearDown()

    def full_after(self, room: int) -> Any:
        """A disk with room for so many bytes: it takes what fits, then says no."""
        left = [room]

        def write(fd: int, piece: bytes | memoryview) -> int:
            if not left[0]:
                raise FULL
            took = os.write(fd, bytes(piece[: left[0]]))
            left[0] -= took
            return took

        return mock.patch.object(disk, "write", write)

    def test_an_append_is_refused_whole(self) -> None:
        self.log.append(row(1))
        before = self.file.read_bytes()
        for room in (0, 1, 20):
            with self.subTest(room), self.full_after(room), self.assertRaises(Problem) as raised:
                self.log.append(row(2))
            self.assertEqual(raised.exception.status, 507)
            self.assertIn("rows/2026-11.jsonl", raised.exception.message)
            self.assertEqual(self.file.read_bytes(), before)
            self.assertEqual(self.log.state, {"rows": 1, "sum": 1})
            self.assertIsNone(self.log.find("k2"))
        self.log.append(row(2))
        self.assertEqual(self.rows(), [row(1), row(2)])

    def test_the_first_line_of_a_file_is_refused_whole(self) -> None:
        for room in (0, 5, 30):
            with self.full_after(room), self.assertRaises(Problem):
                self.log.append(row(1))
        self.log.append(row(1))
        self.assertEqual(self.rows(), [row(1)])
        self.assertEqual(self.file.read_bytes().count(b"schema"), 1)

    def test_queued_rows_wait_and_the_trouble_is_told(self) -> None:
        with mock.patch.object(writer, "wake"):
            for number in range(3):
                self.log.submit(row(number))
            with self.full_after(10):
                self.assertFalse(writer.attempt(self.log.open()))
                self.assertIn("disk is full: rows/2026-11.jsonl", str(log.trouble()))
                self.log.submit(row(3))
                self.assertEqual(self.log.find("k1"), row(1))
                self.assertEqual(self.log.state["rows"], 4)
                with self.assertRaises(Problem):
                    self.log.flush()
            self.assertTrue(writer.attempt(self.log.open()))
        self.assertEqual([each["n"] for each in self.rows()], [0, 1, 2, 3])
        self.assertEqual(self.again().state["rows"], 4)

    def test_tried_again_by_itself(self) -> None:
        refused, free = threading.Event(), threading.Event()

        def write(fd: int, piece: bytes | memoryview) -> int:
            if not free.is_set():
                refused.set()
                raise FULL
            return os.write(fd, piece)

        with mock.patch.object(writer, "AGAIN", 0.01), mock.patch.object(disk, "write", write):
            self.log.submit(row(1))
            self.assertTrue(refused.wait(10))
            free.set()
            self._until(lambda: self.file.exists() and self.rows() == [row(1)])
            self._until(lambda: log.trouble() is None)

    def _until(self, come: Any) -> None:
        waited = threading.Event()
        for _ in range(1000):
            if come():
                return
            waited.wait(0.01)
        self.fail("it did not come")

    def test_memory_is_bounded(self) -> None:
        with mock.patch.object(writer, "wake"), mock.patch.object(waiting, "HELD", 500):
            for number in range(100):
                self.log.submit(row(number))
            with self.full_after(0), self.assertRaisesRegex(Problem, r"\d\d rows .* are lost"):
                self.log.flush()
        self.log.flush()
        self.assertLess(len(self.rows()), 15)

    def test_an_index_that_cannot_be_written_is_made_up_for(self) -> None:
        self.log.append(row(1))
        with mock.patch("metrics.store.index._append", side_effect=FULL):
            self.log.append(row(2))
        self.log.append(row(3))
        for number in (1, 2, 3):
            self.assertEqual(self.log.find(f"k{number}"), row(number))

    def test_counters_that_cannot_be_saved_are_counted_from_the_tail(self) -> None:
        self.log.append(row(1))
        with mock.patch.object(disk, "put", side_effect=Problem(507, "full")):
            home.close()
        self.assertEqual(self.again().state, {"rows": 1, "sum": 1})


class Keep(LogCase):
    def test_old_months_go_and_their_counts_stay(self) -> None:
        for number, at in enumerate(("2026-08-01", "2026-09-01", "2026-10-01", AT)):
            self.log.append(row(number, at))
        self.assertEqual(self.log.retain("2026-10"), 2)
        self.assertEqual(
            sorted(path.name for path in self.file.parent.iterdir() if path.name != "counters"),
            ["2026-10.index", "2026-10.jsonl", "2026-11.index", "2026-11.jsonl"],
        )
        self.assertIsNone(self.log.find("k0"))
        self.assertEqual([each["n"] for each in self.log.recent(9)[0]], [3, 2])
        self.assertEqual(self.again().state, {"rows": 4, "sum": 6})
        self.assertEqual(JsonLog("plain.jsonl").retain("2026-10"), 0)
