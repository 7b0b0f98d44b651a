"""The gateway as callers see it: one real server, a scripted provider, no sleeping."""

import http.client
import json
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

from metrics.play import relay
from tests.provider import CUT, Provider, chunk, error, garbage, gated, hang, reset, stream, text
from tests.running import Running

HELLO = [{"role": "user", "content": "hello"}]


def ask(model, messages=HELLO, **more):
    return {"model": model, "messages": messages, **more}


def setUpModule():
    """One server for all tests here, each with collections of its own."""
    # The provider ends first: a server waits for the seats that are still being answered.
    GatewayTest.bench = unittest.enterModuleContext(Running())
    GatewayTest.provider = unittest.enterModuleContext(Provider())


class GatewayTest(unittest.TestCase):
    seats = iter(range(1000))

    def collection(self, *answers, **saved):
        """A collection of its own whose members give `answers`; (name, aliases)."""
        number = next(self.seats)
        aliases = [f"m{number}-{at}" for at in range(len(answers))]
        for alias, given in zip(aliases, answers, strict=True):
            self.provider.script(alias, *(given if isinstance(given, tuple) else (given,)))
        self.bench.seat(f"c{number}", self.provider.base, *aliases, **saved)
        return f"c{number}", aliases

    def chat(self, model, messages=HELLO, **more):
        return self.bench.post("/v1/chat/completions", ask(model, messages, **more))

    def stream(self, model, path="/v1/chat/completions", **more):
        """(status, the events' JSON objects, the raw text) of a streamed request."""
        status, raw = self.bench.post(path, ask(model, stream=True, **more))
        if not isinstance(raw, str):
            return status, [], json.dumps(raw)
        lines = [line.removeprefix("data: ") for line in raw.splitlines()]
        return status, [json.loads(line) for line in lines if line.startswith("{")], raw


