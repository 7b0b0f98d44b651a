"""The dashboard's stream: what it tells of the bus, how it goes on, and when it ends."""

import http.client
import json
import time
import unittest

import serve
from metrics import bus
from metrics.bus import Bus, News
from metrics.dashboard import events
from metrics.web.door import Door
from metrics.web.table import Call
from tests.bench.bench import BenchCase
from tests.running import Running

PANEL = {
    "panel": "p1",
    "collection": "core",
    "task": "a secret question",
    "seats": [
        {"seat": "member", "status": "ok"},
        {"seat": "explorer", "status": "error"},
        {"seat": "merger"},
    ],
}
CALL = {"model": "a", "connection": "e", "status": "ok", "usage_raw": {"more": 1}}

# topic, facts -> the line that a page is told
TOLD = (
    (
        "panel.begun",
        {**PANEL, "seats": [{"seat": "member"}]},
        {"event": "panel", "state": "begun", "panel": "p1", "collection": "core", "seats": 1, "answered": 0}
        | {"late": False},
    ),
    (
        "panel",
        {**PANEL, "late": True},
        {"event": "panel", "state": "done", "panel": "p1", "collection": "core", "seats": 2, "answered": 1}
        | {"late": True},
    ),
    (
        "turn",
        {"conversation": "r1", "turn": 2, "call": "r1.1", "status": "ok", "task": "a secret question"},
        {"event": "turn", "conversation": "r1", "turn": 2, "call": "r1.1", "status": "ok"},
    ),
    (
        "verdict",
        {"call": "p1.member1", "useful": True, "note": "a secret", "by": "local"},
        {"event": "verdict", "call": "p1.member1", "useful": True, "by": "local"},
    ),
    (
        "claim",
        {"call": "p1.member1", "decision": "real", "by": "local"},
        {"event": "claim", "call": "p1.member1", "decision": "real", "by": "local"},
    ),
    (
        "change",
        {"what": "settings", "field": "bodies", "by": "local", "at": "2026"},
        {"event": "change", "what": "settings", "field": "bodies", "by": "local"},
    ),
    ("quota", {"connection": "e", "model_id": ""}, {"event": "quota", "connections": ["e"]}),
)


def news(*said):
    return [News(f"b-{n}", n, topic, 0.0, facts) for n, (topic, facts) in enumerate(said, start=1)]


class TestDigest(unittest.TestCase):
    def test_every_topic_is_told_without_words(self):
        self.assertEqual({topic for topic, _, _ in TOLD} | {"call"}, set(bus.TOPICS))
        for topic, facts, line in TOLD:
            with self.subTest(topic):
                self.assertEqual(events.digest(news((topic, facts))), [line])
                self.assertNotIn("secret", json.dumps(line))

    def test_calls_are_one_line(self):
        failed = {**CALL, "model": "b", "connection": "f", "status": "timeout"}
        told = events.digest(news(*[("call", CALL)] * 3, ("claim", TOLD[4][1]), ("call", failed)))
        self.assertEqual([line["event"] for line in told], ["claim", "calls", "quota"])
        self.assertEqual(told[1], {"event": "calls", "calls": 4, "failed": 1, "models": ["a", "b"]})
        self.assertEqual(told[2]["connections"], ["e", "f"])

    def test_a_burst_of_many_models_is_a_short_line(self):
        rows = [("call", {**CALL, "model": f"m{n}", "connection": f"e{n}"}) for n in range(500)]
        for line in events.digest(news(*rows)):
            self.assertLess(len(json.dumps(line)), 1500)


