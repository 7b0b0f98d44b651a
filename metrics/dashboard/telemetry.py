"""/metrics: the figures for Prometheus, where BENCH_TELEMETRY asks for them. What opens it is a token of its
own (BENCH_METRICS_TOKEN), so that a monitoring program need not hold what opens everything, or whatever opens
the dashboard."""

import hmac
from functools import partial

from metrics.limits import ledger
from metrics.records import Problem
from metrics.telemetry import exporter, meter, prometheus
from metrics.telemetry.options import SWITCH
from metrics.version import VERSION
from metrics.web.door import Door
from metrics.web.table import Call, Response, Route

OFF = f"the figures for Prometheus are off: start the server with {SWITCH}=prometheus"


def show(door: Door, call: Call) -> Response:
    """The page. Problem 404 where it is off, 401 for whoever may not see it."""
    running = exporter.running()
    if running is None or not running.options.prometheus:
        raise Problem(404, OFF)
    if not _opens(call, running.options.token):
        door.person(call)
    page = prometheus.text(meter.families(ledger.used), running.meter.durations(), VERSION)
    return Response(200, (("Content-Type", prometheus.CONTENT_TYPE), ("Cache-Control", "no-store")), page)


def _opens(call: Call, token: str | None) -> bool:
    scheme, _, shown = call.headers.get("authorization", "").strip().partition(" ")
    given = shown.strip().encode("utf-8", "replace")
    return token is not None and scheme.lower() == "bearer" and hmac.compare_digest(given, token.encode())


def routes(door: Door) -> tuple[Route, ...]:
    return (
        Route(
            "GET",
            "/metrics",
            partial(show, door),
            guard="open",
            says="""the figures for Prometheus, where `BENCH_TELEMETRY` names them
                ([HOSTING.md](HOSTING.md#watching-it)); what opens it is `BENCH_METRICS_TOKEN`, or
                what opens the dashboard""",
        ),
    )
