"""The two shapes of every /api reply, and what its handlers share: who is asking, and rows of the table.

{"ok": true, ...}          {"ok": false, "errors": ["sentence"], "error": {"message", "kind", "param"?}}
"""

import math
from collections.abc import Callable
from typing import Any

from metrics.records import Problem
from metrics.store.stamps import stamp
from metrics.web import roles
from metrics.web.table import Call, Response, Route, as_json

Handler = Callable[[Call], Response]


def by(call: Call) -> str:
    """Who edits and judges, for the records."""
    return call.who.name


def ok(**fields: Any) -> Response:
    return as_json({"ok": True, **fields})


def refused(problem: Problem, call: Call | None) -> Response:
    """A Problem in the shape of /api."""
    error: dict[str, Any] = {"message": problem.message, "kind": problem.kind}
    if problem.param:
        error["param"] = problem.param
    headers = problem.headers
    if problem.retry_after is not None:
        headers += (("Retry-After", str(math.ceil(problem.retry_after))),)
    return as_json({"ok": False, "errors": [problem.message], "error": error}, problem.status, headers)


def get(pattern: str, handler: Handler, who: str = roles.JUDGE, *, says: str) -> Route:
    """`says` is what docs/API.md has of it: what it takes, and what it gives."""
    return Route("GET", pattern, handler, refused, "api", who=who, says=says)


def post(pattern: str, handler: Handler, who: str = roles.ADMIN, *, says: str) -> Route:
    return Route("POST", pattern, handler, refused, "api", who=who, says=says)


def moment(epoch: float | None) -> str | None:
    """Epoch seconds as the API writes times."""
    return None if epoch is None else stamp(epoch)


def page(call: Call, most: int = 100, usual: int = 50) -> int:
    """The `limit` of a list: a whole number from 1 to `most`."""
    wished = call.param("limit") or str(usual)
    plain = wished.isascii() and wished.isdigit() and len(wished) < 10
    if not plain or not 1 <= int(wished) <= most:
        raise Problem(
            400, f'"limit" must be a whole number from 1 to {most}, not {wished[:20]!r}', param="limit"
        )
    return int(wished)
