#!/usr/bin/env python3
"""A closed loop of requests over keep-alive connections: what a server can do, and how long each request
took.

    python scripts/bench/load.py       reads a Job as JSON from stdin, prints what `drive` counted as JSON

One thread and one selector carry all connections; with one connection there is no selector either, so that
its latency is the socket's own. Loopback only, and bounded: a job ends after its seconds, its requests, or 30
s without an answer."""

import json
import selectors
import socket
import sys
import time
from dataclasses import asdict, dataclass

QUIET = 30.0
MOST_CONNECTIONS = 512
MOST_SECONDS = 120.0
NUMBERED = "caller-0000"  # in a body: becomes the connection's own number


@dataclass(frozen=True, slots=True)
class Job:
    """`connections` at once for `seconds`, after `warm` seconds that do not count, or until `most` replies
    came (0: however many). A reply is right when it is a 200 whose body holds `mark`. `chunks`: a stream of
    so many stamped chunks, which streams.py counts."""

    port: int
    path: str
    body: str
    connections: int = 1
    seconds: float = 1.0
    warm: float = 0.2
    mark: str = "lazy dog."
    most: int = 0
    chunks: int = 0
    key: str = ""

    def request(self, number: int = 0) -> bytes:
        """What the connection `number` sends."""
        body = self.body.replace(NUMBERED, f"caller-{number:04}").encode()
        key = f"Authorization: Bearer {self.key}\r\n" if self.key else ""
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
            f"{key}Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


class Caller:
    """One connection with one request under way."""

    def __init__(self, job: Job, number: int = 0) -> None:
        self.mark = job.mark.encode()
        self.message = job.request(number)
        self.sock = socket.create_connection(("127.0.0.1", job.port), timeout=QUIET)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.got = b""
        self.begun = 0.0

    def ask(self) -> None:
        self.got = b""
        self.begun = time.perf_counter()
        self.sock.sendall(self.message)

    def take(self) -> bool | None:
        """Receive once. None: there is more to come; else whether the reply was right."""
        piece = self.sock.recv(262_144)
        if not piece:
            raise ConnectionError("closed before the reply was whole")
        self.got = self.got + piece if self.got else piece
        if not whole(self.got):
            return None
        return self.got.startswith((b"HTTP/1.1 200", b"HTTP/1.0 200")) and self.mark in self.got


def whole(got: bytes) -> bool:
    """Whether a reply has come in full, by its length or by the end of its chunks."""
    end = got.find(b"\r\n\r\n")
    if end < 0:
        return False
    head = got[:end].lower()
    at = head.find(b"\ncontent-length:")
    if at >= 0:
        return len(got) >= end + 4 + int(head[at + 16 :].split(b"\r", 1)[0])
    return got.endswith(b"\r\n0\r\n\r\n")


def drive(job: Job) -> dict[str, float]:
    """{"ok", "errors", "seconds", "rate", "p50_ms", "p99_ms", "mean_ms"}; times are those of right
    replies."""
    bounded(job)
    callers = [Caller(job, number) for number in range(job.connections)]
    try:
        counting = time.perf_counter() + job.warm
        until = counting + job.seconds
        took, errors = (_one if len(callers) == 1 else _many)(callers, counting, until, job.most)
        return summary(took, errors, time.perf_counter() - counting)
    finally:
        for caller in callers:
            caller.sock.close()


def bounded(job: Job) -> None:
    if job.connections > MOST_CONNECTIONS or job.seconds > MOST_SECONDS:
        raise ValueError("that is more than this load generator gives")


def summary(took: list[float], errors: int, seconds: float) -> dict[str, float]:
    took = sorted(took)
    ranks = {"p50_ms": 0.5, "p99_ms": 0.99}
    times = {name: took[int(len(took) * rank)] * 1e3 if took else 0.0 for name, rank in ranks.items()}
    mean = sum(took) / len(took) * 1e3 if took else 0.0
    return {
        "ok": len(took),
        "errors": errors,
        "seconds": seconds,
        "rate": len(took) / seconds,
        "mean_ms": mean,
        **times,
    }


def _one(callers: list[Caller], counting: float, until: float, most: int) -> tuple[list[float], int]:
    caller, errors = callers[0], 0
    took: list[float] = []
    while True:
        try:
            caller.ask()
            while (right := caller.take()) is None:
                pass
        except OSError:
            return took, errors + 1
        now = time.perf_counter()
        if now >= until:
            return took, errors
        if caller.begun >= counting:
            if right:
                took.append(now - caller.begun)
            else:
                errors += 1
            if len(took) + errors == most:
                return took, errors


def _many(callers: list[Caller], counting: float, until: float, most: int) -> tuple[list[float], int]:
    took: list[float] = []
    errors = 0
    with selectors.DefaultSelector() as ready:
        for caller in callers:
            ready.register(caller.sock, selectors.EVENT_READ, caller)
            caller.ask()
        while (now := time.perf_counter()) < until and ready.get_map():
            events = ready.select(QUIET)
            if not events:
                return took, errors + len(ready.get_map())
            for key, _ in events:
                caller = key.data
                try:
                    right = caller.take()
                    if right is None:
                        continue
                    now = time.perf_counter()
                    if now >= counting and right:
                        took.append(now - caller.begun)
                    errors += not right
                    if most and len(took) + errors >= most:
                        return took, errors
                    caller.ask()
                except OSError:
                    errors += 1
                    ready.unregister(caller.sock)
    return took, errors


def main() -> None:
    job = Job(**json.load(sys.stdin))
    print(json.dumps({"job": asdict(job) | {"body": len(job.body)}, **drive(job)}))


if __name__ == "__main__":
    main()
