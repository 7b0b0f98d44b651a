"""/api/quotas: the limits of every connection, what is used of them, and who rests; and what can be done
about it: setting a limit, letting somebody rest, waking and probing."""

import math
import re
import time
from typing import Any

from metrics.bench import changes, endpoints, fields, roster
from metrics.bench.roster import Model
from metrics.dashboard import frame
from metrics.evidence import reliability, rests
from metrics.limits import caps, gate, states, told
from metrics.play import probe
from metrics.records import Problem
from metrics.store.stamps import stamp
from metrics.web.table import Call, Response

SPANS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"(\d{1,6})([smhd])")
NAMED = {"name": fields.line(100)}


def show(call: Call) -> Response:
    now = time.time()
    quotas = told.quotas(now)
    return frame.ok(
        quotas=quotas,
        connections=states.connections(now, quotas),
        resting=_resting(now),
        problems=caps.problems(),
        now=stamp(now),
    )


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
    section, _, kept = caps.save(name, limits, frame.by(call), stamp(time.time()))
    return frame.ok(connection=name, of=section, limits=dict(kept.values), at=kept.at or None)


def rest(call: Call) -> Response:
    """{"name": a connection or a model's alias, "for": "90m"}: nothing goes out to it until then."""
    form = fields.take(call.json(), {**NAMED, "for": span}, required=("name", "for"))
    now = time.time()
    endpoint, model = _place(form["name"])
    until = float(math.ceil(now + form["for"]))
    rests.rest(_subject(endpoint, model), until, frame.by(call), now)
    gate.connection(endpoint, now).rest(model.model_id if model else "", until, now)
    changes.note(frame.by(call), f"rest of {form['name']}", "until", None, stamp(until))
    return frame.ok(name=form["name"], of="model" if model else "connection", until=stamp(until))


def wake(call: Call) -> Response:
    """{"name"}: whatever it rests for is over; the next call will tell."""
    name = fields.take(call.json(), NAMED, required=("name",))["name"]
    now = time.time()
    endpoint, model = _place(name)
    if model and (until := rests.resting(f"{endpoint}:", now)):
        raise Problem(409, f"{endpoint} rests as a whole until {stamp(until)}: wake {endpoint}", param="name")
    subject = _subject(endpoint, model)
    resting = rests.resting(subject, now)
    reliability.wake(subject, frame.by(call), now)
    gate.connection(endpoint, now).release(model.model_id if model else "", now)
    changes.note(frame.by(call), f"rest of {name}", "until", stamp(resting) if resting else None, None)
    return frame.ok(name=name, of="model" if model else "connection")


def ask(call: Call) -> Response:
    """{"name": a model, or a connection for the one of its models that rests the longest}: one small
    question now."""
    name = fields.take(call.json(), NAMED, required=("name",))["name"]
    endpoint, model = _place(name)
    model = model or _most_resting(endpoint, time.time())
    if model.builtin:
        raise Problem(400, f'"{name}" is inside this server: there is nothing to probe', param="name")
    answer, reached = probe.ask(model.alias, frame.by(call))
    return frame.ok(
        model=model.alias,
        reached=reached,
        status=answer.status,
        error=answer.error,
        message=answer.message,
        seconds=round(answer.seconds, 3),
        call=answer.seat.call,
    )


def _place(name: str) -> tuple[str, Model | None]:
    """The connection that is meant, and the model if it is one. A connection goes before a model of the same
    name, as for limits."""
    if name in endpoints.all():
        return name, None
    model = roster.all().get(name)
    if model is None:
        raise Problem(404, f'"{name}" is neither a connection nor a model on the bench', param="name")
    return model.endpoint, model


def _subject(endpoint: str, model: Model | None) -> str:
    """Who rests, as evidence/rests names it."""
    return model.model_id if model else f"{endpoint}:"


def _most_resting(endpoint: str, now: float) -> Model:
    models = [model for model in roster.all().values() if model.endpoint == endpoint]
    if not models:
        raise Problem(400, f"{endpoint} has no model on the bench to ask", param="name")
    return max(models, key=lambda model: reliability.cooling(model.model_id, now) or 0.0)


def span(field: str, value: Any) -> float:
    """Seconds of `90m`: a number and s, m, h or d, up to 30 days."""
    found = _SPAN.fullmatch(value) if isinstance(value, str) else None
    seconds = int(found[1]) * SPANS[found[2]] if found else 0
    if not 0 < seconds <= rests.LONGEST:
        raise fields.wrong(field, "a time such as 90s, 20m, 6h or 2d, at most 30d", value)
    return float(seconds)


HANDLERS = (
    frame.get(
        "/api/quotas",
        show,
        says="""`{quotas: [{connection, model, model_id, metric, window, kind, limit, used, remaining,
            reset_at, source, observed_at, age_s, why, forecast}], connections: [{connection, kind,
            models, price, state, next_at, why, held, in_use, waiting, refused}], resting: [{model,
            connection, until, why}], problems, now}`. `model` is null where a limit is its
            connection's; `metric` is requests, tokens, input_tokens, output_tokens, concurrency or
            usd; `window` second, minute, hour, day, month, at-once, unknown, or `retry-after` for a
            refusal that named none; `source` set, headers, error or learned. `forecast` is
            `{by_reset, empty_at}` for a window that ends on the clock, once enough of it has passed
            and been used to speak of a pace, else null. Connections are worst first, `models` their
            aliases; `state` is free, pacing or resting, `next_at` when a call of usual size may go
            out, `held` whether a refusal or a user is in the way, which waking ends, `price` free,
            paid, mixed or null; `refused` is `{hours: [24 counts, oldest first], since, last: {at,
            model_id, cause, status, until, limits}}`: what its provider refused for want of room,
            `cause` being window, concurrency, exhausted or too_large. `why` of who rests is such as
            `rate_limited`, or `asked` for a user's word""",
    ),
    frame.post(
        "/api/connection-limits",
        save,
        says="""`{connection, limits: {rpm, rpd, tpm, tpd, rpmo, concurrency, usd_month, …}}` →
            `{connection, of, limits, at}`. `connection` is an endpoint or a model's alias; `null`
            takes a limit away, what is not named stays""",
    ),
    frame.post(
        "/api/rest",
        rest,
        says="""`{name, for: "90m"}` → `{name, of, until}`: a connection or a model rests, at most
            `30d`; nothing goes out to it until then""",
    ),
    frame.post(
        "/api/wake",
        wake,
        says="""`{name}` → `{name, of}`: whatever it rests for is over. A model whose whole connection
            was let rest is a 409""",
    ),
    frame.post(
        "/api/probe",
        ask,
        says="""`{name}` → `{model, reached, status, error, message, seconds, call}`: one small question
            to a model, or to the one of a connection's models that rests longest. It goes through
            limits and budgets into the ledger, purpose `probe`""",
    ),
)
