#!/usr/bin/env python3
"""The whole server: one table of routes (gateway, dashboard, page), one data folder, one process.

Life in order: own the data folder, seat the practice squad, listen, serve, and on SIGINT or SIGTERM finish
what is in flight.
"""

import argparse
import contextlib
import gc
import os
import queue
import signal
import sys
import threading
import time
import webbrowser
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import gateway
from metrics import bus
from metrics.bench import endpoints, roster
from metrics.care import scheduler
from metrics.dashboard import HANDLERS, access, events, login, telemetry
from metrics.limits import underway
from metrics.play import panel
from metrics.play.practice import squad
from metrics.records import Problem
from metrics.store import home, log
from metrics.telemetry import exporter
from metrics.telemetry import options as telemetry_options
from metrics.version import VERSION
from metrics.web import door
from metrics.web.guard import Guard
from metrics.web.http import Server
from metrics.web.static import files
from metrics.web.table import Route, Table

PORT, GATEWAY_PORT = 8122, 8123
STEP = 0.2  # seconds between looks whether a signal has come
FINISH = 10.0  # seconds that requests in flight have to finish
SAME = 0.5  # seconds in which a second signal means no more than the first
FOLDER = Path(__file__).resolve().parent


def parser(gateway_only: bool) -> argparse.ArgumentParser:
    port = GATEWAY_PORT if gateway_only else PORT
    what = "the gateway alone" if gateway_only else "the dashboard and the gateway"
    words = argparse.ArgumentParser(
        prog="gateway.py" if gateway_only else "serve.py",
        description=f"Serve {what} on 127.0.0.1 (BENCH_BIND: elsewhere, to callers with keys), until Ctrl-C "
        "or SIGTERM.",
    )
    words.add_argument(
        "--port", type=int, help=f"the port to listen on; 0 takes any free one (default {port})"
    )
    words.add_argument(
        "--home", type=Path, help="the data folder (default: BENCHWARMERS_HOME, else your user data folder)"
    )
    words.add_argument("--no-browser", action="store_true", help="do not open a browser")
    words.add_argument(
        "--practice", action="store_true", help="let the practice squad explore beside real models"
    )
    words.add_argument("--version", action="version", version=VERSION)
    return words


def main(argv: list[str] | None = None, gateway_only: bool = False) -> int:
    """Serve until told to stop. 0: stopped in order; 1: could not start, one sentence on stderr says why."""
    options = parser(gateway_only).parse_args(argv)
    try:
        door.from_environment(os.environ)  # what cannot be guarded is not opened
        wanted = telemetry_options.from_environment(os.environ)
        port = _port(options.port, gateway_only)
        return _serve(options, port, gateway_only, wanted)
    except Problem as problem:
        print(problem.message, file=sys.stderr)
        return 1


def _port(asked: int | None, gateway_only: bool) -> int:
    if asked is not None:
        return asked
    name, default = ("BENCH_GATEWAY_PORT", GATEWAY_PORT) if gateway_only else ("BENCH_PORT", PORT)
    try:
        return int(os.environ.get(name, default))
    except ValueError:
        raise Problem(400, f"{name}={os.environ[name]} is not a port number") from None


def _serve(
    options: argparse.Namespace, port: int, gateway_only: bool, wanted: telemetry_options.Options
) -> int:
    folder = home.open_home(options.home, os.environ, FOLDER / "examples" / "home")
    with contextlib.ExitStack() as end:
        end.callback(log.close_all)
        owner = end.enter_context(home.own())
        if lost := underway.recover(time.time()):
            _log(f"{lost} calls were under way when the last server was killed: recorded as interrupted.")
        end.callback(_seat_practice(options.practice).stop)
        with contextlib.suppress(Problem):
            roster.all()  # with what the catalogs know: reading those is not the first caller's to wait for
        end.callback(exporter.begin(wanted, _log).stop)
        server = _listen(port, gateway_only)
        owner.listening(server.port)
        end.callback(server.server_close)
        end.callback(scheduler.start().stop)
        stop = _stop_signals()
        threading.Thread(target=server.serve_forever, name="accept", daemon=True).start()
        gc.collect()
        gc.freeze()
        print(f"Benchwarmers {VERSION} is at {server.url} (data in {folder})", flush=True)
        if not (options.no_browser or gateway_only) and sys.stdout.isatty():
            webbrowser.open(server.url)
        _wait(stop)
        _finish(server)
    return 0


