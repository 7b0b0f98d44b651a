"""/api/usage: what the calls came to, by whom or what, since when, over time, and what came of it."""

import csv
import io
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metrics.bench import roster
from metrics.dashboard import frame
from metrics.evidence import claims, verdicts
from metrics.limits import ledger, periods, usage, worth
from metrics.limits.periods import Stretch
from metrics.records import Problem
from metrics.store import stamps
from metrics.web.table import Call, Response

OVER_TIME = ("model", "collection", "key", "purpose", "endpoint")
COLUMNS = ("calls", "errors", "interrupted", "priced_calls", "unknown_calls", "known_usd", "billed_usd")
GAPS = ("estimated_calls", "unmetered_calls")

Row = dict[str, Any]
Days = Mapping[str, Sequence[int]]  # by model_id, as verdicts.days and claims.days tell them


def show(call: Call) -> Response:
    by = _by(call, usage.BY, "model")
    since = usage.moment(call.param("since"), time.time())
    return frame.ok(complete=ledger.LOG.ready, **ledger.used(by, since, _named(by)))


def over_time(call: Call) -> Response:
    """What a stretch of time came to, piece by piece, and the stretch before it."""
    by, stretch = _by(call, OVER_TIME, "purpose"), _stretch(call, time.time())
    told = periods.told(ledger.counted_by(by), by, stretch, _named(by))
    return frame.ok(complete=ledger.LOG.ready, **told)


def came_of_it(call: Call) -> Response:
    """For each model what its calls of a stretch cost, how they were judged, and what a useful answer and a
    real finding cost."""
    wanted, copied = _stretch(call, time.time()), ledger.counted_by("model")
    stretch = periods.fitted(wanted, copied)
    whole = periods.together([cells for _, cells in periods.pieces(copied, stretch)], roster.current)
    days = stamps.stamp(stretch.since)[:10], stamps.stamp(stretch.until)[:10]
    judged, found = verdicts.days(*days), claims.days(*days)
    ids = {alias: model.model_id for alias, model in {**roster.retired(), **roster.all()}.items()}
    rows = {name: usage.document(counts) for name, counts in whole.items() if name}
    told = {name: _worth(row, ids.get(name), judged, found) for name, row in rows.items()}
    known, total = roster.all(), usage.document(usage.total(whole))
    priced = [(row, known[name].price if name in known else None) for name, row in rows.items()]
    listed = [
        {
            "name": name,
            "model_id": known[name].model_id if name in known else None,
            **rows[name],
            **told[name],
        }
        for name in sorted(rows, key=lambda name: (-(rows[name]["known_usd"] or 0), name))
    ]
    return frame.ok(
        since=stamps.stamp(stretch.since),
        until=stamps.stamp(stretch.until),
        models=listed,
        total=total,
        over_all=worth.over_all(_each_once(whole, ids, judged, found)),
        cached={"share": worth.cached(total["tokens"]), "saved_usd": worth.saved(priced)},
        unpriced=[name for name, row in rows.items() if row["unknown_calls"] > row["unmetered_calls"]],
        complete=ledger.LOG.ready,
    )


def _worth(row: Row, model_id: str | None, judged: Days, found: Days) -> Row:
    """What came of a model's calls. Two aliases of one model share what it was judged."""
    known = model_id or ""
    return worth.of_model(row, judged.get(known, worth.NOTHING), found.get(known, worth.NOTHING[:2]))


def _each_once(
    whole: usage.Cells, ids: Mapping[str, str], judged: Days, found: Days
) -> Iterator[tuple[Row, Row]]:
    """(what was used, what came of it) of each model under all its aliases: no verdict counts twice."""
    models: usage.Cells = {}
    usage.add_up(models, whole, lambda alias: ids.get(alias, alias))
    for name, counts in models.items():
        if name:
            row = usage.document(counts)
            yield row, _worth(row, name, judged, found)


