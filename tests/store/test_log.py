import json
import os
import threading
import unittest
from typing import Any
from unittest import mock

from metrics.records import Problem
from metrics.store import home, lines, log, openlog, writer
from metrics.store.log import JsonLog
from tests.store.logs import AT, LogCase, count, row


class Each(LogCase):
    def test_many_keys_as_one_by_one(self) -> None:
        keys = [f"k{number}" for number in range(8)]
        for number, key in enumerate((*keys, *keys[:4], "k1")):
            self.log.submit(row(number, "2026-10-01" if number < 8 else AT) | {"id": key})
            if number == 9:
                self.log.flush()
        asked = [*keys, "none"]
        expected = {key: found for key in asked if (found := self.log.find(key))}
        self.assertEqual(len(expected), 8)
        self.assertEqual(self.log.find_each(asked), expected)
        self.log.flush()
        self.assertEqual(self.log.find_each(asked), expected)
        home.close()
        self.assertEqual(self.log.find_each(asked), expected)
        self.assertEqual(self.log.find_each(["none"]), {})
        self.assertEqual(self.log.find_each([]), {})
        late = self.log.find_each(keys, since="2026-11")
        self.assertEqual(late, {key: one for key in keys if (one := self.log.find(key, since="2026-11"))})


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

    def test_a_file_a_day(self) -> None:
        daily = JsonLog("days", key="id", partition="day")
        for number, at in enumerate((AT, "2026-11-30", "2026-11-29")):
            daily.append(row(number, at))
        found = {
            path.name: [each["n"] for each in self.rows(path)]
            for path in (self.home / "days").glob("*.jsonl")
        }
        self.assertEqual(found, {"2026-11-29.jsonl": [0, 2], "2026-11-30.jsonl": [1]})
        home.close()
        self.assertEqual(daily.find("k1", since="2026-11-30"), row(1, "2026-11-30"))
        self.assertIsNone(daily.find("k0", since="2026-11-30"))
        self.assertEqual(daily.retain("2026-11-30"), 1)
        self.assertIsNone(daily.find("k0"))

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

    @unittest.skipIf(os.name == "nt", "modes")
    def test_a_file_that_others_could_read_is_closed_to_them(self) -> None:
        self.file.parent.mkdir()
        self.file.write_bytes(lines.encode(row(1)))
        self.file.chmod(0o644)
        self.log.open()
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)

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


class Later(LogCase):
    def test_who_reads_one_of_the_later_counts_waits_for_no_other(self) -> None:
        def other(state: dict[str, Any], row: dict[str, Any]) -> None:
            state["other"] = state.get("other", 0) + row["n"]

        late = JsonLog("rows", partition="month", fold=lambda state, row: None, later=(count, other))
        with mock.patch.object(writer, "wake"):
            for number in (1, 2, 3):
                late.submit(row(number))
                self.assertEqual(late.counted(lambda state: state["sum"], count), sum(range(number + 1)))
            self.assertNotIn("other", late.state)
            late.submit(row(4) | {"n": "bent"})
            late.submit(row(5))
        self.assertEqual(late.counted(lambda state: state["other"], other), 11)
        self.assertEqual(late.state["sum"], 6)
        self.assertEqual(late.counted(lambda state: (state["sum"], state["other"])), (11, 11))


class Keep(LogCase):
    def test_old_months_go_and_their_counts_stay(self) -> None:
        for number, at in enumerate(("2026-08-01", "2026-09-01", "2026-10-01", AT)):
            self.log.append(row(number, at))
        self.assertEqual(self.log.retain("2026-10"), 2)
        home.close()
        self.assertEqual(
            sorted(path.name for path in self.file.parent.iterdir() if path.name != "counters"),
            ["2026-10.index", "2026-10.jsonl", "2026-11.index", "2026-11.jsonl"],
        )
        self.assertIsNone(self.log.find("k0"))
        self.assertEqual([each["n"] for each in self.log.recent(9)[0]], [3, 2])
        self.assertEqual(self.again().state, {"rows": 4, "sum": 6})
        self.assertEqual(JsonLog("plain.jsonl").retain("2026-10"), 0)
