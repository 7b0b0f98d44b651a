"""Claims: passages of an answer that somebody found to be real, or false.

A claim's row is {id, call, quote, start, end, decision: real | false | null, by, at}; offsets are in the
characters of the stored answer, null when it is not there. The latest row of an id counts, and a decision of
null takes the claim back. Beside these it says whose answer it was (`model_id`) and what was decided before
(`was`), so that a row alone says how the counts of a model's day change.
"""

import hashlib
import time
from collections.abc import Iterable, Mapping
from typing import Any

from metrics import bus
from metrics.evidence import cells, offloads
from metrics.records import Problem
from metrics.store import bodies
from metrics.store.log import JsonLog
from metrics.store.stamps import stamp

Row = dict[str, Any]

DECISIONS = ("real", "false", None)
LONGEST = 20_000  # characters of a quote

DAYS = 400  # of each model that are told apart


def days(since: str, until: str) -> dict[str, list[int]]:
    """What was decided of each model's answers of the days from `since` up to `until` (dates, UTC):
    {model_id: [real, false]}."""

    def read(state: dict[str, Any]) -> dict[str, list[int]]:
        return {
            model_id: [sum(column) for column in zip(*within, strict=True)]
            for model_id, kept in state.items()
            if (within := [cell for day, cell in kept.items() if since <= day < until])
        }

    return LOG.counted(read)


def _fold(state: dict[str, Any], row: Row) -> None:
    model_id, day = row.get("model_id"), cells.date_of(row["call"])
    if not model_id:
        return
    kept = state.setdefault(model_id, {})
    cell = kept.setdefault(day, [0, 0])
    for decision, one in ((row.get("was"), -1), (row.get("decision"), 1)):
        if decision:
            cell[0 if decision == "real" else 1] += one
    while len(kept) > DAYS:
        del kept[min(kept)]


LOG = JsonLog("claims.jsonl", key="call", durable=True, fold=_fold)


def mark(
    call: str,
    quote: str,
    start: int | None,
    end: int | None,
    decision: str | None,
    by: str = "local",
    at: float | None = None,
) -> Row:
    """Decide one claim; the row that stands now. The same decision again writes nothing.

    Problem 404 for an unknown call, 400 for a decision or offsets that are none.
    """
    if offloads.find(call) is None:
        raise Problem(404, f"there is no call {call!r}", param="call")
    if decision not in DECISIONS:
        raise Problem(400, '"decision" must be "real", "false" or null', param="decision")
    _check_quote(quote, "quote")
    if not (start is None and end is None) and not (_whole(start) and _whole(end) and _ordered(start, end)):
        raise Problem(400, '"start" and "end" must be offsets into the answer, or null', param="start")
    row = _row(call, quote, start, end, decision, by, at)
    standing = {claim["id"]: claim for claim in _latest(call)}.get(row["id"])
    if standing is not None and standing["decision"] == decision:
        return standing
    if (
        standing is not None and "model_id" in standing
    ):  # a row from before models were named was never counted
        row["was"] = standing["decision"]
    write([row])
    return row


def of(call: str) -> list[Row]:
    """The claims of a call that are decided, in the order of the answer."""
    decided = [claim for claim in _latest(call) if claim.get("decision")]
    return sorted(decided, key=lambda claim: (claim["start"] is None, claim["start"] or 0, claim["at"]))


def changes(call: str, wanted: Mapping[str, list[str]], by: str, at: float) -> list[Row]:
    """The rows that make the quotes of `wanted` (by decision) the claims of the call with those decisions.

    A decision that `wanted` does not name keeps the claims it has. `write` writes them.
    """
    standing = {claim["quote"]: claim for claim in of(call)}
    decisions = {quote: decision for decision, quotes in wanted.items() for quote in quotes}
    rows = []
    for quote, decision in decisions.items():
        claim = standing.get(quote)
        if claim is None:
            rows.append(_row(call, quote, *_place(call, quote), decision, by, at))
        elif claim["decision"] != decision:
            rows.append(_changed(claim, decision, by, at))
    dropped = (
        claim for quote, claim in standing.items() if quote not in decisions and claim["decision"] in wanted
    )
    return rows + [_changed(claim, None, by, at) for claim in dropped]


def _changed(claim: Row, decision: str | None, by: str, at: float) -> Row:
    return claim | {"decision": decision, "was": claim["decision"], "by": by, "at": stamp(at)}


def write(rows: list[Row]) -> None:
    if rows:
        LOG.append_all(rows)
    for row in rows:
        bus.publish("claim", {name: row[name] for name in ("call", "decision", "by")})


def quotes(given: object, field: str) -> list[str] | None:
    """A list of quotes from a request; None stays None. Problem 400 when it is anything else."""
    if given is None:
        return None
    if not isinstance(given, list):
        raise Problem(400, f'"{field}" must be a list of passages from the answer', param=field)
    for quote in given:
        _check_quote(quote, field)
    return list(dict.fromkeys(given))


def _check_quote(quote: object, field: str) -> None:
    if not isinstance(quote, str) or not quote.strip() or len(quote) > LONGEST:
        raise Problem(400, f'"{field}" must hold text of up to {LONGEST:,} characters', param=field)


def _whole(offset: object) -> bool:
    return type(offset) is int and offset >= 0


def _ordered(start: int | None, end: int | None) -> bool:
    return start is not None and end is not None and start < end


def _row(
    call: str, quote: str, start: int | None, end: int | None, decision: str | None, by: str, at: float | None
) -> Row:
    return {
        "id": _id(call, quote, start),
        "call": call,
        "model_id": (offloads.find(call) or {}).get("model_id"),
        "quote": quote,
        "start": start,
        "end": end,
        "decision": decision,
        "was": None,
        "by": by,
        "at": stamp(time.time() if at is None else at),
    }


def _id(call: str, quote: str, start: int | None) -> str:
    """The id of the claim that this passage makes: the same passage is the same claim."""
    content = f"{call}\n{start}\n{quote}".encode("utf-8", "surrogatepass")
    return "c" + hashlib.blake2b(content, digest_size=8).hexdigest()


def _place(call: str, quote: str) -> tuple[int | None, int | None]:
    """Where `quote` stands in the stored answer."""
    body = bodies.read(offloads.panel_of(call) or "") or {}
    answer = body.get("answers", {}).get(call)
    start = answer.find(quote) if isinstance(answer, str) else -1
    return (start, start + len(quote)) if start >= 0 else (None, None)


def _latest(call: str) -> Iterable[Row]:
    """The latest row of each claim of the call."""
    latest: dict[str, Row] = {}
    for row in LOG.find_all(call):
        latest.setdefault(row["id"], row)
    return latest.values()
