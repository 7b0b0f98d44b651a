"""A scripted model behind chat completions, and nothing else: whoever asks in another format needs a gateway.

It plays the plan that the conversation holds (plans.py), streamed or not, and keeps what it was asked. Its
models come in pairs, and of two pairs one misbehaves: whichever is asked first. Of `limited` it is always
asked too much (429); of `dying` whichever is asked for a second turn breaks off in the middle of it.
"""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from scripts.driven.plans import Json, Said, next_turn

MODELS = tuple(f"{name}-{which}" for name in ("plain", "limited", "dying") for which in "ab")
HELD = "held"  # one more, which keeps its callers waiting
WAIT = 1.5  # seconds that it does
PIECE = 7  # characters in a chunk: arguments and words come in several


class Brain:
    """The server; a context manager. `base` ends in /v1; `asked` is every request's body, in order. When it
    is `tame`, no model misbehaves."""

    def __init__(self) -> None:
        self.asked: list[Json] = []
        self.tame = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def first(self, pair: str, number: int) -> str | None:
        """Which of a pair's models was the first to be asked for that turn or a later one."""
        late = (body["model"] for body in self.asked if turn(body) >= number and not self.tame)
        return next((model for model in late if model.startswith(pair)), None)

    def __enter__(self) -> "Brain":
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


def handler(brain: Brain) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            self.whole(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path != "/v1/chat/completions":
                return self.refuse(404, f"this model speaks chat completions only, not {self.path}")
            body = json.loads(raw)
            brain.asked.append(body)
            if body["model"] == brain.first("limited-", 1):
                return self.refuse(429, "too many requests", "1")
            time.sleep(WAIT if body["model"] == HELD else 0)
            said, dies = next_turn(body), turn(body) == 2 and body["model"] == brain.first("dying-", 2)
            if not body.get("stream"):
                return self.close() if dies else self.whole(200, completion(body, said))
            return self.stream(frames(body, said), dies)

        def stream(self, frames: Iterator[Json], dies: bool) -> None:
            """As chunks; one that dies says a little and closes without the end."""
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for number, frame in enumerate(frames):
                self.chunk(b"data: " + json.dumps(frame).encode() + b"\n\n")
                if dies and number == 1:
                    return self.close()
            self.chunk(b"data: [DONE]\n\n")
            self.chunk(b"")
            return None

        def chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

        def close(self) -> None:
            self.close_connection = True

        def refuse(self, status: int, message: str, after: str = "") -> None:
            self.whole(status, {"error": {"message": message, "type": "refused"}}, after)

        def whole(self, status: int, document: Json, after: str = "") -> None:
            data = json.dumps(document).encode()
            self.send_response(status)
            for name, text in (("Content-Type", "application/json"), ("Retry-After", after)):
                if text:
                    self.send_header(name, text)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *said: object) -> None:
            pass

    return Handler


def turn(body: Json) -> int:
    """Which turn of the job this is: one more than the assistant's turns that called tools."""
    return 1 + sum(1 for message in body["messages"] if message.get("tool_calls"))


def usage(body: Json, said: Said) -> Json:
    into, out = len(json.dumps(body["messages"])) // 4, 1 + len(said.text) // 4
    return {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out}


def completion(body: Json, said: Said) -> Json:
    calls = [tool_call(body, index, name, arguments) for index, (name, arguments) in enumerate(said.calls)]
    message: Json = {"role": "assistant", "content": said.text or None}
    message |= {"tool_calls": calls} if calls else {}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {**head(body, "chat.completion"), "choices": [choice], "usage": usage(body, said)}


def frames(body: Json, said: Said) -> Iterator[Json]:
    """The same, piece by piece."""

    def frame(delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**head(body, "chat.completion.chunk"), "choices": [choice]}

    yield frame({"role": "assistant", "content": ""})
    for piece in pieces(said.text):
        yield frame({"content": piece})
    for index, (name, arguments) in enumerate(said.calls):
        whole = tool_call(body, index, name, arguments)
        text = whole["function"]["arguments"]
        yield frame({"tool_calls": [{**whole, "index": index, "function": {"name": name, "arguments": ""}}]})
        for piece in pieces(text):
            yield frame({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield frame({}, "tool_calls" if said.calls else "stop")
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**head(body, "chat.completion.chunk"), "choices": [], "usage": usage(body, said)}


def pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def tool_call(body: Json, index: int, name: str, arguments: Any) -> Json:
    """Ids are the turn's and the call's, so that no two of a conversation are the same."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{turn(body)}_{index}", "type": "function", "function": function}


def head(body: Json, kind: str) -> Json:
    return {"id": f"brain-{turn(body)}", "object": kind, "created": 1, "model": body["model"]}
