"""A scripted provider on loopback, for tests: a real HTTP server that answers as told, well or badly.

    with Provider() as provider:
        provider.script("m", text("hello"), error(429, "slow down", headers={"Retry-After": "7"}))
        target = Target(alias="a", model_id="e:m", endpoint="e", connection="e", served="m", base=...)
        ...
        provider.requests[0].json["messages"]

The idea: an answer is a head and a list of steps; a step is bytes to send, an Event to wait for, or one of
HANG, RESET, CUT. Answers are queued by model name (or by path, "/v1/models"); the last one of a queue is
given for ever; a model without a script answers "ok from <model>". Nothing sleeps: pacing is the test's own
Event.
"""

import contextlib
import gzip
import json
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

HANG = "hang"  # say nothing more until the caller leaves or the provider stops
RESET = "reset"  # TCP reset
CUT = "cut"  # close in an orderly way, without the end of the body
Step = bytes | str | threading.Event

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass(frozen=True)
class Answer:
    """`framing`: chunked | length | close. `split` sends at most that many bytes at a time. With `raw` no
    head is made: the steps are all that goes out (garbage). `whole` is given instead when the request does
    not ask for a stream."""

    steps: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    framing: str = "length"
    gzip: bool = False
    split: int = 0
    raw: bool = False
    whole: "Answer | None" = None


@dataclass
class Received:
    """One request. `gone` is set when its caller was seen to have left before the answer's end."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    gone: threading.Event = field(default_factory=threading.Event)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Scripted = Answer | Callable[[Received], Answer]


# --- what to answer


def frames(*chunks: Any, done: bool = True) -> list[bytes]:
    """Chunks (objects, or bytes that are sent as they are) as event-stream frames."""
    out = [chunk if isinstance(chunk, bytes) else b"data: " + _json(chunk) + b"\n\n" for chunk in chunks]
    return [*out, b"data: [DONE]\n\n"] if done else out


def chunk(delta: Mapping[str, Any], finish: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    """One chat completion chunk; `more` is added to its top level."""
    choice = {"index": index, "delta": dict(delta), "finish_reason": finish}
    return {
        "id": "cc-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
        **more,
    }


def stream(*steps: Any, done: bool = True, **more: Any) -> Answer:
    """A 200 event stream of `steps`: chunk objects, bytes, Events, HANG, RESET or CUT."""
    framed: list[Step] = []
    for step in steps:
        framed += [step] if isinstance(step, bytes | str | threading.Event) else frames(step, done=False)
    if done:
        framed.append(b"data: [DONE]\n\n")
    more.setdefault("framing", "chunked")
    headers = {"Content-Type": "text/event-stream", **more.pop("headers", {})}
    return Answer(steps=framed, headers=headers, **more)


def text(*pieces: str, usage: Mapping[str, Any] | None = USAGE, finish: str = "stop", **more: Any) -> Answer:
    """A well-behaved answer that says `pieces`, streamed or not as the request asks."""
    chunks = [chunk({"role": "assistant", "content": ""}), *(chunk({"content": piece}) for piece in pieces)]
    chunks.append(chunk({}, finish))
    if usage is not None:
        chunks.append({**chunk({}), "choices": [], "usage": dict(usage)})
    message = {"role": "assistant", "content": "".join(pieces)}
    return replace(stream(*chunks, **more), whole=completion(message, finish, usage=usage))


def gated(pieces: Sequence[str], gates: Sequence[threading.Event], **more: Any) -> Answer:
    """A stream whose n-th piece waits for the n-th gate; pieces without a gate follow at once."""
    steps: list[Any] = [chunk({"role": "assistant", "content": ""})]
    for number, piece in enumerate(pieces):
        steps += [*gates[number : number + 1], chunk({"content": piece})]
    return stream(*steps, *gates[len(pieces) :], chunk({}, "stop"), **more)


def completion(message: Mapping[str, Any], finish: str = "stop", **more: Any) -> Answer:
    """A whole JSON answer, as without stream."""
    choice = {"index": 0, "message": dict(message), "finish_reason": finish}
    head = {"id": "cc-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return body({**head, **more})


def body(value: Any, status: int = 200, headers: Mapping[str, str] | None = None, **more: Any) -> Answer:
    """Any JSON value (or bytes as they are) with any status."""
    raw = value if isinstance(value, bytes) else _json(value)
    return Answer(
        [raw],
        status,
        {"Content-Type": "application/json", **(headers or {})},
        **{"framing": "length", **more},
    )


def error(
    status: int, message: str = "no", headers: Mapping[str, str] | None = None, **fields: Any
) -> Answer:
    """An error in OpenAI's shape; `fields` (type, code, param) join the message."""
    return body({"error": {"message": message, **fields}}, status, headers)


def hang() -> Answer:
    """Takes the request and says nothing at all."""
    return Answer([HANG], raw=True)


def reset() -> Answer:
    """Takes the request and resets the connection."""
    return Answer([RESET], raw=True)


def garbage(junk: bytes = b"\x00\x01 this is not HTTP\r\n\r\n") -> Answer:
    return Answer([junk, CUT], raw=True)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


# --- the server


