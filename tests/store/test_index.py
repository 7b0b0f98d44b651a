import random
from pathlib import Path

from metrics.store import index, lines
from metrics.store.index import Index
from tests.store.case import HomeCase


class Case(HomeCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.home / "x.jsonl"
        self.path = self.home / "x.index"

    def write(self, *keys: str) -> list[int]:
        """Rows with these keys at the end of the log; where they begin."""
        places = []
        with self.log.open("ab") as file:
            for key in keys:
                places.append(file.tell())
                file.write(lines.encode({"key": key}))
        return places

    def settled(self) -> Index:
        made = Index(self.path, self.log, "key")
        made.settle(mend=True)
        return made

    def filled(self) -> Index:
        made = self.settled()
        made.fill(lines.size_of(self.log))
        made.save()
        return made


class Search(Case):
    def test_last_first(self) -> None:
        places = self.write("a", "b", "a", "c", "a")
        made = self.filled()
        self.assertEqual(list(made.offsets("a")), [places[4], places[2], places[0]])
        self.assertEqual(list(made.offsets("b")), [places[1]])
        self.assertEqual(list(made.offsets("none")), [])

    def test_far_back(self) -> None:
        places = self.write(*(f"k{number}" for number in range(5000)))
        made = self.filled()
        for number in random.Random(1).sample(range(5000), 50):
            self.assertEqual(list(made.offsets(f"k{number}")), [places[number]])

    def test_the_last_of_many_keys_in_one_look(self) -> None:
        draw = random.Random(2)
        keys = [f"k{draw.randrange(3000)}" for _ in range(6000)]
        places = self.write(*keys)
        made = self.filled()
        fresh = [f"k{number}" for number in (5, 7, 7)]
        more = self.write(*fresh)
        made.add(list(zip(map(index.digest, fresh), more, strict=True)), lines.size_of(self.log))
        last = dict(zip(keys, places, strict=True)) | dict(zip(fresh, more, strict=True))
        asked = [*(f"k{number}" for number in range(0, 3000, 7)), "k5", "k7", "none", "nothing"]
        expected = {key: last[key] for key in asked if key in last}
        self.assertEqual(made.latest(asked), expected)
        self.assertEqual(made.latest(["none"]), {})
        self.assertEqual(made.latest([]), {})
        for key in asked[::10]:
            self.assertEqual(made.latest([key]).get(key), next(made.offsets(key), None))

    def test_an_index_that_is_not_there_knows_nothing(self) -> None:
        self.assertEqual(self.settled().latest(["a"]), {})

    def test_bytes_that_only_look_like_a_record(self) -> None:
        mark = index.digest("a")
        straddling = [
            (b"x" * 8, int.from_bytes(mark, "little")),
            (mark, 7),
            (mark[4:] + mark[:4], 1),
            (mark[4:] + mark[:4], 2),
        ]
        self.path.write_bytes(b"".join(index.RECORD.pack(*record) for record in straddling))
        self.assertEqual(list(Index(self.path, self.log, "key").offsets("a")), [7])

    def test_keys_of_any_text(self) -> None:
        places = self.write("käse", "\ud800", "")
        made = self.filled()
        for key, place in zip(("käse", "\ud800", ""), places, strict=True):
            self.assertEqual(list(made.offsets(key)), [place])


class Settle(Case):
    def test_goes_on_where_it_ended(self) -> None:
        self.write("a", "b")
        self.filled()
        more = self.write("c")
        made = self.settled()
        self.assertEqual(made.covered, more[0])
        made.fill(lines.size_of(self.log))
        self.assertEqual(list(made.offsets("c")), more)
        self.assertEqual(lines.size_of(self.path), 2 * index.SIZE)  # the rest is in memory
        made.save()
        self.assertEqual(list(made.offsets("c")), more)
        self.assertEqual(lines.size_of(self.path), 3 * index.SIZE)

    def test_written_before_it_is_far_behind(self) -> None:
        made = self.settled()
        for count in range(1, 3 * index.BATCH):
            made.add([(index.digest("a"), count)], count)
            self.assertEqual(lines.size_of(self.path) // index.SIZE, count // index.BATCH * index.BATCH)
        made.add([(index.digest("a"), 3)], 10 * index.BATCH_BYTES)
        self.assertEqual(lines.size_of(self.path) // index.SIZE, 3 * index.BATCH)
        made.add([(index.digest("a"), 4)], 11 * index.BATCH_BYTES)
        self.assertEqual(lines.size_of(self.path) // index.SIZE, 3 * index.BATCH + 1)
        self.assertEqual(len(list(made.offsets("a"))), 3 * index.BATCH + 1)

    def test_what_does_not_fit_the_log_is_thrown_away(self) -> None:
        def cut(path: Path, size: int) -> None:
            path.write_bytes(path.read_bytes()[:size])

        self.write("a", "b", "c")
        self.filled()
        whole_log, whole_index = self.log.read_bytes(), self.path.read_bytes()
        for name, spoil in (
            ("the log is shorter", lambda: cut(self.log, 10)),
            ("the log is gone", self.log.unlink),
            ("the log is another", lambda: self.log.write_bytes(b"{}\n" + whole_log)),
            ("zeros after a power cut", lambda: self.path.write_bytes(whole_index + bytes(16))),
        ):
            self.log.write_bytes(whole_log)
            self.path.write_bytes(whole_index)
            spoil()
            with self.subTest(name):
                self.assertEqual((self.settled().covered, lines.size_of(self.path)), (0, 0))

    def test_a_torn_record_is_cut_off(self) -> None:
        self.write("a", "b")
        self.filled()
        whole = self.path.read_bytes()
        for extra in range(1, index.SIZE):
            self.path.write_bytes(whole + whole[:extra])
            self.assertEqual(self.settled().covered, lines.size_of(self.log))
            self.assertEqual(self.path.read_bytes(), whole)

    def test_without_mending_nothing_is_written(self) -> None:
        self.write("a")
        self.path.write_bytes(bytes(20))
        Index(self.path, self.log, "key").settle(mend=False)
        self.assertEqual(self.path.read_bytes(), bytes(20))


class Rebuild(Case):
    def test_while_rows_come(self) -> None:
        first = self.write("a", "b")
        old = self.settled()
        old.behind = True
        draft = old.rebuild(lines.size_of(self.log), lambda: False)
        assert draft is not None
        second = self.write("a")
        old.add([(index.digest("a"), second[0])], lines.size_of(self.log))
        self.assertEqual(list(old.offsets("a")), second)  # what is new is found meanwhile
        old.adopt(draft, lines.size_of(self.log))
        self.assertEqual(list(old.offsets("a")), [second[0], first[0]])
        self.assertFalse(old.behind)
        self.assertEqual(self.settled().covered, lines.size_of(self.log))

    def test_told_to_stop(self) -> None:
        self.write("a")
        self.assertIsNone(self.settled().rebuild(lines.size_of(self.log), lambda: True))
