"""What a log's rows add up to, kept beside it."""

import json
from typing import Any
from unittest import mock

from metrics.store import counters, home, log, openlog, writer
from tests.store.logs import LogCase, count, row


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
