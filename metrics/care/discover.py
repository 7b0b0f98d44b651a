"""What could be added to the bench: keys in the environment and runtimes that answer on this computer.

Looking costs nothing: of a key only its variable's name is read, and only loopback is asked. Each find
comes with the one command that adds it; nothing is called at a provider before that. Probes run beside each
other in the background, so a status page waits at most WAIT seconds and shows late answers next time.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from metrics.bench import endpoints
from metrics.bench.endpoints import Endpoint
from metrics.client import transport
from metrics.client.quirks import LOCAL, PROVIDERS
from metrics.client.transport import Timeouts
from metrics.records import Problem

WAIT = 0.4  # seconds a caller waits for probes
FRESH = 30.0  # seconds that a look at this computer holds
TIMEOUTS = Timeouts(connect=0.3, first_byte=0.3, idle=0.3, total=0.6)
TITLES = {"ollama": "Ollama", "llama.cpp": "llama.cpp", "lmstudio": "LM Studio", "vllm": "vLLM"}

Probe = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Found:
    """Something that could be added: `what` says how it was found, `command` adds it."""

    name: str
    what: str
    base: str
    command: str


def found(
    env: Mapping[str, str] = os.environ,
    probe: Probe | None = None,
    *,
    own_port: int | None = None,
    now: Callable[[], float] = time.monotonic,
) -> list[dict[str, Any]]:
    """What is not on the bench yet, keys first. `own_port` is ours, which is no runtime."""
    have = list(endpoints.all().values())
    keys = [
        _key(name, have) for name, provider in PROVIDERS.items() if _usable(env, name, provider.host, have)
    ]
    local = {
        name: base
        for name, base in LOCAL.items()
        if not _added(base, have) and urlsplit(base).port != own_port
    }
    up = _LOOK.answering(local, probe or answers, now)
    return [
        asdict(find)
        for find in (*keys, *(_runtime(name, base, have) for name, base in local.items() if name in up))
    ]


def answers(base: str) -> bool:
    """Whether a runtime serves `base`: something there lists models, or is Ollama."""
    root = base.removesuffix("/v1")
    return any(
        _says(url, word) for url, word in ((f"{base}/models", "data"), (f"{root}/api/version", "version"))
    )


def _says(url: str, word: str) -> bool:
    """Whether `url` answers with an object that has `word`, or wants a key, as a runtime started with one
    does."""
    try:
        with transport.shared().open("GET", url, timeouts=TIMEOUTS) as arrival:
            said = json.loads(arrival.read(1 << 20))
            return isinstance(said, dict) and {200: word, 401: "error"}.get(arrival.status, "") in said
    except (Problem, ValueError):
        return False


class _Look:
    """The last look at this computer, and the one that is on its way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._up: dict[str, tuple[float, bool]] = {}  # name -> when it was asked, whether it answered
        self._asking: dict[str, threading.Thread] = {}

    def answering(self, local: Mapping[str, str], probe: Probe, now: Callable[[], float]) -> set[str]:
        """Names that answered lately. Asks again those whose answer is stale, and waits for them together."""
        started = now()
        with self._lock:
            for name, base in local.items():
                asked = self._up.get(name)
                if name not in self._asking and (asked is None or started - asked[0] >= FRESH):
                    thread = threading.Thread(target=self._ask, args=(name, base, probe, now), daemon=True)
                    self._asking[name] = thread
                    thread.start()
            waiting = [self._asking[name] for name in local if name in self._asking]
        for thread in waiting:
            thread.join(max(0.0, started + WAIT - now()))
        return {name for name, (_, up) in self._up.copy().items() if up}

    def _ask(self, name: str, base: str, probe: Probe, now: Callable[[], float]) -> None:
        up = False
        try:
            up = probe(base)
        finally:
            with self._lock:
                self._up[name] = (now(), up)
                del self._asking[name]

    def forget(self) -> None:
        with self._lock:
            self._up.clear()


_LOOK = _Look()


def forget() -> None:
    """Look again at the next call."""
    _LOOK.forget()


def _usable(env: Mapping[str, str], name: str, host: str, have: list[Endpoint]) -> bool:
    return bool(env.get(PROVIDERS[name].env, "").strip()) and all(endpoint.host != host for endpoint in have)


def _key(name: str, have: list[Endpoint]) -> Found:
    provider = PROVIDERS[name]
    free = _free(name, have)
    spoken = "" if provider.api == "chat" else f" --api {provider.api}"
    command = f"bench endpoint add {free} --base {provider.base}{spoken} --key-env {provider.env}"
    return Found(free, f"key in {provider.env}", provider.base, command)


def _runtime(name: str, base: str, have: list[Endpoint]) -> Found:
    free = _free(name.replace(".", "-"), have)
    what = f"{TITLES.get(name, name)} answering on {urlsplit(base).netloc}"
    return Found(free, what, base, f"bench endpoint add {free} --base {base} --kind local")


def _free(name: str, have: list[Endpoint]) -> str:
    """`name`, or the first of name-2, name-3, … that no endpoint has."""
    taken = {endpoint.name for endpoint in have}
    return next(
        free for free in (name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))) if free not in taken
    )


def _added(base: str, have: list[Endpoint]) -> bool:
    """Whether an endpoint already leads to that port of this computer."""
    port = urlsplit(base).port
    return any(_loopback(endpoint.base) and urlsplit(endpoint.base).port == port for endpoint in have)


def _loopback(base: str) -> bool:
    host = urlsplit(base).hostname or ""
    return host in ("localhost", "::1", "0.0.0.0") or host.startswith("127.")
