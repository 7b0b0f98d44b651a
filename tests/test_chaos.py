"""Conversations over members that fail three times in ten, in every way there is: each turn ends in one
answer or in the right error, and what we keep agrees with what the members saw. CHAOS sets how many
conversations."""

import json
import os
import random
import re
import threading
import unittest
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.provider import CUT, Provider, chunk, error, garbage, reset, stream, text
from tests.running import Running

CONVERSATIONS = int(os.environ.get("CHAOS") or 60)
TURNS = 10
MEMBERS = ("m-one", "m-two", "m-three", "m-four")
FAILS = 0.3
NOW = {"Retry-After": "0"}  # so that the last member's retries wait for nothing

# fault -> its answer, and the status that a caller gets when every member does this
FAULTS = {
    "limited": (error(429, "slow down", headers=NOW), 429),
    "broken": (error(500, "boom"), 502),
    "busy": (error(503, "busy", headers=NOW), 502),
    "overloaded": (error(529, "overloaded", headers=NOW, type="overloaded_error"), 502),
    "late": (error(408, "too late", headers=NOW), 504),
    "bad key": (error(401, "bad key"), 401),
    "unknown": (error(404, "no such model"), 404),
    "schema": (error(400, "invalid schema for function look"), 400),
    "context": (error(400, "maximum context length is 5", code="context_length_exceeded"), 400),
    "reset": (reset(), 502),
    "half a head": (garbage(b"HTTP/1.1 200 OK\r\nContent-Ty"), 502),
    "garbage": (garbage(), 502),
    "empty": (text(""), 502),
    "only thoughts": (stream(chunk({"reasoning_content": "hm"}), chunk({}, "stop")), 502),
    "error in a 200": (stream({"error": {"message": "no", "code": 500}}), 502),
    "cut early": (stream(chunk({"role": "assistant"}), CUT, done=False), 502),
    "cut": (stream(chunk({"content": "half"}), CUT, done=False), 502),
}


@dataclass(frozen=True)
class Seen:
    """A request that a member got: of which turn, and what it did."""

    turn: tuple[int, int]
    model: str
    fault: str | None
    answer: str
    resent: bool  # on a kept connection that then said nothing: the same request comes again


class Members:
    """The members' side: what each does is drawn from the turn and how often it was asked in it."""

    def __init__(self):
        self.seen = []
        self._lock = threading.Lock()
        self._asked = Counter()
        self._used = set()

    def __call__(self, request):
        asked = request.json
        turn = tuple(map(int, re.findall(r"\d+", asked["messages"][-1]["content"])))
        with self._lock:
            self._asked[turn] += 1
            draw = random.Random(f"{turn} {self._asked[turn]}")
            fault = draw.choice(list(FAULTS)) if draw.random() < FAILS else None
            answer = f"answer {len(self.seen)}"
            kept = request.connection in self._used
            self._used.add(request.connection)
            self.seen.append(Seen(turn, asked["model"], fault, answer, fault == "reset" and kept))
        return FAULTS[fault][0] if fault else text("answer ", answer.split()[1])


@dataclass(frozen=True)
class Got:
    """What a caller got: its status, the text, and whether an error came in the stream."""

    status: int
    text: str
    broken: bool = False


def ask(bench, number, messages):
    """One turn in one of four ways."""
    ways = {0: chat, 1: messages_api}
    return ways[number % 2](bench, messages, stream=number % 4 > 1)


def chat(bench, messages, stream):
    status, reply = bench.post(
        "/v1/chat/completions", {"model": "bench/all:route", "messages": messages, "stream": stream}
    )
    if not stream or status != 200:
        return Got(status, reply["choices"][0]["message"]["content"] if status == 200 else "")
    events = [json.loads(line[6:]) for line in reply.splitlines() if line.startswith("data: {")]
    said = [choice["delta"].get("content") or "" for event in events for choice in event.get("choices", ())]
    return Got(status, "".join(said), any("error" in event for event in events))