class TestStream(unittest.TestCase):
    def setUp(self):
        self.kept = bus.BUS, bus.subscribe
        bus.BUS = Bus(name="b")
        bus.subscribe = bus.BUS.subscribe
        self.addCleanup(self.restore)
        self.signed_in = True

    def restore(self):
        bus.BUS, bus.subscribe = self.kept

    def lines(self, after=None):
        return events.lines(after, lambda: self.signed_in, lambda seconds: None)

    def test_goes_on_where_it_broke_off(self):
        told = self.lines()
        self.assertEqual(next(told), {"event": "hello", "id": "b-0", "missed": False})
        bus.BUS.publish("claim", TOLD[4][1])
        self.assertEqual(next(told)["id"], "b-1")
        told.close()
        bus.BUS.publish("quota", {"connection": "e"})
        again = self.lines("b-1")
        self.assertEqual(next(again), {"event": "hello", "id": "b-1", "missed": False})
        self.assertEqual(next(again), {"event": "quota", "connections": ["e"], "id": "b-2"})
        again.close()
        late = self.lines("before-7")
        self.assertEqual(next(late), {"event": "hello", "id": "b-2", "missed": True})
        late.close()

    def test_only_the_last_line_of_many_names_the_place(self):
        told = self.lines()
        next(told)
        for topic in ("claim", "call", "quota"):
            bus.BUS.publish(topic, {**CALL, **TOLD[4][1]})
        self.assertEqual([next(told).get("id") for _ in range(3)], [None, None, "b-3"])
        told.close()

    def test_ends(self):
        def sign_out():
            self.signed_in = False
            bus.BUS.publish("claim", TOLD[4][1])

        def fall_behind():
            for _ in range(bus.BEHIND + 1):
                bus.BUS.publish("claim", TOLD[4][1])

        for why, end in (
            ("signed_out", sign_out),
            ("behind", fall_behind),
            ("closing", lambda: bus.BUS.close()),
        ):
            with self.subTest(why):
                bus.BUS = Bus()
                bus.subscribe = bus.BUS.subscribe
                self.signed_in = True
                told = self.lines()
                next(told)
                end()
                *_, last = told
                self.assertEqual((last["event"], last["why"]), ("end", why))
                self.assertFalse(bus.BUS.watched)

    def test_whoever_leaves_is_no_reader_any_more(self):
        response = events.stream(Door(), Call("GET", "/api/events"))
        self.assertFalse(bus.BUS.watched)  # until it is read: a HEAD never is
        self.assertEqual(json.loads(next(response.body))["event"], "hello")
        self.assertTrue(bus.BUS.watched)
        response.body.close()
        self.assertFalse(bus.BUS.watched)


class TestWhatHappens(BenchCase):
    """What the rooms say on the bus when they record it."""

    def test_an_edit_of_the_bench(self):
        from metrics.bench import settings

        with bus.subscribe(["change"]) as reader:
            settings.save({"bodies": "none"}, "somebody")
            (told,) = reader.take(1)
            self.assertEqual((told.facts["what"], told.facts["field"]), ("settings", "bodies"))
            self.assertNotIn("new", told.facts)

    def test_is_there_only_for_who_is_signed_in(self):
        door = Door(token="a token of some length")
        response = events.stream(door, Call("GET", "/api/events", {"authorization": "Bearer bws_ended"}))
        next(response.body)
        bus.publish("claim", TOLD[4][1])
        self.assertEqual([json.loads(line)["event"] for line in response.body], ["end"])


class SlowServed(unittest.TestCase):
    """Over a real server: what is asked shows, and a server that is told to stop lets its watchers go."""

    def test_a_panel_shows_and_the_server_stops_in_time(self):
        with Running() as bench:
            link = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=30)
            link.request("GET", "/api/events")
            response = link.getresponse()
            self.assertEqual(json.loads(response.readline())["event"], "hello")
            asked = {"model": "bench/core", "messages": [{"role": "user", "content": "x == None"}]}
            self.assertEqual(bench.post("/v1/chat/completions", asked)[0], 200)
            states = []
            while states[-1:] != ["done"]:
                line = json.loads(response.readline())
                states += [line["state"]] if line["event"] == "panel" else []
            self.assertEqual(states, ["begun", "done"])
            begun = time.monotonic()
            bench.stop()
            self.assertLess(time.monotonic() - begun, serve.FINISH)
            *_, last = (json.loads(line) for line in response)
            self.assertEqual((last["event"], last["why"]), ("end", "closing"))
            link.close()


if __name__ == "__main__":
    unittest.main()
