"""/api/quotas: the limits of every connection, what is used of them, and who rests; and setting one."""

import time
from typing import Any

from metrics.bench import fields, roster
from metrics.dashboard import frame
from metrics.evidence import reliability
from metrics.limits import caps, told
from metrics.records import Problem
from metrics.store.stamps import stamp
from metrics.web.table import Call, Response


def show(call: Call) -> Response:
    now = time.time()
    return frame.ok(quotas=told.quotas(now), resting=_resting(now), problems=caps.problems())


def _resting(now: float) -> list[dict[str, Any]]:
    """The models that rest after a refusal: they are passed over while others can answer."""
    found = []
    for model in roster.all().values():
        health = reliability.health(model.model_id, now)
        if health.until is not None:
            found.append(
                {
                    "model": model.alias,
                    "connection": model.endpoint,
                    "until": stamp(health.until),
                    "why": health.why,
                }
            )
    return found


def save(call: Call) -> Response:
    """{"connection": a connection or a model's alias, "limits": {"rpm": 20, "tpd": null, …}}; null takes a
    limit away."""
    form = call.json()
    name, limits = form.get("connection"), form.get("limits")
    for field in form:
        if field not in ("connection", "limits"):
            raise Problem(400, f'"{field}" is not a field here; these are: connection, limits', param=field)
    if not isinstance(name, str):
        raise fields.wrong("connection", "the name of a connection or a model", name)
    if not isinstance(limits, dict):
        raise fields.wrong("limits", f"an object with any of {', '.join(caps.WORDS)}", limits)
    section, _, kept = caps.save(name, limits, frame.BY, stamp(time.time()))
    return frame.ok(connection=name, of=section, limits=dict(kept.values), at=kept.at or None)


HANDLERS = (
    frame.get("/api/quotas", show),
    frame.post("/api/connection-limits", save),
)