class PanelTest(GatewayTest):
    def test_every_seat_answers_by_name(self):
        name, aliases = self.collection(text("one"), text("two"))
        status, reply = self.chat(f"bench/{name}")
        self.assertEqual(status, 200)
        said = reply["choices"][0]["message"]["content"]
        for expected in ("one", "two", *aliases):
            self.assertIn(expected, said)
        seats = reply["bench"]["seats"]
        self.assertEqual([seat["status"] for seat in seats], ["ok", "ok"])
        self.assertEqual(seats[0]["tokens"], {"in": 11, "out": 7, "reasoning": None, "estimated": False})
        self.assertIsNone(seats[0]["cost"])
        self.assertEqual(reply["usage"]["total_tokens"], 36)
        self.assertEqual(reply["model"], f"bench/{name}")

    def test_the_conversation_arrives_as_it_was_sent(self):
        name, (alias,) = self.collection(text("ok"))
        turns = [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "two"},
            {"role": "user", "content": "three"},
        ]
        self.assertEqual(
            self.chat(name, turns, temperature=0.3, top_p=0.9, seed=4, stop="X", max_tokens=77)[0], 200
        )
        sent = self.provider.of(alias)[-1].json
        self.assertEqual(sent["messages"], turns)
        self.assertEqual((sent["temperature"], sent["top_p"], sent["seed"], sent["stop"]), (0.3, 0.9, 4, "X"))
        self.assertTrue(sent["stream"])

    def test_what_a_panel_leaves_out_is_named(self):
        name, _ = self.collection(text("ok"))
        _, reply = self.chat(name, response_format={"type": "json_object"}, presence_penalty=1)
        self.assertEqual(reply["bench"]["ignored"], ["presence_penalty", "response_format"])

    REFUSED = [
        ("a guest that is not on the bench", {"with": ["typo"]}, 400, "typo"),
        ("with that is no list", {"with": "typo"}, 400, "with"),
        ("two choices", {"n": 2}, 400, '"n"'),
        ("a number as content", {"messages": [{"role": "user", "content": 5}]}, 400, "content"),
        ("an unknown role", {"messages": [{"role": "banana", "content": "x"}]}, 400, "banana"),
        ("no model", {"model": None}, 400, "core"),
        ("an unknown collection", {"model": "bench/typo"}, 404, "core"),
        ("an unknown mode", {"model": "bench/core:best"}, 404, ":merged"),
        ("two modes", {"model": "bench/core:all", "bench": {"reply": "merged"}}, 400, "merged"),
    ]

    def test_bad_requests_are_refused_by_name(self):
        for name, change, status, said in self.REFUSED:
            with self.subTest(name):
                got, reply = self.bench.post("/v1/chat/completions", ask("core") | change)
                self.assertEqual(got, status, reply)
                self.assertIn(said, reply["error"]["message"])
                self.assertEqual(sorted(reply["error"]), ["code", "message", "param", "type"])

    def test_a_failed_seat_does_not_fail_the_panel(self):
        bad = [
            ("error", error(500, "boom", headers={"Retry-After": "0"})),
            ("reset", reset()),
            ("garbage", garbage()),
            ("refused", error(401, "bad key")),
            ("limited", error(429, "slow", headers={"Retry-After": "99"})),
        ]
        for kind, answer in bad:
            with self.subTest(kind):
                name, aliases = self.collection(answer, text("fine"))
                status, reply = self.chat(name)
                self.assertEqual(status, 200)
                seats = {seat["alias"]: seat for seat in reply["bench"]["seats"]}
                self.assertEqual(seats[aliases[0]]["status"], "error")
                self.assertTrue(seats[aliases[0]]["error"])
                self.assertEqual(seats[aliases[1]]["answer"], "fine")

    NOBODY = [
        (
            "limited",
            [error(429, "a", headers={"Retry-After": "99"}), error(429, "b", headers={"Retry-After": "55"})],
            429,
        ),
        ("the same refusal", [error(400, "bad"), error(400, "bad")], 400),
        ("broken", [garbage(), error(401, "bad key")], 502),
        ("mixed", [error(429, "a", headers={"Retry-After": "99"}), error(400, "b")], 502),
    ]

    def test_when_nobody_answers_the_status_says_why(self):
        for name, answers, status in self.NOBODY:
            with self.subTest(name):
                collection, _ = self.collection(*answers)
                self.assertEqual(self.chat(collection)[0], status)
                self.assertEqual(self.stream(collection)[0], status)

    def test_a_hanging_seat_times_out_and_the_reply_goes_without_it(self):
        name, aliases = self.collection(hang(), text("fine"))
        status, reply = self.chat(name, bench={"deadline": 0.3})
        self.assertEqual(status, 200)
        seats = {seat["alias"]: seat["status"] for seat in reply["bench"]["seats"]}
        self.assertEqual(seats, {aliases[0]: "timeout", aliases[1]: "ok"})

    def test_all_hanging_is_a_504(self):
        name, _ = self.collection(hang(), hang())
        self.assertEqual(self.chat(name, bench={"deadline": 0.2})[0], 504)

    def test_a_quorum_answers_and_the_rest_is_recorded(self):
        gate = threading.Event()
        name, aliases = self.collection(text("quick"), gated(["slow"], [gate]))
        status, reply = self.chat(name, bench={"quorum": 1})
        self.assertEqual(status, 200)
        self.assertEqual([seat["status"] for seat in reply["bench"]["seats"]], ["ok", "pending"])
        late = reply["bench"]["seats"][1]["call"]
        self.assertEqual(self.bench.post("/bench/pending", {"calls": [late]})[1], {"pending": []})
        gate.set()
        panel = reply["bench"]["panel"]
        for _ in range(200):
            told = self.bench.get(f"/api/panel/{panel}")[1]
            statuses = [seat["status"] for seat in told["panel"]["seats"]]
            if statuses == ["ok", "ok"]:
                break
        self.assertEqual(statuses, ["ok", "ok"])
        self.assertEqual(self.bench.post("/bench/pending", {"calls": [late]})[1], {"pending": [late]})

    def test_a_caller_who_hangs_up_does_not_stop_the_panel(self):
        gate = threading.Event()
        name, (alias,) = self.collection(gated(["the ", "answer"], [gate]))
        before = len(self.provider.requests)
        connection = http.client.HTTPConnection("127.0.0.1", self.bench.port)
        body = json.dumps(ask(name, stream=True))
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        self.provider.wait_for(before + 1)
        connection.close()
        gate.set()
        for _ in range(500):
            panels = self.bench.get(f"/api/log?collection={name}")[1]["panels"]
            if panels:
                break
        self.assertEqual(panels[0]["seats"][0]["status"], "ok")
        self.assertEqual(
            self.bench.get(f"/api/panel/{panels[0]['panel']}")[1]["body"]["answers"],
            {panels[0]["seats"][0]["call"]: "the answer"},
        )


