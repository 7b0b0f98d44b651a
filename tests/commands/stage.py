"""A loopback server that plays what it was told to, and a run of `bench` against it with streams of our own.

Not a test itself: `Stage` answers from a table and keeps what it was sent; `Stage.bench(...)` runs one
command line in this process and gives its exit code and output.
"""

import io
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import cli
from metrics.commands.output import Console

OURS: dict[str, Any] = {"GET /health": {"ok": True, "name": "benchwarmers"}}


class Screen(io.StringIO):
    """Text that is caught; a terminal when it is told to be."""

    def __init__(self, tty: bool = False):
        super().__init__()
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


class Keyboard(io.TextIOWrapper):
    """A stdin with these bytes in it; a terminal when it is told to be."""

    def __init__(self, content: bytes = b"", tty: bool = False):
        super().__init__(io.BytesIO(content), encoding="utf-8")
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@dataclass
class Played:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """stdout as the one JSON document it has to be."""
        return json.loads(self.out)


@dataclass
class Sent:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Reply:
    """One answer. `body`: a dict is JSON; a list of dicts NDJSON, one a line; bytes go as they are."""

    body: dict[str, Any] | list[dict[str, Any]] | bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def encoded(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        rows = self.body if isinstance(self.body, list) else [self.body]
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


class Stage:
    """A context manager; `replies` maps "GET /path" (without query) to a Reply or a dict."""

    def __init__(self, replies: Mapping[str, Reply | dict[str, Any]] | None = None):
        self.replies: dict[str, Reply | dict[str, Any]] = {**OURS, **(replies or {})}
        self.sent: list[Sent] = []

    def __enter__(self) -> "Stage":
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *trouble: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def bench(
        self,
        *argv: str,
        stdin: bytes = b"",
        tty: bool = False,
        env: Mapping[str, str] | None = None,
        program: str = "bench",
    ) -> Played:
        """Runs `bench argv` against this server. `tty` makes all three streams terminals."""
        return bench(
            *argv, stdin=stdin, tty=tty, env={"BENCHWARMERS_URL": self.url, **(env or {})}, program=program
        )

    @property
    def last(self) -> Sent:
        return self.sent[-1]

    def handler(stage) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one send: two would cost 40 ms each (Nagle)

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                heads = {name.lower(): value for name, value in self.headers.items()}
                if self.path != "/health":  # only asked to tell who is there
                    stage.sent.append(
                        Sent(self.command, self.path, heads, json.loads(body) if body else None)
                    )
                missing = Reply({"error": {"message": "no such path", "type": "not_found"}}, 404)
                reply = stage.replies.get(f"{self.command} {self.path.partition('?')[0]}", missing)
                reply = reply if isinstance(reply, Reply) else Reply(reply)
                content = reply.encoded()
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_GET

            def log_message(self, *args: object) -> None:
                pass

        return Handler


def bench(
    *argv: str,
    stdin: bytes = b"",
    tty: bool = False,
    env: Mapping[str, str] | None = None,
    program: str = "bench",
) -> Played:
    """One command line, with no server but the one that `env` names."""
    out, err = Screen(tty), Screen(tty)
    console = Console(program, env or {}, Keyboard(stdin, tty), out, err)
    code = cli.main(argv, program, console)
    return Played(code, out.getvalue(), err.getvalue())
