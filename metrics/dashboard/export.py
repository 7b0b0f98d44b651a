"""/api/panel/export: one panel to take along: one HTML file that needs nothing else, Markdown, or JSON.

Whoever opens it elsewhere has no server of ours beside it, and did not write what is in it: the page holds no
script, asks for nothing and says so to the browser; in Markdown, by the rules of CommonMark and GitHub, what
models wrote cannot become HTML, and no picture is fetched.
"""

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from metrics.dashboard import frame, leaflet, panels, sheet
from metrics.dashboard.markup import FENCE, TURNING, closes
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
    yield f"# {in_line(told.title)}"
    yield "\n".join(f"- {name}: {in_line(value)}" for name, value in told.facts)
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
        yield "\n".join(f"- {in_line(alias)}: {in_line(why)}" for alias, why in told.skipped)
    yield f"---\n\nExported from Benchwarmers {VERSION} on {now}."


def _told(answer: Answer, before: str, kept: bool) -> Iterator[str]:
    yield f"## {before}{in_line(answer.alias)}"
    yield f"{in_line(', '.join(answer.facts))}, `{answer.call}`"
    if answer.text:
        yield tame(answer.text)
    elif answer.answered and not kept:
        yield "The words of this answer are not kept."
    if answer.claims:
        yield "\n".join(f"- {decision}: {in_line(quote)}" for decision, quote in answer.claims)
    if answer.verdict:
        yield f"Verdict: **{answer.verdict}**" + (f": {in_line(answer.note)}" if answer.note else "")


def quoted(text: str) -> str:
    """As a quote. Behind its sign a tab is narrower than at the margin: what it indents may be a fence there
    and none here. Spaces are as wide in both."""
    text = re.sub(r"(?m)^ *\t[ \t]*", lambda found: found[0].expandtabs(4), _lined(text))
    return "\n".join(f"> {line}" if line else ">" for line in tame(text).split("\n"))


def in_line(text: str) -> str:
    """`text` as part of a line, where no fence can begin."""
    return _shown(_tamed(" ".join(text.split())))


def tame(text: str) -> str:
    """Markdown in which no HTML begins and no picture is fetched; code stays as it is.

    What may stay must be code to every reader: so a fence is moved to the margin, where it ends whatever list
    or quote was open; of what stands beside it only the language is kept, for some would see a table's head
    there; and it ends where CommonMark ends it. One that was left open is closed, so that it cannot swallow
    what follows."""
    lines, mark = [], ""
    for line in _lined(text).split("\n"):
        opening = None if mark else FENCE.match(line)
        if mark:
            mark = "" if closes(line, mark) else mark
        elif opening:
            mark, line = opening[1], opening[1] + opening[2]
        else:
            line = _tamed(line)
        lines.append(_shown(line))
    return "\n".join([*lines, *([mark] if mark else [])])


def _lined(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _tamed(line: str) -> str:
    """A line outside a fence. Code spans are no exception: a span that does not close where it seems to would
    let through what stands in it, and an escaped sign in code only reads odd."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", line).replace("![", "!\\[")


def _shown(line: str) -> str:
    """The line with what turns the direction of writing shown by its number."""
    return TURNING.sub(lambda found: f"[U+{ord(found[0]):04X}]", line)


FORMATS = {
    "html": ("text/html; charset=utf-8", as_html),
    "md": ("text/markdown; charset=utf-8", as_markdown),
    "json": ("application/json", as_json),
}

HANDLERS = (
    frame.get(
        "/api/panel/export",
        export,
        says="""`?panel=ID&format=html|md|json` → the panel as a file: one HTML page without script that
            needs nothing else, Markdown, or what `GET /api/panel/{id}` tells""",
    ),
)