class StreamTest(GatewayTest):
    def test_sections_in_finishing_order(self):
        gate = threading.Event()
        name, aliases = self.collection(gated(["slow"], [gate]), text("quick"))
        connection = http.client.HTTPConnection("127.0.0.1", self.bench.port)
        connection.request("POST", "/v1/chat/completions", json.dumps(ask(name, stream=True)))
        reply = connection.getresponse()
        said = b""
        while b"quick" not in said:
            said += reply.read1()
        self.assertNotIn(b"slow", said)
        gate.set()
        said += reply.read()
        self.assertLess(said.index(aliases[1].encode()), said.index(b"slow"))
        self.assertTrue(said.endswith(b"data: [DONE]\n\n"))
        connection.close()

    def test_a_merged_reply_comes_token_by_token(self):
        gates = [threading.Event(), threading.Event()]
        name, aliases = self.collection(text("one"), (text("two"), gated(["both ", "agree"], gates)))
        self.bench.post("/api/collection", {"name": name, "merger": aliases[1]})
        connection = http.client.HTTPConnection("127.0.0.1", self.bench.port)
        connection.request("POST", "/v1/chat/completions", json.dumps(ask(f"{name}:merged", stream=True)))
        gates[0].set()
        reply = connection.getresponse()
        said = b""
        while b"both " not in said:
            said += reply.read1()
        self.assertNotIn(b"agree", said)
        gates[1].set()
        said += reply.read()
        self.assertIn(b"Merged by", said)
        asked = self.provider.of(aliases[1])[-1].json["messages"][-1]["content"]
        for expected in ("hello", "one", "two", *aliases):
            self.assertIn(expected, asked)
        connection.close()

    def test_a_merger_that_fails_leaves_all_answers(self):
        name, aliases = self.collection(text("one"), (text("two"), error(400, "cannot")))
        self.bench.post("/api/collection", {"name": name, "merger": aliases[1]})
        status, reply = self.chat(f"{name}:merged")
        self.assertEqual(status, 200)
        said = reply["choices"][0]["message"]["content"]
        self.assertIn("one", said)
        self.assertIn("could not merge", reply["bench"]["note"])

    def test_an_error_after_the_200_ends_the_stream_without_done(self):
        name, _ = self.collection(stream(chunk({"role": "assistant"}), gate := threading.Event(), CUT))
        connection = http.client.HTTPConnection("127.0.0.1", self.bench.port, timeout=relay.QUIET / 2)
        connection.request("POST", "/v1/chat/completions", json.dumps(ask(name, stream=True)))
        reply = connection.getresponse()
        self.assertEqual(reply.status, 200, "after a second without an event the status is decided")
        gate.set()
        *_, last = [line for line in reply.read().splitlines() if line.startswith(b"data: ")]
        self.assertIn("error", json.loads(last[6:]))
        connection.close()

    def test_seats_one_by_one(self):
        name, aliases = self.collection(text("on", "e"), error(400, "no"))
        status, events, _ = self.stream(name, "/bench/ask")
        self.assertEqual(status, 200)
        kinds = [event["event"] for event in events]
        self.assertEqual((kinds[0], kinds[-1]), ("panel.started", "panel.done"))
        self.assertEqual(kinds.count("seat.done"), 2)
        deltas = "".join(event["text"] for event in events if event["event"] == "seat.delta")
        self.assertEqual(deltas, "one")
        self.assertEqual([seat["alias"] for seat in events[0]["seats"]], aliases)