class Provider:
    """The server; a context manager. `base` ends in /v1. `listing` is what GET /v1/models answers."""

    def __init__(self, models: Iterable[str] = ("m",)) -> None:
        self.requests: list[Received] = []
        self.connections = 0
        self.listing: Any = {"object": "list", "data": [{"id": m, "object": "model"} for m in models]}
        self.stopped = threading.Event()
        self._scripts: dict[str, list[Scripted]] = {}
        self._open: list[socket.socket] = []
        self._news = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, name: str, *answers: Scripted) -> None:
        """Replaces the queue of a model (or path); "*" is for whatever has none."""
        with self._news:
            self._scripts[name] = list(answers)

    def of(self, model: str) -> list[Received]:
        """The requests that named `model`, in order."""
        with self._news:
            return [request for request in self.requests if _model(request) == model]

    def wait_for(self, count: int, seconds: float = 10.0) -> list[Received]:
        """Blocks until `count` requests have come."""
        with self._news:
            if not self._news.wait_for(lambda: len(self.requests) >= count, seconds):
                raise AssertionError(f"{len(self.requests)} requests came, not {count}")
            return list(self.requests)

    def stop(self) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        with self._news:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> "Provider":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def received(self, request: Received) -> Answer:
        with self._news:
            self.requests.append(request)
            scripted = self._next(request)
            self._news.notify_all()
        return scripted if isinstance(scripted, Answer) else scripted(request)

    def connected(self, connection: socket.socket) -> int:
        with self._news:
            self.connections += 1
            self._open.append(connection)
            return self.connections

    def closed(self, connection: socket.socket) -> None:
        with self._news:
            self._open.remove(connection)

    def _next(self, request: Received) -> Scripted:
        model, path = _model(request), request.path.partition("?")[0]
        for name in (path, model, "*"):
            queue = self._scripts.get(name)
            if queue:
                return queue.pop(0) if len(queue) > 1 else queue[0]
        if request.method == "GET":
            return body(self.listing) if path.endswith("/models") else error(404, "no such path")
        return text(f"ok from {model}")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 1024
    provider: Provider

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Callers that leave are part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.number = self.server.provider.connected(self.connection)

    def finish(self) -> None:
        self.server.provider.closed(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def answer(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        content = self._chunked() if self.headers.get("Transfer-Encoding") else self.rfile.read(size)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Received(self.command, self.path, headers, content, self.number)
        answer = self.server.provider.received(request)
        if answer.whole and not (_parsed(content).get("stream")):
            answer = answer.whole
        if not self._play(answer, request):
            self.close_connection = True

    do_GET = do_POST = do_HEAD = do_DELETE = answer  # the names http.server looks for

    def _chunked(self) -> bytes:
        out = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            out += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return out

    def _play(self, answer: Answer, request: Received) -> bool:
        """Whether the connection can be used again."""
        try:
            steps = list(answer.steps)
            if not answer.raw:
                if answer.gzip:
                    steps = [gzip.compress(b"".join(step for step in steps if isinstance(step, bytes)))]
                self._send(answer, self._head(answer, steps))
            for step in steps:
                if not self._step(answer, step, request):
                    return False
            if answer.framing == "chunked" and not answer.raw:
                self._send(answer, b"0\r\n\r\n")
        except OSError:
            request.gone.set()
            return False
        return answer.framing != "close" and not answer.raw

    def _step(self, answer: Answer, step: Step, request: Received) -> bool:
        if isinstance(step, threading.Event):
            return self._wait(step, request)
        if step == HANG:
            return self._wait(self.server.provider.stopped, request) and False
        if step == RESET:
            # Linger 0 turns close into a reset; detached, so that socketserver cannot send a FIN first.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            socket.close(self.connection.detach())
            return False
        if step == CUT:
            return False
        assert isinstance(step, bytes)
        if answer.framing == "chunked" and not answer.raw:
            step = b"%x\r\n%b\r\n" % (len(step), step) if step else b""
        self._send(answer, step)
        return True

    def _head(self, answer: Answer, steps: Sequence[Step]) -> bytes:
        headers = dict(answer.headers)
        if answer.gzip:
            headers["Content-Encoding"] = "gzip"
        if answer.framing == "chunked":
            headers["Transfer-Encoding"] = "chunked"
        elif answer.framing == "close":
            headers["Connection"] = "close"
        else:
            headers.setdefault("Content-Length", str(sum(len(s) for s in steps if isinstance(s, bytes))))
        lines = [
            f"HTTP/1.1 {answer.status} Scripted",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _send(self, answer: Answer, piece: bytes) -> None:
        size = answer.split or len(piece) or 1
        for start in range(0, len(piece), size):
            self.wfile.write(piece[start : start + size])

    def _wait(self, gate: threading.Event, request: Received) -> bool:
        """Waits for the gate; False when the caller left or the provider stops first."""
        while not gate.wait(0.02):
            if self.server.provider.stopped.is_set():
                return False
            readable, _, _ = select.select([self.connection], [], [], 0)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                request.gone.set()
                return False
        return True


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _model(request: Received) -> str:
    return str(_parsed(request.body).get("model", ""))
