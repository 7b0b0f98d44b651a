"""Panels and records as documents that a client can attach: `bench://panel/ID` and
`bench://collection/NAME/record`.

A panel holds a prompt and its answers, so it is shown to whoever asked it and to nobody else: to the key, or
to callers without one where it was asked by this protocol without one. What was asked on the page is the
page's.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from metrics.bench import collections, scope
from metrics.evidence import claims, panels, verdicts
from metrics.mcp import judging, telling
from metrics.mcp.wire import INVALID_PARAMS, NO_RESOURCE, Refused
from metrics.play import asked
from metrics.records import Problem
from metrics.store import bodies
from metrics.web.table import Call

Row = dict[str, Any]

JSON = "application/json"
LATEST = 20  # panels that are listed
LOOK = 200  # panels that are looked at for them

PANEL = re.compile(r"bench://panel/([^/]{1,200})")
RECORD = re.compile(r"bench://collection/([^/]{1,200})/record")

TEMPLATES = (
    {
        "uriTemplate": "bench://panel/{id}",
        "name": "panel",
        "title": "A panel",
        "description": "One panel in full: what was asked, every seat's answer, verdicts and marked claims. "
        "The id is `panel` in the result of ask.",
        "mimeType": JSON,
    },
    {
        "uriTemplate": "bench://collection/{name}/record",
        "name": "record",
        "title": "A collection's record",
        "description": "How the answers of each model in a collection were judged, with the range that its "
        "rate lies in.",
        "mimeType": JSON,
    },
)


def listed(call: Call) -> list[Row]:
    """The record of every collection that is for whoever asks, then the latest panels that they asked."""
    mine, _ = panels.recent(LOOK)
    records = [_record(name) for name in collections.all() if scope.current().has(name)]
    return records + [_panel(row) for row in mine if _theirs(row, call)][:LATEST]


def _record(name: str) -> Row:
    return {
        "uri": f"bench://collection/{quote(name, safe='')}/record",
        "name": f"record-{name}",
        "title": f"The record of {name}",
        "description": f"How answers of each model in {name} were judged",
        "mimeType": JSON,
    }


def _panel(row: Mapping[str, Any]) -> Row:
    who = ", ".join(seat["alias"] for seat in row["seats"])
    return {
        "uri": f"bench://panel/{row['panel']}",
        "name": row["panel"],
        "title": (row.get("task") or row["panel"])[:100],
        "description": f"{row['collection']}, {row['at']}: {who}",
        "mimeType": JSON,
    }


def read(uri: object, call: Call, modern: bool) -> list[Row]:
    """The contents of a resource. Refused where there is none of that address, or none for whoever asks."""
    for pattern, reader in READERS:
        if isinstance(uri, str) and (found := pattern.fullmatch(uri)):
            try:
                told = reader(unquote(found[1]), call)
            except Problem as problem:
                raise Refused(INVALID_PARAMS if modern else NO_RESOURCE, problem.message) from None
            return [{"uri": uri, "mimeType": JSON, "text": json.dumps(told, ensure_ascii=False, indent=1)}]
    number = INVALID_PARAMS if modern or not isinstance(uri, str) else NO_RESOURCE
    known = ", ".join(str(template["uriTemplate"]) for template in TEMPLATES)
    raise Refused(number, f"there is no resource {str(uri)[:200]!r}; there are {known}")


def _panel_body(panel: str, call: Call) -> Row:
    row = panels.find(panel)
    if row is None or not _theirs(row, call):
        raise Problem(404, f'there is no panel "{panel}" that you asked')
    calls = [seat["call"] for seat in row.get("seats", ())]
    told = {name: value for name, value in row.items() if name != "decision"}
    return {
        "panel": told,
        "body": bodies.read(panel),
        "verdicts": {one: given for one in calls if (given := verdicts.of(one))},
        "claims": {one: marked for one in calls if (marked := claims.of(one))},
    }


def _theirs(row: Mapping[str, Any], call: Call) -> bool:
    key = asked.caller(call)
    own = row.get("key") == key if call.key else judging.asks_here(row, key)
    return own and scope.current().has(str(row.get("collection")))


READERS: tuple[tuple[re.Pattern[str], Callable[[str, Call], Row]], ...] = (
    (PANEL, _panel_body),
    (RECORD, lambda name, call: telling.record_of(name)),
)
