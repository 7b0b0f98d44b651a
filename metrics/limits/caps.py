"""The limits that a user set for a connection or for a model on it: limits.json.

{"connections": {"groq": {"rpm": 30, "at": "2026-11-29T…"}}, "models": {"groq:llama-3": {"tpd": 100000}}}
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from metrics.bench import changes, endpoints, fields, roster
from metrics.bench.shelf import Shelf
from metrics.records import Problem
from metrics.store import home
from metrics.store.files import JsonFile


class Word(NamedTuple):
    metric: str
    window: str
    about: str


WORDS: Mapping[str, Word] = {
    "rps": Word("requests", "second", "requests a second"),
    "rpm": Word("requests", "minute", "requests a minute"),
    "rph": Word("requests", "hour", "requests an hour"),
    "rpd": Word("requests", "day", "requests a day"),
    "rpmo": Word("requests", "month", "requests a month (UTC)"),
    "tpm": Word("tokens", "minute", "tokens a minute"),
    "tph": Word("tokens", "hour", "tokens an hour"),
    "tpd": Word("tokens", "day", "tokens a day"),
    "tpmo": Word("tokens", "month", "tokens a month (UTC)"),
    "itpm": Word("input_tokens", "minute", "input tokens a minute"),
    "otpm": Word("output_tokens", "minute", "output tokens a minute"),
    "concurrency": Word("concurrency", "", "calls at once"),
    "usd_day": Word("usd", "day", "USD a day"),
    "usd_month": Word("usd", "month", "USD a month (UTC)"),
}
_COUNT, _MONEY = fields.maybe(fields.whole(1, 10**12)), fields.maybe(fields.number(0.01, 1e9, "USD"))
FORM: dict[str, fields.Check] = {
    name: _MONEY if word.metric == "usd" else _COUNT for name, word in WORDS.items()
}


class Caps(NamedTuple):
    """What was set, by word, and when (a stamp; "" when a hand wrote it without)."""

    values: Mapping[str, float]
    at: str


def _parse(name: str, raw: Any) -> Caps:
    if not isinstance(raw, Mapping):
        raise Problem(400, "must be an object")
    checked = fields.take({word: value for word, value in raw.items() if word != "at"}, FORM)
    at = raw.get("at")
    values = {word: value for word, value in checked.items() if value is not None}
    return Caps(values, at if isinstance(at, str) else "")


FILE = JsonFile("limits.json")
CONNECTIONS = Shelf(FILE, _parse, "connections")
MODELS = Shelf(FILE, _parse, "models")
NONE = Caps({}, "")


LOOK = 0.25  # seconds between looks whether a hand changed the file: every call asks
_looked: tuple[float, Any, object] = (0.0, None, None)  # when, in which data folder, and what it held


def version(now: float) -> object:
    """What the caps rest on: while this is the same object, so are they. What we save shows at once, what a
    hand does a moment later."""
    global _looked
    at, folder, seen = _looked
    if not 0 <= now - at < LOOK or folder is not home.current():
        seen = FILE.read()
        _looked = (now, home.current(), seen)
    return seen


def forget() -> None:
    """Look at the file the next time."""
    global _looked
    _looked = (0.0, None, None)


def of_connection(name: str) -> Caps:
    return CONNECTIONS.good().get(name, NONE)


def of_model(model_id: str) -> Caps:
    return MODELS.good().get(model_id, NONE)


def problems() -> list[str]:
    """What a hand got wrong, one sentence each."""
    try:
        return [*CONNECTIONS.bad().values(), *MODELS.bad().values()]
    except Problem as problem:
        return [problem.message]


def save(name: str, limits: Mapping[str, Any], by: str, now: str) -> tuple[str, str, Caps]:
    """Set limits of the connection or the model (an alias) `name`; null or "" takes one away. Which of the
    two it is, its id, and what holds then. Problem 404 for a name that is neither."""
    wanted = fields.take(limits, FORM)
    if not wanted:
        raise Problem(400, f"nothing to change: give one of {', '.join(WORDS)}")
    section, key = _place(name)
    shelf = CONNECTIONS if section == "connections" else MODELS
    if broken := shelf.broken(key):
        raise broken
    with FILE.edit() as saved:
        entries = saved.setdefault(section, {})
        before = dict(entries.get(key) or {})
        after = {word: value for word, value in {**before, **wanted}.items() if value is not None}
        after.pop("at", None)
        entries[key] = {**after, "at": now}
        if not after:
            del entries[key]
    forget()
    changes.differences(by, f"limits of {name}", {word: before.get(word) for word in wanted}, wanted)
    return section, key, shelf.good().get(key, NONE)


def _place(name: str) -> tuple[str, str]:
    """A connection goes before a model of the same name."""
    if name in endpoints.all():
        return "connections", name
    if name in roster.all():
        return "models", roster.get(name).model_id
    known = ", ".join([*endpoints.all(), *roster.all()]) or "none yet"
    message = f'"{name}" is neither a connection nor a model; these are: {known}'
    raise Problem(404, message, param="connection")
