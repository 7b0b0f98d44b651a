"""The squad's own endpoint: an OpenAI-compatible server on loopback, called through the same client as
any provider.

It only routes: players answer, `completions` writes. Nothing here knows what a player does.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from metrics.play.practice import completions
from metrics.play.practice.ask import Ask, Said
from metrics.records import Problem
from metrics.web.guard import Guard
from metrics.web.http import Server
from metrics.web.table import Call, Response, Route, Table, as_json

STEP = 0.5  # seconds between two looks at whether anybody still listens
SSE = (("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-store"))


class Player(Protocol):
    """A player as its server needs it: see squad.Player."""

    @property
    def name(self) -> str: ...
    @property
    def honesty(self) -> str: ...
    def answer(self, ask: Ask) -> Said: ...


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers at `base_url` until `stop()`."""

    base_url: str
    stop: Callable[[], None]


def start(players: Mapping[str, Player], log: Callable[[str], None] = lambda line: None) -> Running:
    """Serve the players on a free loopback port, in threads of this process."""
    stopping = threading.Event()
    server = Server(("127.0.0.1", 0), Table(routes(players, stopping)), Guard(), log=log)
    thread = threading.Thread(target=server.serve_forever, name="practice", daemon=True)
    thread.start()

    def stop() -> None:
        stopping.set()
        server.drain(1.0)
        thread.join(2.0)

    return Running(f"{server.url}/v1", stop)


def routes(players: Mapping[str, Player], stopping: threading.Event) -> tuple[Route, ...]:
    def listing(call: Call) -> Response:
        return as_json({"object": "list", "data": [_entry(player) for player in players.values()]})

    def one(call: Call) -> Response:
        return as_json(_entry(_find(players, call.parts["id"])))

    def chat(call: Call) -> Response:
        ask, form = completions.read(call.json())
        player = _find(players, form.model)
        try:
            said = player.answer(ask)
            ask.digest()
        except RecursionError:
            raise Problem(400, "this request is nested too deeply to read") from None
        wait = _waiting(stopping, call.gone)
        now = int(time.time())
        if form.stream:
            return Response(200, SSE, completions.stream(ask, form, said, now, wait))
        if said.seconds:
            wait(said.seconds)
        return as_json(completions.reply(ask, form, said, now))

    return (
        Route("GET", "/v1/models", listing, guard="gateway"),
        Route("GET", "/v1/models/{id*}", one, guard="gateway"),
        Route("POST", "/v1/chat/completions", chat, guard="gateway"),
    )


def _entry(player: Player) -> dict[str, Any]:
    return {
        "id": player.name,
        "object": "model",
        "created": 0,
        "owned_by": "practice",
        "practice": True,
        "description": player.honesty,
    }


def _find(players: Mapping[str, Player], name: str) -> Player:
    player = players.get(name)
    if player is None:
        known = ", ".join(players)
        raise Problem(
            404,
            f'no player is called "{name[:80]}": there are {known}',
            param="model",
            code="model_not_found",
        )
    return player


def _waiting(stopping: threading.Event, gone: Callable[[], bool]) -> Callable[[float], bool]:
    """A pause that ends early, with False, when the server stops or the caller has hung up."""

    def wait(seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not stopping.is_set() and not gone():
            left = until - time.monotonic()
            if left <= 0:
                return True
            stopping.wait(min(left, STEP))
        return False

    return wait
