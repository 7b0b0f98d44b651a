"""Values as people read them: tables, seconds, money, times ago. Pure functions from values to text.

A cell's width is what a terminal shows, not its length: wide (East Asian) characters take two columns,
combining ones none. Columns are cut or left out only when a width is given, which is only done for terminals;
a pipe gets everything.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime

GAP = "  "
NARROWEST = 8  # a column is never cut below this
READABLE = 16  # rather than cut a column below this, a less important one is left out
UNKNOWN = "unknown"
STEERING = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")})


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], width: int | None = None, drop: Sequence[str] = ()
) -> str:
    """Header, dashes, rows; ends with a newline. A title that begins with ">" is right-aligned (numbers), one
    that begins with "=" is never cut (ids). Where `width` is too narrow, the columns in `drop` are left out,
    the first named first, and then the text columns are cut.
    """
    rows = [[plain(cell) for cell in row] for row in rows]
    grid = list(zip([title.lstrip(">=") for title in columns], *rows, strict=True))
    widths = [max(map(shown, column)) for column in grid]
    kept = room_for(columns, widths, width, drop)
    columns = [columns[at] for at in kept]
    widths = fitted([widths[at] for at in kept], [title[:1] in ">=" for title in columns], width)
    cells = list(zip(*(grid[at] for at in kept), strict=True))
    cells.insert(1, tuple("-" * wide for wide in widths))
    lines = (GAP.join(map(padded, row, widths, columns)).rstrip() for row in cells)
    return "\n".join(lines) + "\n"


def room_for(
    columns: Sequence[str], widths: Sequence[int], total: int | None, drop: Sequence[str]
) -> list[int]:
    """Which columns stay, so that those that are cut are still worth reading in `total` columns."""
    least = [
        wide if title[:1] in ">=" else min(wide, READABLE)
        for title, wide in zip(columns, widths, strict=True)
    ]
    kept = list(range(len(columns)))
    for title in drop:
        if total is None or sum(least[at] + len(GAP) for at in kept) - len(GAP) <= total:
            break
        kept.remove(columns.index(title))
    return kept


def fitted(widths: list[int], firm: Sequence[bool], total: int | None) -> list[int]:
    """`widths`, with the widest columns that are not `firm` narrowed until the row fits `total` columns
    (None: no limit)."""
    widths = list(widths)
    over = sum(widths) + len(GAP) * (len(widths) - 1) - (total or 0)
    while total and over > 0:
        widest = max(range(len(widths)), key=lambda at: (not firm[at], widths[at]))
        if firm[widest] or widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
        over -= 1
    return widths


def padded(cell: str, width: int, title: str) -> str:
    cell = cut(cell, width)
    space = " " * (width - shown(cell))
    return space + cell if title.startswith(">") else cell + space


def cut(text: str, width: int) -> str:
    """`text` in at most `width` columns; what is left out is shown by one "…"."""
    if shown(text) <= width:
        return text
    kept, room = "", width - 1
    for char in text:
        room -= shown(char)
        if room < 0:
            break
        kept += char
    return kept + "…"


def shown(text: str) -> int:
    """How many terminal columns `text` takes."""
    return len(text) if text.isascii() else sum(map(columns_of, text))


def columns_of(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def plain(text: str) -> str:
    """`text` on one line, with no control characters: a cell must not move the cursor or break its row."""
    return harmless(text).translate({ord("\n"): " ", ord("\t"): " "})


def harmless(text: str) -> str:
    """`text` without the control characters that steer a terminal; line ends and tabs stay."""
    return text.translate(STEERING)


def seconds(value: float | None) -> str:
    """`0.0` for an instant, never blank; a missing figure is a dash."""
    return "-" if value is None else f"{value:.1f}"


def money(usd: float | None) -> str:
    """USD; what is not known is "unknown", never zero."""
    if usd is None:
        return UNKNOWN
    if usd and usd < 0.000001:
        return "<$0.000001"
    whole, _, fraction = f"{usd:.6f}".partition(".")
    return f"${whole}.{fraction[:2]}{fraction[2:].rstrip('0')}" if usd else "$0"


def number(value: float | None) -> str:
    """A count with thousands apart (`128,000`); a price keeps its decimals; None is "unknown"."""
    return UNKNOWN if value is None else f"{value:,}"


def yes_no(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"


def span(length: float) -> str:
    """Seconds as a person says them: `42 s`, `5 min`, `3 h`, `2 d`."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if length >= size:
            return f"{int(length // size)} {unit}"
    return f"{max(0, int(length))} s"


def ago(at: str, now: float) -> str:
    """An ISO time as `5 min ago`; anything else is shown as it is."""
    try:
        moment = datetime.fromisoformat(at).timestamp()
    except ValueError:
        return at
    return f"{span(now - moment)} ago"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
