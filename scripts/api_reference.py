#!/usr/bin/env python3
"""Write the table of routes in docs/API.md from the server's own table.

    python3 scripts/api_reference.py

Each route says beside its handler what it takes and gives (`says`), and who may use it: a row follows from
that, in the order of the table. What stands above and below the table is left as it is.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import serve  # noqa: E402
from metrics.web.table import Route  # noqa: E402

TARGET = ROOT / "docs" / "API.md"
HEAD = "| Route | Who | Body or query → reply |\n|---|---|---|\n"
_TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")


def main() -> int:
    text = TARGET.read_text("utf-8")
    TARGET.write_text(renewed(text, serve.routes(False)), "utf-8")
    return 0


def renewed(text: str, routes: Iterable[Route]) -> str:
    """The document with the table that these routes make. ValueError where it has none."""
    if not _TABLE.search(text):
        raise ValueError(f"there is no table that begins {HEAD.splitlines()[0]!r}")
    return _TABLE.sub(lambda _: table(routes), text, count=1)


def table(routes: Iterable[Route]) -> str:
    return HEAD + "".join(row(route) for route in routes if belongs(route))


def belongs(route: Route) -> bool:
    """Whether the document is about it: the gateway's own routes are in GATEWAY.md."""
    return bool(route.says) or (route.pattern.startswith("/api/") and route.guard != "gateway")


def row(route: Route) -> str:
    """ValueError for a route that does not say what it takes and gives."""
    if not route.says:
        raise ValueError(f"{route.method} {route.pattern} does not say what it takes and gives")
    said = " ".join(route.says.split()).replace("|", "\\|")
    who = route.who if route.guard == "api" else "any"
    return f"| `{route.method} {route.pattern}` | {who} | {said} |\n"


if __name__ == "__main__":
    sys.exit(main())
