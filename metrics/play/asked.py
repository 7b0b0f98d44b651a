"""Whether a request may be asked, in whatever format it was written, and who sits for it."""

import random
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from metrics.client.outgoing import to_json
from metrics.limits import key_rates, tokens
from metrics.longjson import AsWritten
from metrics.play import affordable, seating
from metrics.play.calls import DEEPEST
from metrics.play.seating import Draw
from metrics.records import Panel, Problem, Request
from metrics.web.table import Call


def caller(call: Call) -> str:
    """Who asks: the name of the key, or "local" for whoever needs none."""
    return call.key.name if call.key else "local"


def admitted(request: Request, call: Call) -> Request:
    """`request`, let in. Problem 429 where it is above its key's limits of a minute, 508 where it goes round
    in circles."""
    if request.depth > DEEPEST:
        raise _circling(request.depth)
    if request.tools and not isinstance(request.tools, AsWritten):
        request = replace(request, tools=_written(request.tools))
    if call.key:
        key_rates.admit(call.key, _size(request) if call.key.tpm else 0, time.time())
    return request


def _written(tools: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Tools with their text: an agent's are long, and it is measured and sent more than once."""
    with suppress(Problem):  # what cannot be written, whoever sends it says
        return AsWritten(tools, to_json(list(tools)))
    return tools


def convened(request: Request) -> Panel:
    """Who sits for `request` now, as far as the budgets go. Problem as seating.convene and affordable.fitted
    raise."""
    return affordable.fitted(seating.convene(request, Draw(time.time(), random.getrandbits)))


def _size(request: Request) -> int:
    """Input tokens of a request, by estimate."""
    return tokens.estimate(request.messages) + tokens.of_tools(request.tools)


def _circling(depth: int) -> Problem:
    return Problem(
        508,
        f"this request came through {depth} benches: a model on the bench leads back to it. Take that "
        "model off the bench with `bench model retire ALIAS`",
        kind="loop",
        retryable=False,
    )
