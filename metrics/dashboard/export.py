"""/api/panel/export: one panel to take along: one HTML file that needs nothing else, Markdown, or JSON.

Whoever opens it elsewhere has no server of ours beside it, and did not write what is in it: the page holds no
script, asks for nothing and says so to the browser; in Markdown what models wrote cannot become HTML, and no
picture is fetched.
"""

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from metrics.dashboard import frame, leaflet, panels, sheet
from metrics.dashboard.markup import FENCE, TURNING
from metrics.dashboard.sheet import Answer, Sheet
from metrics.records import Problem
from metrics.store.stamps import stamp
from metrics.version import VERSION
from metrics.web.table import Call, Response, json_bytes


def export(call: Call) -> Response:
    """`?panel=ID&format=html|md|json`: the file, under a name of its own. Problem 404 for an unknown panel,
    400 for a format that is none."""
    form, panel_id = call.param("format", "html"), call.param("panel")
    if form not in FORMATS:
        raise Problem(400, f'"format" must be one of {", ".join(FORMATS)}, not {form[:20]!r}', param="format")
    if not panel_id:
        raise Problem(400, 'name a "panel", such as p20261129-142220-1a2b3c4d', param="panel")
    kept = panels.whole(panel_id)
    kind, write = FORMATS[form]
    name = re.sub(r"[^\w-]", "", str(kept["panel"]["panel"]))
    headers = (
        ("Content-Type", kind),
        ("Content-Disposition", f'attachment; filename="panel-{name}.{form}"'),
        ("Content-Security-Policy", f"sandbox; {leaflet.POLICY}; frame-ancestors 'none'"),
        ("X-Content-Type-Options", "nosniff"),
        ("Cache-Control", "no-store"),
    )
    return Response(200, headers, write(kept, stamp(time.time())))


def as_json(kept: Mapping[str, Any], now: str) -> bytes:
    """What is recorded, as /api/panel/{id} tells it."""
    return json_bytes({"exported": now, "version": VERSION, **kept}) + b"\n"


def as_html(kept: Mapping[str, Any], now: str) -> bytes:
    return leaflet.page(sheet.of(kept), now).encode("utf-8", "replace")


def as_markdown(kept: Mapping[str, Any], now: str) -> bytes:
    return "\n\n".join(_markdown(sheet.of(kept), now)).encode("utf-8", "replace") + b"\n"


def _markdown(told: Sheet, now: str) -> Iterator[str]:
    yield f"# {tame(told.title)}"
    yield "\n".join(f"- {name}: {tame(value)}" for name, value in told.facts)
    yield "## Question"
    if told.system:
        yield f"System text:\n\n{quoted(told.system)}"
    yield "Its words are not kept." if told.question is None else quoted(told.question)
    if told.merged:
        yield from _told(told.merged, "Merged answer, ", told.words_kept)
    for answer in told.answers:
        yield from _told(answer, "", told.words_kept)
    if told.skipped:
        yield "## Who stayed off"
        yield "\n".join(f"- {tame(alias)}: {tame(why)}" for alias, why in told.skipped)
    yield f"---\n\nExported from Benchwarmers {VERSION} on {now}."


def _told(answer: Answer, before: str, kept: bool) -> Iterator[str]:
    yield f"## {before}{tame(answer.alias)}"
    yield f"{tame(', '.join(answer.facts))}, `{answer.call}`"
    if answer.text:
        yield tame(answer.text)
    elif answer.answered and not kept:
        yield "The words of this answer are not kept."
    if answer.claims:
        yield "\n".join(f"- {decision}: {tame(' '.join(quote.split()))}" for decision, quote in answer.claims)
    if answer.verdict:
        yield f"Verdict: **{answer.verdict}**" + (f": {tame(answer.note)}" if answer.note else "")


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in tame(text).split("\n"))


def tame(text: str) -> str:
    """Markdown in which no HTML begins and no picture is fetched, whoever shows it; code stays as it is. A
    fence that was left open is closed, so that it cannot swallow what follows."""
    lines, fence = [], ""
    for line in text.replace("\r\n", "\n").split("\n"):
        opening = FENCE.match(line)
        if fence:
            shut = line.strip()
            if shut and set(shut) == {fence[0]} and len(shut) >= len(fence):
                fence = ""
        elif opening:
            fence = opening[1]
        else:
            line = _tamed(line)
        lines.append(TURNING.sub(lambda found: f"[U+{ord(found[0]):04X}]", line))
    return "\n".join([*lines, *([fence] if fence else [])])


def _tamed(line: str) -> str:
    """A line outside a fence. Code spans are no exception: a span that does not close where it seems to would
    let through what stands in it, and an escaped sign in code only reads odd."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", line).replace("![", "!\\[")


FORMATS = {
    "html": ("text/html; charset=utf-8", as_html),
    "md": ("text/markdown; charset=utf-8", as_markdown),
    "json": ("application/json", as_json),
}

HANDLERS = (frame.get("/api/panel/export", export),)
