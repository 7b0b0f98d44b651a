import tempfile
import unittest
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

from metrics.evidence import routes
from metrics.store import home
from metrics.store.stamps import stamp

NOW = 1_796_000_000.0
FIRST, SECOND = "r20261129-114140-0a1b2c3d", "r20261129-114141-0a1b2c3e"


class RoutesTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        home.use(self.folder)
        self.addCleanup(home.close)

    def row(self, turn=1, model="e:a", status="ok", at=NOW, conversation=FIRST, **more):
        return {
            "at": stamp(at),
            "conversation": conversation,
            "turn": turn,
            "sticky": "k",
            "model_id": model,
            "players": [model],
            "status": status,
            "seconds": 1.0,
            **more,
        }

    def restart(self):
        home.close()
        home.use(self.folder)

    def test_turns_are_counted_as_they_begin(self):
        places = [routes.begin("k", NOW + at, FIRST if at == 0 else SECOND, "e:a") for at in range(3)]
        self.assertEqual([place.conversation for place in places], [FIRST] * 3)
        self.assertEqual([place.turn for place in places], [1, 2, 3])
        self.assertEqual([place.model_id for place in places], [None, "e:a", "e:a"])

    def test_it_lapses_after_an_hour_of_silence(self):
        routes.begin("k", NOW, FIRST, "e:a")
        for after, found in [(routes.LAPSE, "e:a"), (routes.LAPSE + 1, None)]:
            self.assertEqual(routes.find("k", NOW + after), found)
        place = routes.begin("k", NOW + routes.LAPSE + 1, SECOND, "e:b")
        self.assertEqual((place.conversation, place.turn, place.model_id), (SECOND, 1, None))

    def test_anew_is_another_conversation(self):
        routes.begin("k", NOW, FIRST, "e:a")
        self.assertEqual(routes.begin("k", NOW, SECOND, "e:b", anew=True), routes.Place(SECOND, 1, None))
        routes.record(self.row(at=NOW - 1))
        self.assertEqual(routes.find("k", NOW), "e:b", "the turn of the first one ends after it")

    def test_ended_it_is_given_anew(self):
        routes.begin("k", NOW, FIRST, "e:a")
        self.assertFalse(routes.end("k", SECOND), "another one")
        self.assertTrue(routes.end("k", FIRST))
        self.assertFalse(routes.end("k", FIRST), "it is over already")
        self.assertIsNone(routes.find("k", NOW))
        routes.record(self.row())
        self.assertIsNone(routes.find("k", NOW), "a turn that was under way does not revive it")
        self.restart()
        self.assertIsNone(routes.find("k", NOW))
        self.assertEqual(routes.begin("k", NOW + 2, SECOND, "e:b"), routes.Place(SECOND, 1, None))
        self.assertEqual(routes.find("k", NOW + 2), "e:b")

    def test_models_are_numbered_as_they_are_asked(self):
        routes.begin("k", NOW, FIRST, "e:a")
        asked = [routes.number("k", FIRST, model) for model in ("e:a", "e:b", "e:a")]
        self.assertEqual(asked, [1, 2, 1])
        self.assertEqual(routes.number("k", SECOND, "e:b"), 1, "of a conversation that is over")

    def test_the_first_work_of_a_model(self):
        routes.begin("k", NOW, FIRST, "e:a")
        done = [routes.first_work("k", FIRST, model) for model in ("e:a", "e:a", "e:b")]
        self.assertEqual(done, [True, False, True])

    def test_who_answered_plays_on(self):
        routes.begin("k", NOW, FIRST, "e:a")
        for status, playing in [("error", "e:a"), ("ok", "e:b")]:
            routes.record(self.row(model="e:b", status=status))
            self.assertEqual(routes.find("k", NOW), playing, status)

    def test_who_failed_its_caller_is_known_until_a_turn_goes_well(self):
        routes.begin("k", NOW, FIRST, "e:a")
        for status, error, broke in [
            ("cut", "cut", "e:b"),
            ("ok", None, None),
            ("error", "upstream", "e:b"),
            ("error", "context", None),
            ("timeout", "timeout", "e:b"),
            ("error", "caller_left", None),
            ("empty", "empty", "e:b"),
            ("refused", "refused", None),
        ]:
            with self.subTest(status, error=error):
                routes.record(self.row(model="e:b", status=status, error=error))
                self.assertEqual(routes.broke("k", NOW), broke)
        routes.record(self.row(model="e:b", status="cut", error="cut"))
        self.restart()
        self.assertEqual(routes.broke("k", NOW), "e:b")
        self.assertEqual(routes.broke("k", NOW + routes.LAPSE + 2), None)
        self.assertEqual(routes.broke("other", NOW), None)

    def test_a_restart_forgets_nothing(self):
        routes.begin("k", NOW, FIRST, "e:a")
        routes.record(self.row(turn=1, model="e:b", players=["e:a", "e:b"]))
        routes.begin("k", NOW + 1, SECOND, "e:a")
        routes.record(self.row(turn=2, model="e:b", at=NOW + 1))
        self.restart()
        self.assertEqual(routes.find("k", NOW + 2), "e:b")
        self.assertEqual(routes.begin("k", NOW + 2, SECOND, "e:a"), routes.Place(FIRST, 3, "e:b"))
        self.assertEqual(routes.number("k", FIRST, "e:b"), 2)
        self.assertFalse(routes.first_work("k", FIRST, "e:b"))
        self.assertTrue(routes.first_work("k", FIRST, "e:a"))

    def test_rows_alone_tell_it_all(self):
        """As after a kill that left no counters."""
        routes.begin("k", NOW, FIRST, "e:a")
        routes.record(self.row(turn=1, model="e:b", players=["e:a", "e:b"]))
        self.restart()
        for counters in self.folder.rglob("*count*"):
            counters.unlink()
        self.restart()
        self.assertEqual(routes.find("k", NOW), "e:b")
        self.assertEqual(routes.number("k", FIRST, "e:b"), 2)

    def begun(self, many, apart):
        """The keys that are kept after so many conversations, so many seconds apart."""
        for at in range(many):
            routes.begin(f"k{at}", NOW + at * apart, FIRST, "e:a")
        return routes.LOG.counted(list)

    def test_what_has_lapsed_is_dropped(self):
        kept = self.begun(3 * routes.SWEPT, 100)
        self.assertLessEqual(len(kept), routes.SWEPT + routes.LAPSE / 100)
        self.assertEqual(kept, [f"k{at}" for at in range(3 * routes.SWEPT)][-len(kept) :])

    def test_the_oldest_of_too_many_are_dropped(self):
        with mock.patch.object(routes, "MOST", 1000):
            kept = self.begun(2000, 0)
        self.assertLessEqual(len(kept), 1000 + routes.SWEPT)
        self.assertEqual(kept, [f"k{at}" for at in range(2000)][-len(kept) :])

    def test_whoever_looks_while_a_turn_is_noted_finds_the_conversation(self):
        """It is put at the end of those that are kept, and meanwhile it is nowhere."""
        others = self.enterContext(ThreadPoolExecutor(2))
        seen: list[Future[Any]] = []

        class Watched(dict[str, Any]):
            def pop(self, *about: Any) -> Any:
                live = super().pop(*about)
                if not seen:
                    seen.extend(others.submit(look, "k", NOW) for look in (routes.find, routes.broke))
                    for one in seen:
                        with suppress(TimeoutError):
                            one.result(0.05)
                return live

        routes.begin("k", NOW, FIRST, "e:a")
        routes.LOG.submit(self.row(status="error", error="upstream"))
        counters = routes.LOG.open().counters
        counters.state = Watched(counters.state)
        routes.begin("k", NOW, SECOND, "e:a")
        self.assertEqual([one.result() for one in seen], ["e:a", "e:a"])

    def test_a_long_turn_ends_later_than_it_began(self):
        routes.begin("k", NOW, FIRST, "e:a")
        routes.record(self.row(seconds=routes.LAPSE))
        self.assertEqual(routes.find("k", NOW + routes.LAPSE + 60), "e:a")

    def test_what_was_played_of_late(self):
        for turn, conversation in [(1, FIRST), (1, SECOND), (2, FIRST)]:
            routes.record(self.row(turn=turn, conversation=conversation, collection="core"))
        latest = [(row["conversation"], row["turn"]) for row in routes.recent(9, None, "core")[0]]
        self.assertEqual(latest, [(FIRST, 2), (SECOND, 1)])
        self.assertEqual(routes.recent(9, None, "other")[0], [])

    def test_the_turns_of_a_conversation(self):
        for turn in (1, 2):
            routes.begin("k", NOW, FIRST, "e:a")
            routes.record(self.row(turn=turn))
        self.assertEqual([row["turn"] for row in routes.turns(FIRST)], [2, 1])
        self.assertEqual([row["turn"] for row in routes.recent(1)[0]], [2])
