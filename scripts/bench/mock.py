#!/usr/bin/env python3
"""A provider that answers at once: OpenAI chat completions, streamed or not, and Anthropic's Messages with a
small fixed answer.

    python scripts/bench/mock.py [--port N]       prints its port, and ends when its stdin does

Every reply is made beforehand, but for the models that take their time (stamped.py); a connection has a
thread and keeps it. HTTP is read just well enough for clients that send Content-Length: this is the floor
that the product is measured against, not a server to learn from."""

import json
import socket
import sys
import threading
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path[:1] = [str(Path(__file__).resolve().parent.parent.parent)]

from scripts.bench import stamped

WORDS = ("The ", "quick ", "brown ", "fox ", "jumps ", "over ", "the ", "lazy ", "dog.")
USAGE = {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}
HEAD = {"id": "chatcmpl-mock", "created": 1_700_000_000, "model": "mock", "system_fingerprint": "fp_mock"}
BACKLOG = 1024
KEPT = 4_096  # bytes at each end of a large body, where its options stand


def _json(**fields: object) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()


def _whole() -> bytes:
    message = {"role": "assistant", "content": "".join(WORDS)}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return _reply(_json(object="chat.completion", choices=choices, usage=USAGE, **HEAD))


def _streamed() -> bytes:
    """The same answer as events, a chunk of the coding each, in one piece."""
    deltas = [
        ({"role": "assistant", "content": ""}, None),
        *(({"content": word}, None) for word in WORDS),
        ({}, "stop"),
    ]
    rows = [[{"index": 0, "delta": delta, "finish_reason": finish}] for delta, finish in deltas]
    events = [_json(object="chat.completion.chunk", choices=choices, **HEAD) for choices in rows]
    events.append(_json(object="chat.completion.chunk", choices=[], usage=USAGE, **HEAD))
    lines = [b"data: %b\n\n" % event for event in (*events, b"[DONE]")]
    return stamped.HEAD + b"".join(map(stamped.framed, lines)) + stamped.LAST


def _message() -> bytes:
    """The same answer as Anthropic's Messages have it."""
    usage = {"input_tokens": 12, "output_tokens": 9}
    content = [{"type": "text", "text": "".join(WORDS)}]
    named = {"id": "msg_mock", "type": "message", "role": "assistant", "model": "mock"}
    return _reply(_json(**named, content=content, stop_reason="end_turn", stop_sequence=None, usage=usage))


def _reply(body: bytes, status: bytes = b"200 OK") -> bytes:
    head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(body)) + body


WHOLE, STREAMED, MESSAGE = _whole(), _streamed(), _message()
MODELS = _reply(
    _json(object="list", data=[{"id": f"mock-{seat}", "object": "model"} for seat in range(1, 6)])
)
NO_LENGTH = _reply(_json(error={"message": "send Content-Length"}), b"411 Length Required")


def answer(head: bytes, body: bytes) -> bytes:
    """The reply to one request, of which `head` ends before its blank line."""
    if head.startswith(b"GET"):
        return MODELS
    if stamped.MESSAGES in head:
        return MESSAGE
    return STREAMED if stamped.streamed(body) else WHOLE


def reply(connection: socket.socket, head: bytes, body: bytes) -> None:
    """Answer one request in the manner that its model's name asks for."""
    how = stamped.manner(body)
    if how.delay:
        time.sleep(how.delay)
    if how.count:
        stamped.stream(connection.sendall, how, stamped.MESSAGES in head)
    else:
        connection.sendall(answer(head, body))


def length(head: bytes) -> int | None:
    """The Content-Length of a request; 0 when it has no body, None when it comes in chunks."""
    lower = head.lower()
    at = lower.find(b"\ncontent-length:")
    if at < 0:
        return None if b"\ntransfer-encoding:" in lower else 0
    return int(lower[at + 16 :].split(b"\r", 1)[0])


def converse(connection: socket.socket) -> None:
    """Answer one connection's requests until it ends."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    held = b""
    try:
        while piece := connection.recv(65_536):
            held += piece
            while (end := held.find(b"\r\n\r\n")) >= 0:
                head = held[:end]
                size = length(head)
                if size is None:
                    connection.sendall(NO_LENGTH)
                    return
                body, held = held[end + 4 : end + 4 + size], held[end + 4 + size :]
                tail = swallowed(connection, body, size)
                if tail is None:
                    return
                reply(connection, head, tail)
    except OSError:
        pass
    finally:
        connection.close()


def swallowed(connection: socket.socket, body: bytes, size: int) -> bytes | None:
    """A body of `size` bytes that begins with `body`; of a large one only its two ends. None when it breaks
    off."""
    left = size - len(body)
    begin, end = body[:KEPT], body[KEPT:]
    while left:
        piece = connection.recv(min(left, 65_536))
        if not piece:
            return None
        left -= len(piece)
        room = KEPT - len(begin)
        begin, end = begin + piece[:room], (end + piece[room:])[-KEPT:]
    return begin + end


def serve(listener: socket.socket) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=converse, args=(connection,), daemon=True).start()


def main(argv: list[str]) -> None:
    port = int(argv[argv.index("--port") + 1]) if "--port" in argv else 0
    with socket.create_server(("127.0.0.1", port), backlog=BACKLOG) as listener:
        print(listener.getsockname()[1], flush=True)
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        sys.stdin.read()  # whoever started this closes it, by ending if not otherwise


if __name__ == "__main__":
    main(sys.argv[1:])
