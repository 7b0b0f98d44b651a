"""A collector on loopback, for tests: it keeps what it is sent, and answers as told."""

import gzip
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass
class Sent:
    """One body: the path it came to, its headers in lower case, and the bytes, unpacked."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Collector:
    """`with Collector() as collector`. `answers` holds (status, headers, body) for the next requests; without
    one the answer is 200 {}."""

    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)

    def __enter__(self) -> "Collector":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def bodies(self, path: str) -> list[Any]:
        """The documents that came to `path`, in their order."""
        return [each.json for each in list(self.sent) if each.path == path]

    def _handler(collector) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                heads = {name.lower(): value for name, value in self.headers.items()}
                whole = gzip.decompress(raw) if heads.get("content-encoding") == "gzip" else raw
                collector.sent.append(Sent(self.path, heads, whole))
                status, more, body = collector.answers.pop(0) if collector.answers else (200, {}, b"{}")
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **more}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        return Handler
