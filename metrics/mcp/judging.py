"""The tools about verdicts: giving one, and which are owed.

`pending_verdicts` also serves as an agent's hook at the end of a turn: called with the agent's own `session`
it answers in the words that Claude Code's hooks understand (decision, reason), once for each call.
"""

import time
from collections.abc import Mapping
from typing import Any

from metrics.bench import fields
from metrics.evidence import inscope, panels, verdicts
from metrics.mcp import asking, waits
from metrics.play import asked
from metrics.store import stamps
from metrics.web.table import Call

Row = dict[str, Any]

RECENT = 86_400.0  # seconds that an answer is owed a verdict where it is not known who asked in which session
LOOK = 100  # panels that one question looks at
NAMED = 5  # calls that a reminder names

quotes = fields.maybe(fields.words(200, asking.words))
VERDICT: dict[str, fields.Check] = {
    "call": fields.line(200),
    "useful": fields.maybe(fields.flag),
    "note": fields.maybe(asking.words),
    "real": quotes,
    "false": quotes,
    "best": fields.maybe(fields.flag),
    "withdrawn": fields.maybe(fields.flag),
}
PENDING: dict[str, fields.Check] = {
    "collection": fields.maybe(fields.line(200)),
    "session": fields.maybe(fields.line(200)),
    "active": lambda field, value: value in (True, "true"),
}


def verdict(arguments: Mapping[str, Any], call: Call) -> Row:
    """Record a verdict, or take one back. Problem as evidence/verdicts raises."""
    form = fields.take(arguments, VERDICT, required=("call",))
    inscope.check([form["call"]])
    by, withdrawn = asked.caller(call), form.pop("withdrawn", None)
    given = verdicts.withdraw(form["call"], by) if withdrawn else verdicts.give(**form, by=by)
    return {"call": form["call"], "recorded": bool(given["recorded"])}


def pending(arguments: Mapping[str, Any], call: Call, session: str | None) -> Row:
    """{"pending": [{call, alias, collection, task, at}]}: answers that `ask` gave and nobody judged; of this
    session where that is known, else of this caller's last day."""
    form = fields.take(arguments, PENDING)
    rows = _rows(asked.caller(call), session, form.get("collection"))
    owed = [owing for row in rows for owing in _owing(row)]
    if form.get("session") is None:
        return {"pending": owed}
    return {"pending": owed, **_reminder(owed, form, asked.caller(call))}


def _rows(key: str, session: str | None, collection: str | None) -> list[Row]:
    own = waits.panels(key, session)
    if own:
        found = [row for row in map(panels.find, own) if row is not None]
        return [row for row in found if collection in (None, row["collection"])]
    since = stamps.stamp(time.time() - RECENT)
    rows, _ = panels.recent(LOOK, None, collection)
    return [row for row in rows if asks_here(row, key) and row["at"] >= since]


def asks_here(row: Mapping[str, Any], key: str) -> bool:
    """Whether this caller asked that panel by this protocol."""
    return row.get("format") == asking.FORMAT and row.get("key") == key


def _owing(row: Mapping[str, Any]) -> list[Row]:
    answered = [
        seat
        for seat in row["seats"]
        if seat.get("seat") != "merger" and seat.get("status") in panels.ANSWERED
    ]
    owed = set(verdicts.pending([seat["call"] for seat in answered]))
    about = {name: row.get(name) for name in ("collection", "task", "at")}
    return [
        {"call": seat["call"], "alias": seat["alias"], **about} for seat in answered if seat["call"] in owed
    ]


def _reminder(owed: list[Row], form: Mapping[str, Any], key: str) -> Row:
    """What makes an agent go on for one more turn: nothing where it goes on for that already, or was told."""
    if form.get("active"):
        return {}
    fresh = waits.unmentioned(key, f"reminded:{form['session']}", [one["call"] for one in owed])
    if not fresh:
        return {}
    named = [f"{one['call']} ({one['alias']})" for one in owed if one["call"] in fresh]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return {
        "decision": "block",
        "reason": f"These answers of the bench have no verdict yet: {', '.join(named[:NAMED])}{more}. For "
        "each that you have verified, call the tool verdict with useful true or false and a short note; "
        "leave out those that you could not check. You are reminded once.",
    }