def as_csv(call: Call) -> Response:
    """The same figures as a file: a line for each piece of time and each name in it."""
    by, now = _by(call, OVER_TIME, "purpose"), time.time()
    stretch, copied = _stretch(call, now), ledger.counted_by(by)
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["since", by, *COLUMNS, *GAPS, *usage.KINDS])
    for at, name, counts in periods.rows(copied, by, stretch, _named(by)):
        said = usage.document(counts)
        figures = [said[column] for column in (*COLUMNS, *GAPS)]
        lines.writerow([at, _harmless(name), *figures, *(said["tokens"][kind] for kind in usage.KINDS)])
    name = f"usage-by-{by}-{stamps.stamp(stretch.since)[:10]}.csv"
    headers = (
        ("Content-Type", "text/csv; charset=utf-8"),
        ("Content-Disposition", f'attachment; filename="{name}"'),
    )
    return Response(200, headers, text.getvalue().encode())


def _harmless(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in ("=", "+", "-", "@", "\t", "\r") else name


def _by(call: Call, names: tuple[str, ...], usual: str) -> str:
    by = call.param("by") or usual
    if by not in names:
        raise Problem(400, f'"by" must be one of {", ".join(names)}, not {by[:40]!r}', param="by")
    return by


def _named(by: str) -> Any:
    return roster.current if by == "model" else str


def _stretch(call: Call, now: float) -> Stretch:
    """What `span` names (periods.SPANS), or from `since` to `until`, which is now if it is left out."""
    span, since, until = call.param("span"), call.param("since"), call.param("until")
    if not since:
        if until:
            raise Problem(400, '"until" needs a "since"', param="until")
        if (span or "30d") not in periods.SPANS:
            raise Problem(
                400, f'"span" must be one of {", ".join(periods.SPANS)}, not {span[:40]!r}', param="span"
            )
        return periods.named(span or "30d", now)
    begin, end = usage.moment(since, now) or 0.0, usage.moment(until, now, "until") if until else now
    if end is None or not begin < end:
        raise Problem(400, '"until" must be later than "since"', param="until")
    return periods.between(begin, end)


HANDLERS = (
    frame.get(
        "/api/usage",
        show,
        says="""`?by=model|collection|key|purpose|day|endpoint&since=7d` → `{by, since, total, rows:
            [{name, calls, errors, interrupted, priced_calls, unknown_calls, known_usd, billed_usd,
            estimated_calls, unmetered_calls, tokens: {uncached_in, cache_read, cache_write, out,
            reasoning}}], complete}`. `since` is a span (`12h`, `7d`, `4w`) or a date; the answer's
            says from which full hour on was counted, from which day where that is more than 14 days
            ago. `known_usd` sums the priced calls and is null where all that could cost are of
            unknown cost; `billed_usd` is the part that providers stated themselves, the rest is
            made from prices; `complete` is false while the ledger is being counted again""",
    ),
    frame.get(
        "/api/usage/series",
        over_time,
        says="""`?by=purpose|model|collection|key|endpoint&span=24h|7d|30d|90d|month|year`, or
            `&since=&until=` → `{by, since, until, step_s, at: [stamps], names: [{name, usd, calls,
            unknown}], rows, total, before: {since, until, total}, complete}`: the same over time,
            in at most 400 pieces (hours, quarter days, days or weeks, UTC). `rows` are as above,
            `names` the six dearest of them, then the others together; `usd`, `calls` and `unknown`
            have a figure for each piece, `usd` null where all that could cost is of unknown cost.
            `before` is as much time before, null where the ledger does not reach back""",
    ),
    frame.get(
        "/api/usage/worth",
        came_of_it,
        says="""the same `span`, or `since` and `until` → `{models: [{name, model_id, …usage, useful,
            judged, range, looked_at, real, false, answers, each_useful, each_real}], over_all,
            total, cached: {share, saved_usd}, unpriced, since, until, complete}`. `each_useful` and
            `each_real` are `{usd, low, high}`: what a useful answer and a real finding cost, failed
            calls included, with the range that holds it nineteen times in twenty; null where nobody
            judged or no price is known. `unpriced`: the models that want a price, for calls whose
            tokens are known. Days are those of the panels, UTC""",
    ),
    frame.get(
        "/api/usage/csv",
        as_csv,
        says="""the query of the series → the same figures as a CSV file, a line for each piece and each
            name""",
    ),
)
