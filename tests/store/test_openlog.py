"""A log that is opened again, grows long, or meets a disk that refuses."""

import os
import threading
import unittest
from typing import Any
from unittest import mock

from metrics.records import Problem
from metrics.store import disk, home, index, lines, log, openlog, segment, waiting, writer
from tests.store.logs import LogCase, row

FULL = OSError(28, "No space left on device")


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
