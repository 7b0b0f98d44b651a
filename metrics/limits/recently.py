"""What each connection and each model on it was sent lately, folded from the ledger's rows: so that a restart
forgets no window.

Seconds are kept for two minutes, then pieces of five minutes for a day, and the sums of a month. Whatever is
less fine than it happened counts as later than it was, so nothing goes out too early after a restart.
"""

from collections.abc import Mapping
from typing import Any

from metrics.limits import cost
from metrics.limits.windows import DAY, Amounts
from metrics.store import stamps

Row = Mapping[str, Any]
Scope = dict[str, Any]
Past = dict[str, dict[str, Scope]]  # by connection, then by model_id; "" is all of the connection

FINE = 120  # seconds that are kept one by one
PIECE = 300  # seconds that are kept together after that


def fold(past: Past, row: Row) -> None:
    """Count a ledger row. What was never sent is none."""
    attempts, connection, model_id = row.get("attempts"), row.get("connection"), row.get("model_id")
    if not attempts or not isinstance(connection, str) or not isinstance(model_id, str):
        return
    amounts, at = of_row(row), stamps.epoch(row["at"])
    scopes = past.setdefault(connection, {})
    for name in ("", model_id):
        empty = {"fine": [], "coarse": [], "month": ["", *Amounts()]}
        _take(scopes.setdefault(name, empty), amounts, at, row)


def of_row(row: Row) -> Amounts:
    into = sum(row.get(kind) or 0 for kind in ("uncached_in", "cache_read", "cache_write"))
    out = row.get("out") or 0
    units = round((row.get("cost_usd") or 0.0) * cost.UNITS)
    return Amounts(row.get("attempts") or 0, into + out, into, out, units)


def _take(scope: Scope, amounts: Amounts, at: float, row: Row) -> None:
    second, fine, month = int(at), scope["fine"], row["at"][:7]
    _add(fine, second, amounts)
    while fine[0][0] < second - FINE:
        start, *rest = fine.pop(0)
        _add(scope["coarse"], start - start % PIECE, Amounts(*rest))
    coarse = scope["coarse"]
    while coarse and coarse[0][0] < second - DAY - PIECE:
        del coarse[0]
    before = scope["month"]
    if before[0] != month:
        if month < before[0]:
            return  # a row that comes late, of a month that is over
        before = [month, *Amounts()]
    scope["month"] = [month, *(sum(pair) for pair in zip(before[1:], amounts, strict=True))]


def _add(lines: list[list[float]], start: int, amounts: Amounts) -> None:
    """Rows end out of order by a little: what is earlier than the last line counts with it."""
    if lines and lines[-1][0] >= start:
        lines[-1][1:] = [sum(pair) for pair in zip(lines[-1][1:], amounts, strict=True)]
    else:
        lines.append([start, *amounts])


def lines(scope: Scope | None, now: float) -> tuple[list[tuple[float, Amounts]], Amounts]:
    """What windows.Track.seed takes: a day's (moment, amounts), oldest first, and this month's sums."""
    if scope is None:
        return [], Amounts()
    finest = scope["fine"][0][0] - 0.5  # whatever is kept less finely was before that
    coarse = [(min(start + PIECE - 0.5, finest), Amounts(*rest)) for start, *rest in scope["coarse"]]
    fine = [(start + 0.5, Amounts(*rest)) for start, *rest in scope["fine"]]
    past = [(min(at, now), amounts) for at, amounts in (*coarse, *fine) if at > now - DAY - PIECE]
    month, *sums = scope["month"]
    this = month == stamps.stamp(now)[:7]
    return sorted(past, key=lambda line: line[0]), Amounts(*sums) if this else Amounts()


def copy(past: Past, connection: str) -> dict[str, Scope]:
    """What of a connection can be read while more is counted."""
    return {
        name: {
            "fine": [list(line) for line in scope["fine"]],
            "coarse": [list(line) for line in scope["coarse"]],
            "month": list(scope["month"]),
        }
        for name, scope in past.get(connection, {}).items()
    }
