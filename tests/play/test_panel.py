import gc
import threading
import tracemalloc
import weakref
from unittest import mock

from metrics.client.chat import Conversation
from metrics.evidence import offloads, panels, reliability, waits
from metrics.limits import ledger
from metrics.play import panel as play
from metrics.play import seating
from metrics.play.panel import Complete, Done, Said, Started
from metrics.store import bodies
from tests.play.house import House, draw, request
from tests.provider import error, gated, hang, text


class PanelTest(House):
    def play(self, *answers, **asked):
        """All happenings of a panel whose members give `answers`."""
        aliases = [f"m{number}" for number in range(len(answers))]
        for alias, answer in zip(aliases, answers, strict=True):
            self.provider.script(alias, *(answer if isinstance(answer, tuple) else (answer,)))
        self.seat("core", *aliases, **asked.pop("saved", {}))
        self.panel = seating.convene(request(**asked), draw())
        return play.run(self.panel, detail=True)

    def test_what_happens_in_order(self):
        happenings = list(self.play(text("one"), text("two")))
        self.assertIsInstance(happenings[0], Started)
        self.assertIsInstance(happenings[-1], Complete)
        self.assertEqual([a.text for a in happenings[-1].answers], ["one", "two"])
        done = [happening.answer.seat.call for happening in happenings if isinstance(happening, Done)]
        self.assertEqual(sorted(done), [seat.call for seat in self.panel.seats])
        self.assertTrue(any(isinstance(happening, Said) for happening in happenings))

    def test_seats_are_called_at_once(self):
        """Two seats of which each waits for the other's request."""
        gates = [threading.Event(), threading.Event()]
        running = self.play(gated(["a"], [gates[0]]), gated(["b"], [gates[1]]))
        next(running)
        self.provider.wait_for(2)
        for gate in gates:
            gate.set()
        self.assertEqual(len(list(running)[-1].answers), 2)

    def test_a_seat_is_stopped_and_the_others_go_on(self):
        gates = [threading.Event(), threading.Event()]
        running = self.play(
            gated(["half ", "an answer"], [gates[0], threading.Event()]), gated(["b"], [gates[1]])
        )
        next(running)
        self.provider.wait_for(2)
        gates[0].set()
        first, second = (seat.call for seat in self.panel.seats)
        next(one for one in running if isinstance(one, Said) and "half" in getattr(one.event, "text", ""))
        self.assertEqual(play.stop(self.panel.id, first), [first])
        gates[1].set()
        complete = list(running)[-1]
        self.assertEqual(
            [(a.status, a.error, a.text) for a in complete.answers][0], ("cut", "stopped", "half ")
        )
        self.assertEqual(complete.answers[1].text, "b")
        self.assertIsNone(reliability.failing("fake:m0"))
        rows = {row["call"]: row for row in ledger.recent(9)[0]}
        self.assertEqual(rows[first]["error"], "stopped")

    def test_all_are_stopped_and_nothing_is_merged(self):
        running = self.play(hang(), hang(), reply="merged")
        next(running)
        self.provider.wait_for(2)
        self.assertEqual(play.stop(self.panel.id, "p.other"), [])
        self.assertEqual(len(play.stop(self.panel.id)), 2)
        complete = list(running)[-1]
        self.assertEqual({answer.error for answer in complete.answers}, {"stopped"})
        self.assertIn("stopped", complete.note)
        self.assertEqual(play.failure(complete.answers).kind, "stopped")
        self.assertIsNone(play.stop(self.panel.id), "it is over")

    def test_all_is_written_down(self):
        list(self.play(text("one"), error(401, "bad key")))
        row = panels.find(self.panel.id)
        self.assertEqual([seat["status"] for seat in row["seats"]], ["ok", "error"])
        self.assertEqual((row["collection"], row["task"], row["decision"]["seed"]), ("core", "hello", 7))
        self.assertNotIn("answer", row["seats"][0], "the words are in the body, not in the row")
        self.assertEqual(offloads.find(self.panel.seats[0].call)["model_id"], "fake:m0")
        body = bodies.read(self.panel.id)
        self.assertEqual(body["answers"], {self.panel.seats[0].call: "one", self.panel.seats[1].call: ""})
        self.assertEqual(body["messages"], [{"role": "user", "content": "hello"}])

    BODIES = [
        ("all", True, True, "hello"),
        ("errors", False, True, "hello"),
        ("none", False, False, None),
    ]

    def test_bodies_are_kept_as_the_setting_says(self):
        for setting, of_good, of_bad, task in self.BODIES:
            for answer, kept in ((text("one"), of_good), (error(401, "x"), of_bad)):
                with self.subTest(setting, kept=kept):
                    self.setUp()
                    self.settings(bodies=setting)
                    list(self.play(answer))
                    self.assertEqual(bodies.read(self.panel.id) is not None, kept)
                    self.assertEqual(panels.find(self.panel.id)["task"], task)
                    self.assertEqual(offloads.find(self.panel.seats[0].call)["task"], task)
                    self.doCleanups()

    def test_candidates_that_did_not_sit_have_waited(self):
        self.add("x1", "x2")
        list(self.play(text("one"), saved={"explorers": 1}))
        sat = self.panel.seats[1].target.model_id
        other = {"fake:x1", "fake:x2"} - {sat}
        self.assertEqual(
            {name: wait for name, wait in waits.of("core").items() if wait}, dict.fromkeys(other, 1)
        )

    def test_the_deadline_passes_and_the_reply_goes_without_it(self):
        complete = list(self.play(hang(), text("fine"), deadline=0.3))[-1]
        self.assertEqual([answer.status for answer in complete.answers], ["timeout", "ok"])
        self.assertEqual(complete.pending, ())

    def test_a_quorum_is_enough_and_stragglers_are_recorded(self):
        gate = threading.Event()
        complete = list(self.play(text("quick"), gated(["slow"], [gate]), quorum=1))[-1]
        self.assertEqual([seat.target.alias for seat in complete.pending], ["m1"])
        self.assertEqual(panels.find(self.panel.id)["seats"][1]["status"], "pending")
        self.assertGreaterEqual(play.playing(), 1)
        gate.set()
        self.assertTrue(play.wait_idle(10))
        row = panels.find(self.panel.id)
        self.assertEqual(([seat["status"] for seat in row["seats"]], row["late"]), (["ok", "ok"], True))
        self.assertEqual(bodies.read(self.panel.id)["answers"][self.panel.seats[1].call], "slow")

    def test_it_has_left_when_it_says_its_last_word(self):
        """Whoever hears that nobody answered raises at once, and does not come back for the end."""
        running = self.play(error(401, "bad key"))
        while not isinstance(next(running), Complete):
            self.assertEqual(play.playing(), 1)
        self.assertEqual(play.playing(), 0)

    def test_failed_seats_make_no_quorum(self):
        complete = list(self.play(error(401, "x"), text("fine"), quorum=1))[-1]
        self.assertTrue(any(answer.status == "ok" for answer in complete.answers))

    def test_a_merged_panel_stays_whole_when_stragglers_come_in(self):
        gate = threading.Event()
        answers = [(text("one"), text("merged words")), text("two"), gated(["slow"], [gate])]
        complete = list(self.play(*answers, reply="merged", quorum=2, saved={"merger": "m0"}))[-1]
        self.assertEqual(complete.merged.text, "merged words")
        gate.set()
        self.assertTrue(play.wait_idle(10))
        row = panels.find(self.panel.id)
        self.assertEqual([seat["status"] for seat in row["seats"]], ["ok", "ok", "ok", "ok"])
        self.assertEqual(bodies.read(self.panel.id)["answers"][f"{self.panel.id}.merger"], "merged words")

    def test_what_was_sent_is_let_go_of_before_it_is_written_down(self):
        """By itself: a prompt that waits for a collection would be in memory twice (decisions 21)."""
        for name, answer in (("well", text("ok")), ("badly", error(400))):
            made, held = [], []

            def sent(messages, made=made):
                conversation = Conversation(messages)
                made.append(weakref.ref(conversation))
                return conversation

            def look(*_, made=made, held=held, **__):
                held.append(made[0]() is not None)

            gc.disable()
            self.addCleanup(gc.enable)
            with (
                self.subTest(name),
                mock.patch.object(play, "Conversation", sent),
                mock.patch.object(play.minutes, "keep", look),
            ):
                list(self.play(text("ok"), answer))
                self.assertEqual(held, [False])

    def test_one_serialised_conversation_is_shared(self):
        """Five seats and a megabyte: the body is written once (decisions 21)."""
        size = 1_000_000
        running = self.play(*[text("ok")] * 5, text="x" * size)
        tracemalloc.start()
        try:
            list(running)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        received = sum(len(request.body) for request in self.provider.requests)
        self.assertGreater(received, 5 * size)
        # The provider's own copies are in this process too: what we add must stay under two bodies.
        self.assertLess(peak - 2 * received, 2 * size)