def messages_api(bench, messages, stream):
    asked = {"model": "bench/all:route", "messages": messages, "stream": stream, "max_tokens": 99}
    status, reply = bench.post("/v1/messages", asked, **{"anthropic-version": "2023-06-01"})
    if not stream or status != 200:
        return Got(status, "".join(block["text"] for block in reply["content"]) if status == 200 else "")
    events = [json.loads(line[6:]) for line in reply.splitlines() if line.startswith("data: ")]
    said = [event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta"]
    return Got(status, "".join(said), any(event["type"] == "error" for event in events))


def converse(bench, number):
    """A conversation of TURNS turns, whatever becomes of each; what its caller got."""
    messages, got = [], []
    for turn in range(TURNS):
        messages.append({"role": "user", "content": f"conversation {number}, turn {turn}"})
        got.append(ask(bench, number, messages))
        messages.append({"role": "assistant", "content": got[-1].text or "(nothing)"})
    return got


class SlowChaosTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.members = Members()
        with Running() as bench, Provider() as provider:
            provider.script("*", cls.members)
            bench.seat("all", provider.base, *MEMBERS)
            with ThreadPoolExecutor(8) as callers:
                played = callers.map(lambda number: converse(bench, number), range(CONVERSATIONS))
                cls.got = {
                    (number, turn): one for number, all in enumerate(played) for turn, one in enumerate(all)
                }
            bench.stop()
            cls.ledger, cls.routes = (rows(bench.home, name) for name in ("ledger", "routes"))
        cls.seen = defaultdict(list)
        for seen in cls.members.seen:
            if not seen.resent:
                cls.seen[seen.turn].append(seen)

    def test_every_turn_ends_in_one_answer_or_the_right_error(self):
        for turn, got in self.got.items():
            with self.subTest(turn=turn):
                seen = self.seen[turn]
                self.assertLessEqual(sum(one.fault is None for one in seen), 1, "answered twice")
                self.assertLessEqual(len({one.model for one in seen}), 3)
                last = seen[-1]
                if got.status != 200:
                    self.assertEqual(got.status, status_of(seen))
                elif got.broken:
                    self.assertEqual((last.fault, got.text), ("cut", "half"))
                else:
                    self.assertEqual((last.fault, got.text), (None, last.answer))

    def test_the_ledger_agrees_with_what_the_members_saw(self):
        for model in MEMBERS:
            with self.subTest(model):
                rows = [row for row in self.ledger if row["model"] == model]
                seen = [one for all in self.seen.values() for one in all if one.model == model]
                self.assertEqual(sum(row["attempts"] for row in rows), len(seen))
                self.assertEqual(
                    sum(row["status"] == "ok" for row in rows), sum(one.fault is None for one in seen)
                )

    def test_a_row_for_every_turn_and_it_says_who_was_asked(self):
        self.assertEqual(len(self.routes), len(self.got))
        played = Counter((asked(row), row["status"] == "ok") for row in self.routes)
        seen = Counter(
            (
                tuple(dict.fromkeys(f"e-all:{one.model}" for one in all)),
                all[-1].fault is None,
            )
            for all in self.seen.values()
        )
        self.assertEqual(played, seen)

    def test_a_conversation_stays_where_it_was_answered(self):
        conversations = defaultdict(list)
        for row in self.routes:
            conversations[row["conversation"]].append(row)
        self.assertEqual(len(conversations), CONVERSATIONS)
        for name, turns in conversations.items():
            playing = None  # before anybody has answered: who was asked first
            for row in sorted(turns, key=lambda row: row["turn"]):
                with self.subTest(name, turn=row["turn"]):
                    if row["how"] == "sticky":
                        self.assertEqual(row["players"][0], playing)
                    else:
                        self.assertEqual(row["how"], "moved" if playing else "new")
                    playing = playing or row["players"][0]
                    playing = row["model_id"] if row["status"] in ("ok", "cut") else playing
            self.assertEqual(sorted(row["turn"] for row in turns), list(range(1, TURNS + 1)))


def asked(row):
    """Who was really asked in a turn: a limit of our own refuses without sending."""
    refused = {f"e-all:{one['alias']}" for one in row["failed_over"] if one["error"] == "paced"}
    return tuple(model for model in row["players"] if model not in refused)


def status_of(seen):
    """The status that the failures of a turn add up to: each member's last one counts."""
    faults = {one.model: one.fault for one in seen}
    statuses = {FAULTS[fault][1] for fault in faults.values()}
    if len(faults) == 1:
        return {"busy": 503, "overloaded": 529, "broken": 500, "late": 408}.get(seen[-1].fault, *statuses)
    return statuses.pop() if len(statuses) == 1 else 502


def rows(home, name):
    """The rows of a log, without the line of its version."""
    lines = (line for path in (home / name).glob("*.jsonl") for line in path.read_text("utf-8").splitlines())
    return [row for row in map(json.loads, lines) if "at" in row]
