"""A panel as one HTML file: no script, nothing from elsewhere, and a policy in its head that forbids both.

It reads in light and dark, on a phone and on paper. Every word in it is escaped (see markup).
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterator

from metrics.dashboard.markup import escaped, rendered
from metrics.dashboard.sheet import Answer, Sheet
from metrics.version import VERSION

STYLE = """
:root{color-scheme:light dark;--bg:#f6f5f2;--surface:#fff;--sunken:#efede8;--line:#e1ded7;--text:#1c1a17;
--soft:#55514a;--accent:#2846c4;--ok:#0a6b4c;--bad:#b0261c}
@media(prefers-color-scheme:dark){:root{--bg:#121110;--surface:#191816;--sunken:#0c0b0a;--line:#2d2a27;
--text:#eeebe5;--soft:#b5afa6;--accent:#95aaff;--ok:#5ccb9d;--bad:#ff9282}}
*{box-sizing:border-box}
body{margin:0 auto;padding:24px 16px 48px;max-width:860px;background:var(--bg);color:var(--text);
font:16px/1.6 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:22px;line-height:28px;margin:0 0 12px}h2{font-size:17px;line-height:24px;margin:0}
section,details{margin:16px 0;padding:12px 16px;background:var(--surface);border:1px solid var(--line);
border-radius:10px}
section details{margin:8px 0;background:none}
summary{cursor:pointer;font-weight:600}
dl{display:flex;flex-wrap:wrap;gap:4px 24px;margin:0;font-size:14px}
dl div{display:flex;gap:6px}dt{color:var(--soft)}dd{margin:0}
.facts,.skipped,footer{color:var(--soft);font-size:14px}.facts{margin:2px 0 8px}
.real{color:var(--ok)}.false{color:var(--bad)}
p,ul,ol,blockquote,figure,table{margin:0 0 10px}
.h1,.h2,.h3,.h4,.h5,.h6{font-weight:650}.h1{font-size:19px}.h2{font-size:17px}
blockquote{margin-left:0;padding-left:12px;border-left:3px solid var(--line);color:var(--soft)}
pre,code{font:13px/1.55 ui-monospace,monospace;background:var(--sunken);border-radius:4px}
code{padding:1px 4px}pre{padding:10px 12px;overflow-x:auto;margin:0}pre code{padding:0}
figcaption{font-size:12px;color:var(--soft)}a{color:var(--accent)}
table{border-collapse:collapse;font-size:14px}
th,td{border:1px solid var(--line);padding:4px 8px;text-align:left}
article{unicode-bidi:isolate}
@media print{body{background:none;max-width:none}section{break-inside:auto}pre{white-space:pre-wrap}}
"""

# The style is named by its digest, so that no other one counts, whatever the words beside it would bring.
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"
    + b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    + "'"
)


def page(sheet: Sheet, now: str) -> str:
    """The whole file. `now` is when it is written, ISO 8601."""
    return "".join(_page(sheet, now))


def _page(sheet: Sheet, now: str) -> Iterator[str]:
    title = escaped(sheet.title)
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escaped(POLICY)}">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{title}</title><style>{STYLE}</style></head>\n<body><main>"
    yield f"<h1>{title}</h1>"
    pairs = (f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in sheet.facts)
    yield f"<dl>{''.join(pairs)}</dl>\n"
    yield from _question(sheet)
    for answer in (*((sheet.merged,) if sheet.merged else ()), *sheet.answers):
        yield from _answer(answer, sheet.words_kept, answer is sheet.merged)
    if sheet.skipped:
        rows = (f"<li><b>{escaped(alias)}</b> {escaped(why)}</li>" for alias, why in sheet.skipped)
        yield '<details class="skipped"><summary>Who stayed off</summary>'
        yield f"<ul>{''.join(rows)}</ul></details>\n"
    yield f"</main><footer>Exported from Benchwarmers {escaped(VERSION)} on {escaped(now)}.</footer>"
    yield "</body></html>\n"


def _question(sheet: Sheet) -> Iterator[str]:
    yield "<details open><summary>Question</summary>"
    if sheet.system:
        yield f'<p class="facts">System text</p><article dir="auto">{rendered(sheet.system)}</article>'
    if sheet.question is None:
        yield '<p class="facts">Its words are not kept.</p>'
    else:
        yield f'<article dir="auto">{rendered(sheet.question)}</article>'
    yield "</details>\n"


def _answer(answer: Answer, kept: bool, merged: bool) -> Iterator[str]:
    name = f"Merged answer, {answer.alias}" if merged else answer.alias
    yield f'<section><h2>{escaped(name)}</h2><p class="facts">{escaped(", ".join(answer.facts))}<br>'
    yield f"<code>{escaped(answer.call)}</code></p>"
    if answer.reasoning:
        yield f'<details><summary>Reasoning</summary><article dir="auto">{rendered(answer.reasoning)}'
        yield "</article></details>"
    if answer.text:
        yield f'<article dir="auto">{rendered(answer.text)}</article>'
    elif answer.answered and not kept:
        yield '<p class="facts">The words of this answer are not kept.</p>'
    if answer.claims:
        rows = (
            f'<li><b class="{decision.partition(" ")[0]}">{decision}</b>: {escaped(quote)}</li>'
            for decision, quote in answer.claims
        )
        yield f"<ul>{''.join(rows)}</ul>"
    if answer.verdict:
        note = f": {escaped(answer.note)}" if answer.note else ""
        yield f'<p class="facts">Verdict: <b>{escaped(answer.verdict)}</b>{note}</p>'
    yield "</section>\n"