class EvidenceTest(GatewayTest):
    def test_a_verdict_is_given_counted_and_shown(self):
        name, (alias,) = self.collection(text("a real finding"))
        call = self.chat(name)[1]["bench"]["seats"][0]["call"]
        self.assertEqual(
            self.bench.post("/bench/pending", {"calls": [call, "nonsense"]})[1], {"pending": [call]}
        )
        verdict = {"call": call, "useful": True, "note": "n", "real": ["a real finding"]}
        self.assertEqual(self.bench.post("/bench/verdict", verdict), (200, {"ok": True, "recorded": True}))
        self.assertEqual(self.bench.post("/bench/verdict", verdict), (200, {"ok": True, "recorded": False}))
        self.assertEqual(self.bench.post("/bench/pending", {"calls": [call]})[1], {"pending": []})
        record = self.bench.get(f"/bench/record?collection={name}")[1]["aliases"][alias]
        self.assertEqual((record["useful"], record["notUseful"], record["judged"]), (1, 0, 1))
        logged = json.loads(self.bench.do("log", "--json"))
        self.assertIn(call, json.dumps(logged))

    def test_renaming_an_alias_moves_no_evidence(self):
        name, (alias,) = self.collection(text("x"))
        call = self.chat(name)[1]["bench"]["seats"][0]["call"]
        self.bench.post("/bench/verdict", {"call": call, "useful": False})
        self.bench.do("model", "rename", alias, f"{alias}-new")
        record = self.bench.get(f"/bench/record?collection={name}")[1]["aliases"]
        self.assertEqual(record[f"{alias}-new"]["notUseful"], 1)

    BAD = [
        ("unknown call", {"call": "p20260101-000000-0a1b2c3d.member1", "useful": True}, 404),
        ("no call", {"useful": True}, 400),
        ("useful in words", {"call": "p20260101-000000-0a1b2c3d.member1", "useful": "yes"}, 400),
        (
            "claims that are no list",
            {"call": "p20260101-000000-0a1b2c3d.member1", "useful": True, "real": "x"},
            400,
        ),
        ("a path", {"call": "../../etc/passwd", "useful": True}, 404),
        ("withdrawn in words", {"call": "p20260101-000000-0a1b2c3d.member1", "withdrawn": "no"}, 400),
    ]

    def test_bad_verdicts(self):
        for name, body, status in self.BAD:
            with self.subTest(name):
                self.assertEqual(self.bench.post("/bench/verdict", body)[0], status)
        self.assertEqual(self.bench.post("/bench/verdict", [])[0], 400)
        self.assertEqual(self.bench.get("/bench/record")[0], 400)
        self.assertEqual(self.bench.post("/bench/pending", {"calls": 5})[0], 400)


class HouseTest(GatewayTest):
    def test_models(self):
        listed = self.bench.get("/v1/models")[1]["data"]
        by_id = {entry["id"]: entry for entry in listed}
        for wanted in ("bench/core", "bench/core:merged", "bench/core:route"):
            self.assertEqual(by_id[wanted]["object"], "model")
            self.assertEqual(
                by_id[wanted]["members"], ["practice-lint", "practice-paranoid", "practice-terse"]
            )
        for name in ("bench/core:merged", "bench%2Fcore%3Amerged", "core"):
            self.assertEqual(self.bench.get(f"/v1/models/{name}")[0], 200, name)
        self.assertEqual(self.bench.get("/v1/models/bench/typo")[0], 404)

    def test_unknown_paths_and_methods_are_json(self):
        """An earlier implementation answered any GET with its page and 200 (fault 21)."""
        for path in ("/healthz", "/api/nothing", "/favicon.ico", "/v1/embeddings"):
            status, body = self.bench.get(path)
            self.assertEqual(status, 404, path)
            self.assertIn("error", body)
        self.assertEqual(self.bench.get("/v1/chat/completions")[0], 405)
        self.assertEqual(self.bench.get("/health")[1]["ok"], True)

    def test_128_at_once(self):
        name, _ = self.collection(text("fine"))
        with ThreadPoolExecutor(128) as callers:
            statuses = list(callers.map(lambda _: self.chat(name)[0], range(256)))
        self.assertEqual(statuses, [200] * 256)

    def test_24_parallel_saves_keep_all(self):
        with ThreadPoolExecutor(24) as callers:
            saved = list(
                callers.map(
                    lambda n: self.bench.post(
                        "/api/collection", {"name": f"par-{n}", "members": ["practice-lint"]}
                    )[0],
                    range(24),
                )
            )
        self.assertEqual(saved, [200] * 24)
        kept = {entry["name"] for entry in self.bench.get("/api/collections")[1]["collections"]}
        self.assertLessEqual({f"par-{n}" for n in range(24)}, kept)
