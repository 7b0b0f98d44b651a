"""What happened as spans: one for a panel or a turn, and below it one for each attempt upstream.

The ids are digests of our own ids, so a call can be told before the panel it belongs to is over, and a span
that is sent twice is the same span. Names of attributes: OpenTelemetry's semantic conventions for generative
AI (docs/gen-ai/gen-ai-spans.md of open-telemetry/semantic-conventions); what those have no name for is
`bench.…`. Nothing of what was asked or answered is in them.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from metrics.bus import News
from metrics.store.stamps import epoch

TOPICS = ("attempt", "call", "panel", "turn")
REMEMBERED = 5000  # calls whose earlier attempts are known and that are not over yet
SERVER, CLIENT = 2, 3  # SpanKind of opentelemetry/proto/trace/v1/trace.proto

Facts = Mapping[str, Any]
Value = str | int | float | bool | list[str]


@dataclass(frozen=True, slots=True)
class Span:
    """Ids are hexadecimal, 32 and 16 characters; `parent` "" is a root. Times are epoch seconds. `error` says
    why it failed in a word, "" if it did not."""

    trace: str
    id: str
    parent: str
    name: str
    kind: int
    start: float
    end: float
    attributes: Mapping[str, Value] = field(default_factory=dict)
    error: str = ""


class Spans:
    """Makes spans of news; remembers the attempts of calls that are not over."""

    def __init__(self) -> None:
        self._tried: OrderedDict[str, float] = OrderedDict()  # call -> when its next attempt began

    def of(self, news: News) -> list[Span]:
        """The spans that end with this; none for what is no span's end."""
        facts = news.facts
        match news.topic:
            case "attempt":
                return [self._attempt(facts)]
            case "call":
                return [self._call(facts)]
            case "panel" if not facts.get("late"):
                return [_panel(facts, news.at)]
            case "turn":
                return [_turn(facts)]
        return []

    def _attempt(self, facts: Facts) -> Span:
        """An attempt that failed and was followed by another."""
        call, began = str(facts["call"]), facts["at"] - facts["seconds"]
        self._tried[call] = facts["at"] + facts["pause"]
        while len(self._tried) > REMEMBERED:
            self._tried.popitem(last=False)
        attributes = _plain(_asked(facts) | {"error.type": facts["error"], "bench.attempt": facts["attempt"]})
        return _child(facts, facts["attempt"], began, facts["at"], attributes, str(facts["error"]))

    def _call(self, facts: Facts) -> Span:
        """The last attempt of a call, with all that is known of it."""
        end = epoch(facts["at"])
        began = self._tried.pop(str(facts.get("call")), end - float(facts.get("seconds") or 0.0))
        failed = facts.get("status") not in ("ok", "empty")
        error = str(facts.get("error") or facts.get("status")) if failed else ""
        number = facts.get("attempts") or 1
        attributes = _asked(facts) | _answered(facts) | {"bench.attempt": number, "error.type": error or None}
        return _child(facts, number, min(began, end), end, _plain(attributes), error)


def _asked(facts: Facts) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": facts.get("endpoint"),
        "gen_ai.request.model": facts.get("served"),
        "gen_ai.conversation.id": facts.get("conversation"),
        "bench.call": facts.get("call"),
        "bench.model": facts.get("model"),
        "bench.collection": facts.get("collection"),
        "bench.panel": facts.get("panel"),
        "bench.key": facts.get("key"),
        "bench.purpose": facts.get("purpose"),
    }


def _answered(facts: Facts) -> dict[str, Any]:
    """What a call came to. An input's cached part is in the whole, as the conventions have it; what is not
    known is left out, which is not nothing."""
    parts = [facts.get(name) for name in ("uncached_in", "cache_read", "cache_write")]
    known = [part for part in parts if part is not None]
    return {
        "gen_ai.usage.input_tokens": sum(known) if known else None,
        "gen_ai.usage.cache_read.input_tokens": facts.get("cache_read"),
        "gen_ai.usage.cache_creation.input_tokens": facts.get("cache_write"),
        "gen_ai.usage.output_tokens": facts.get("out"),
        "gen_ai.usage.reasoning.output_tokens": facts.get("reasoning"),
        "gen_ai.response.finish_reasons": [facts["finish"]] if facts.get("finish") else None,
        "bench.status": facts.get("status"),
        "bench.estimated": facts.get("estimated"),
        "bench.first_token_s": facts.get("first_token_s"),
        "bench.cost_usd": facts.get("cost_usd"),
        "bench.cost_status": facts.get("cost_status"),
    }


def _child(
    facts: Facts, number: int, start: float, end: float, attributes: Mapping[str, Value], error: str
) -> Span:
    root = _root(facts)
    call = str(facts.get("call"))
    served = facts.get("served") or "unknown"
    return Span(
        _digest(f"trace {root or call}", 32),
        _digest(f"attempt {call} {number}", 16),
        _digest(f"root {root}", 16) if root else "",
        f"chat {served}",
        CLIENT,
        start,
        end,
        attributes,
        error,
    )


def _panel(facts: Facts, now: float) -> Span:
    seats = facts.get("seats") or []
    answered = sum(seat.get("status") == "ok" for seat in seats)
    attributes = {
        "bench.panel": facts.get("panel"),
        "bench.collection": facts.get("collection"),
        "bench.shape": facts.get("shape"),
        "bench.reply": facts.get("reply"),
        "bench.format": facts.get("format"),
        "bench.key": facts.get("key"),
        "bench.seats": len(seats),
        "bench.answered": answered,
    }
    error = "" if answered else "no_seat_answered"
    return _top(facts, f"panel {facts.get('collection')}", epoch(facts["at"]), now, attributes, error)


def _turn(facts: Facts) -> Span:
    start = epoch(facts["at"])
    attributes = {
        "gen_ai.conversation.id": facts.get("conversation"),
        "bench.turn": facts.get("turn"),
        "bench.collection": facts.get("collection"),
        "bench.format": facts.get("format"),
        "bench.key": facts.get("key"),
        "bench.model": facts.get("model"),
        "bench.how": facts.get("how"),
        "bench.tool_calls": facts.get("tool_calls"),
    }
    failed = facts.get("status") not in ("ok", "empty")
    error = str(facts.get("error") or facts.get("status")) if failed else ""
    end = start + float(facts.get("seconds") or 0.0)
    return _top(facts, f"turn {facts.get('collection')}", start, end, attributes, error)


def _top(
    facts: Facts, name: str, start: float, end: float, attributes: Mapping[str, Any], error: str
) -> Span:
    root = _root(facts)
    said = _plain({**attributes, "error.type": error or None})
    ids = _digest(f"trace {root}", 32), _digest(f"root {root}", 16)
    return Span(*ids, "", name, SERVER, start, max(start, end), said, error)


def _root(facts: Facts) -> str:
    """What a call is part of: its panel, or its turn of a conversation; "" for one by itself."""
    if facts.get("panel"):
        return str(facts["panel"])
    if facts.get("conversation"):
        return f"{facts['conversation']} {facts.get('turn')}"
    return ""


def _digest(text: str, size: int) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=size // 2).hexdigest()


def _plain(attributes: Mapping[str, Any]) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value is not None}
