"""What each connection and each model on it was sent lately, folded from the ledger's rows: so that a restart
forgets no window.

Seconds are kept for two minutes, then pieces of five minutes for a day, and the sums of a month. Whatever is
less fine than it happened counts as later than it was, so nothing goes out too early after a restart.
"""

from collections.abc import Mapping, Sequence
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
    amounts, at = of_row(row), row["at"]
    second, month = int(stamps.epoch(at)), at[:7]
    scopes = past.get(connection)
    if scopes is None:
        scopes = past[connection] = {}
    for name in ("", model_id):
        scope = scopes.get(name)
        if scope is None:
            scope = scopes[name] = {"fine": [], "coarse": [], "month": [month, *Amounts()]}
        _take(scope, amounts, second, month)


def of_row(row: Row) -> tuple[int, int, int, int, int]:
    """What it takes of each metric, as windows.Amounts has them."""
    get = row.get
    into = (get("uncached_in") or 0) + (get("cache_read") or 0) + (get("cache_write") or 0)
    out = get("out") or 0
    return (get("attempts") or 0, into + out, into, out, cost.of_row(row))


def _take(scope: Scope, amounts: Sequence[float], second: int, month: str) -> None:
    fine, sums = scope["fine"], scope["month"]
    if _add(fine, second, amounts):
        _age(fine, scope["coarse"], second)
    if sums[0] == month:
        _sum(sums, amounts)
    elif sums[0] < month:  # else a row that comes late, of a month that is over
        scope["month"] = [month, *amounts]


def _age(fine: list[list[float]], coarse: list[list[float]], second: int) -> None:
    """Keep less finely, or no more, what has become too old for it by `second`."""
    while fine[0][0] < second - FINE:
        start, *rest = fine.pop(0)
        _add(coarse, start - start % PIECE, rest)
    while coarse and coarse[0][0] < second - DAY - PIECE:
        del coarse[0]


def _add(lines: list[list[float]], start: float, amounts: Sequence[float]) -> bool:
    """Whether that began a new line. Rows end out of order by a little: what is earlier than the last line
    counts with it."""
    if lines and lines[-1][0] >= start:
        _sum(lines[-1], amounts)
        return False
    lines.append([start, *amounts])
    return True


def _sum(line: list[Any], amounts: Sequence[float]) -> None:
    """Written out: this runs for every call, several times."""
    calls, tokens, into, out, units = amounts
    line[1] += calls
    line[2] += tokens
    line[3] += into
    line[4] += out
    line[5] += units


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
