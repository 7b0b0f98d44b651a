"""A log that is opened again, grows long, or meets a disk that refuses."""

import json
import os
import threading
import unittest
from typing import Any
from unittest import mock

from metrics.records import Problem
from metrics.store import counters, disk, home, index, lines, log, openlog, segment, waiting, writer
from tests.store.logs import LogCase, count, row

FULL = OSError(28, "No space left on device")


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

    def test_what_is_counted_later_is_there_for_whoever_asks(self) -> None:
        def at_once(state: dict[str, Any], row: dict[str, Any]) -> None:
            state["seen"] = state.get("seen", 0) + 1

        def made() -> log.JsonLog:
            return log.JsonLog("rows", partition="month", fold=at_once, later=(count,))

        many = 3 * openlog.AT_ONCE
        late = made()
        with mock.patch.object(writer, "wake"):
            for number in range(many):
                late.submit(row(number))
                self.assertEqual(late.state["seen"], number + 1)
            self.assertNotIn("rows", late.state)
            late.submit(row(0) | {"n": "bent"})
            late.flush()
        wanted = {"seen": many + 1, "rows": many + 1, "sum": sum(range(many))}
        self.assertEqual(late.state, wanted)
        late.submit(row(5))
        self.assertEqual(late.counted(lambda state: state["sum"]), wanted["sum"] + 5)
        late.submit(row(6))  # and is saved while nobody asked
        home.close()
        with mock.patch.object(counters.Counters, "add_stored", side_effect=AssertionError("it was read")):
            self.assertEqual(made().state["sum"], wanted["sum"] + 11)
        home.close()
        (self.file.parent / "counters").unlink()
        self.assertEqual(made().state["sum"], wanted["sum"] + 11)

    def test_values_that_are_replaced_are_saved_as_any_others(self) -> None:
        def latest(state: dict[str, Any], row: dict[str, Any]) -> None:
            state.pop(row["id"], None)
            state[row["id"]] = {"n": row["n"], "käse": [row["at"]]}
            if len(state) > 9:
                del state[next(iter(state))]

        logs = [
            log.JsonLog(name, partition="month", fold=latest, replaced=name == "replaced")
            for name in ("plain", "replaced")
        ]
        with mock.patch.object(counters, "AT_ONCE", 2):
            for number in range(80):
                for each in logs:
                    each.append(row(number) | {"id": f"k{number * 7 % 13}"})
                    if number % 5 == 0:
                        each.open().save()
                plain, replaced = [(self.home / each.name / "counters").read_bytes() for each in logs]
                self.assertEqual(plain, replaced)
        states = [each.state for each in logs]
        home.close()
        self.assertEqual([each.state for each in logs], states)

    def test_a_row_that_cannot_be_counted_is_kept_all_the_same(self) -> None:
        self.log.submit(row(1) | {"n": "many"})
        self.log.append(row(2) | {"n": None})
        self.assertEqual([each["n"] for each in self.rows()], ["many", None])
        self.assertEqual(self.log.state["rows"], self.again().state["rows"])

    def test_whatever_a_count_trips_over_the_row_is_written_and_the_others_are_counted(self) -> None:
        errors = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)
        for_each = [*errors, None]
        now, later = mock.Mock(side_effect=for_each), mock.Mock(side_effect=for_each)
        bent = log.JsonLog("rows", partition="month", fold=now, later=(later,))
        for number in range(len(for_each)):
            bent.submit(row(number))
        bent.flush()
        self.assertEqual([each["n"] for each in self.rows()], list(range(len(for_each))))
        self.assertEqual((now.call_count, later.call_count), (len(for_each), len(for_each)))

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

    def test_the_writer_goes_on_when_memory_is_short(self) -> None:
        other, missing, encode = log.JsonLog("other.jsonl"), threading.Event(), lines.encode

        def short_of_memory(row: dict[str, Any]) -> bytes:
            if row.get("id") == "k1" and missing.is_set():
                raise MemoryError
            return encode(row)

        missing.set()
        with mock.patch.object(writer, "AGAIN", 0.01), mock.patch.object(lines, "encode", short_of_memory):
            self.log.submit(row(1))
            self._until(lambda: "MemoryError" in str(log.trouble()))
            other.submit(row(2))
            self._until(lambda: (self.home / "other.jsonl").exists() and self.rows(self.home / "other.jsonl"))
            missing.clear()
            self._until(lambda: self.file.exists() and self.rows() == [row(1)])
            self._until(lambda: log.trouble() is None)

    def _until(self, come: Any) -> None:
        waited = threading.Event()
        for _ in range(1000):
            if come():
                return
            waited.wait(0.01)
        self.fail("it did not come")

    def test_nobody_waits_while_a_cut_makes_lines_of_rows(self) -> None:
        encode, memory, free = lines.encode, self.log.open().memory, []

        def looking(row: dict[str, Any]) -> bytes:
            def look() -> None:
                free.append(memory.acquire(blocking=False))
                if free[-1]:
                    memory.release()

            if "n" in row:  # else it is the file's first line
                other = threading.Thread(target=look)
                other.start()
                other.join()
            return encode(row)

        with mock.patch.object(writer, "wake"), mock.patch.object(lines, "encode", looking):
            for number in range(3):
                self.log.submit(row(number))
            self.log.cut()
        self.assertEqual(free, [True] * 3)
        self.assertEqual(len(self.rows()), 3)

    def test_memory_is_bounded(self) -> None:
        with mock.patch.object(writer, "wake"), mock.patch.object(waiting, "HELD", 5 * waiting.USUAL):
            for number in range(100):
                self.log.submit(row(number))
            with self.full_after(0), self.assertRaisesRegex(Problem, r"\d\d rows .* are lost"):
                self.log.flush()
        self.log.flush()
        self.assertLess(len(self.rows()), 15)

    def test_an_index_that_cannot_be_written_is_made_up_for(self) -> None:
        with mock.patch.object(index, "BATCH", 1):
            self.log.append(row(1))
            with mock.patch("metrics.store.index._append", side_effect=FULL):
                self.log.append(row(2))
                self.assertEqual(self.log.find("k2"), row(2))
            self.log.append(row(3))
        self.assertEqual(lines.size_of(self.file.with_suffix(".index")), 3 * index.SIZE)
        for number in (1, 2, 3):
            self.assertEqual(self.log.find(f"k{number}"), row(number))

    def test_a_kill_before_the_index_is_written_loses_nothing(self) -> None:
        self.log.append_all([row(1), row(2)])
        home.close()
        self.again().append(row(3))
        with mock.patch("metrics.store.index._append", side_effect=FULL):  # as if it had not come to that
            self.again()
        self.assertEqual(lines.size_of(self.file.with_suffix(".index")), 2 * index.SIZE)
        with mock.patch.object(home, "writable", return_value=False):  # another process only reads
            self.assertEqual(self.again().find("k3"), row(3))
            home.close()
        self.assertEqual(lines.size_of(self.file.with_suffix(".index")), 2 * index.SIZE)
        for number in (1, 2, 3):
            self.assertEqual(self.again().find(f"k{number}"), row(number))

    def test_counters_that_cannot_be_saved_are_counted_from_the_tail(self) -> None:
        self.log.append(row(1))
        with mock.patch.object(disk, "put", side_effect=Problem(507, "full")):
            home.close()
        self.assertEqual(self.again().state, {"rows": 1, "sum": 1})