def _finish(server: Server) -> None:
    """Let what is in flight end, for up to FINISH seconds in all."""
    until = time.monotonic() + FINISH
    bus.close()  # who watches would go on watching
    if panel.playing():
        _log(f"Stopping: what is being answered has {FINISH:g} s to finish. Ctrl-C again stops at once.")
    server.drain(FINISH)
    if not panel.wait_idle(max(0.0, until - time.monotonic())):
        _log("Stopped while a panel was still being answered; its finished seats are recorded.")


def _seat_practice(in_pool: bool) -> squad.Squad:
    practice = squad.start(log=_log)
    endpoint = endpoints.Endpoint(name=squad.ENDPOINT, base=practice.base_url, kind="practice", builtin=True)
    roster.seat_builtin(endpoint, [roster.Model(**row) for row in practice.models], in_pool=in_pool)
    return practice


def _listen(port: int, gateway_only: bool) -> Server:
    if not 0 <= port <= 65535:
        raise Problem(400, f"{port} is not a port: ports go from 0, which takes any free one, to 65535")
    host, guard = os.environ.get("BENCH_BIND") or door.LOOPBACK[0], Guard.from_environment(os.environ)
    return Server(
        (host, port),
        Table(routes(gateway_only, guard.door)),
        guard,
        log=_log,
        version=VERSION,
    )


# The page's own addresses, which may be opened, kept and reloaded: each is answered by the one page.
PAGES = (
    "/owed",
    "/panels",
    "/conversations",
    "/models",
    "/collections",
    "/endpoints",
    "/quotas",
    "/usage",
    "/keys",
    "/settings",
)


OWN = ", ".join(f"`{path}`" for path in PAGES)


def routes(gateway_only: bool, who: door.Door | None = None) -> Iterable[Route]:
    """The one table: what the gateway answers, and beside it the dashboard's API and page, and signing in
    through the door `who`."""
    who = who or door.Door()
    if gateway_only:
        root = Route("GET", "/", partial(gateway.root, None), guard="open")
        return (*gateway.ROUTES, *telemetry.routes(who), root)
    page = files(FOLDER / "ui")
    return (
        *gateway.ROUTES,
        *gateway.PAGE_ROUTES,
        *HANDLERS,
        *events.routes(who),
        *access.routes(who),
        *telemetry.routes(who),
        *login.routes(who, files(FOLDER / "ui", "login.html")),
        Route("GET", "/", partial(gateway.root, page), guard="page"),
        *(Route("GET", path, page, guard="page") for path in PAGES),
        Route("GET", "/ui/{file*}", page, guard="page", says=f"the page's own files; it is at `/` and {OWN}"),
    )


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _stop_signals() -> "queue.SimpleQueue[int]":
    """SIGINT and SIGTERM as they come; a second one ends the process at once, unless it comes so soon that it
    is the first again: a terminal's Ctrl-C reaches us, and our launcher, which passes it on.

    A queue and no Event: a handler runs in the main thread between any two steps, and an Event's lock may
    just then be held by that thread's own `wait`; it would wait for itself for ever. SimpleQueue.put is made
    to be reentrant.
    """
    told: queue.SimpleQueue[int] = queue.SimpleQueue()
    asked: list[float] = []

    def on_signal(number: int, frame: object) -> None:
        if asked and time.monotonic() - asked[0] > SAME:
            os._exit(130)
        if not asked:
            asked.append(time.monotonic())
            told.put(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    return told


def _wait(told: "queue.SimpleQueue[int]") -> None:
    """Wait in short steps: the system may give a signal to any thread, and Python runs its handler only when
    this one comes round."""
    while True:
        with contextlib.suppress(queue.Empty):
            told.get(timeout=STEP)
            return


if __name__ == "__main__":
    sys.exit(main())
