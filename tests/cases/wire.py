"""A caller on a bare socket: it sends what a case says, wrong framing included, and reads the replies.

An item of `raw` is text (`$LEN` is the length of the next text), {hex}, {chunked_body, sizes, extension,
trailer}, {chunk_size, times} (until an answer comes), or {wait_for, within_ms} (an interim status).
"""

import gzip
import json
import select
import socket
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 20.0  # seconds a whole exchange may take
BOMB = 200  # MB that the bomb inflates to
REST = 0.3  # seconds in which bytes that should not be there would come
GOODBYE = 5.0  # seconds in which a connection that should end has ended


@dataclass
class Reply:
    """A reply; header names in lower case. `cut`: it ended before its length or last chunk."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    cut: bool = False
    seconds: float = 0.0

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def streamed(self) -> bool:
        kind = self.headers.get("content-type", "")
        return "event-stream" in kind or "ndjson" in kind

    def json(self) -> Any:
        """The body as JSON, of an event stream its first event; None when it is none."""
        text = self.text
        if "event-stream" in self.headers.get("content-type", ""):
            text = next((line[5:] for line in text.splitlines() if line.startswith("data:")), "")
        try:
            return json.loads(text)
        except ValueError:
            return None


class Connection:
    """A socket to our server, and what has come on it and is not read yet."""

    def __init__(self, port: int, patience: float = PATIENCE) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self.until = time.monotonic() + patience
        self.held = b""
        self.ended = False

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.settimeout(5)
        self.socket.sendall(data)

    def more(self) -> bool:
        """Whether more came, before the end of the connection or of our patience."""
        left = self.until - time.monotonic()
        if self.ended or left <= 0:
            return False
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(1 << 16)
        except TimeoutError:
            return False
        except OSError:
            data = b""
        self.ended = not data
        self.held += data
        return bool(data)

    def reply(self, method: str) -> Reply | None:
        """The next reply that is not an interim one; None when there is none."""
        reply = self._reply(method)
        while reply and reply.status == 100:
            reply = self._reply(method)
        return reply

    def _reply(self, method: str) -> Reply | None:
        while b"\r\n\r\n" not in self.held and self.more():
            pass
        head, end, rest = self.held.partition(b"\r\n\r\n")
        if not end or not head.startswith(b"HTTP/"):
            return None
        self.held = rest
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        reply = Reply(int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs})
        if method != "HEAD" and reply.status not in (100, 204, 304):
            self._body(reply)
        return reply

    def _body(self, reply: Reply) -> None:
        if "chunked" in reply.headers.get("transfer-encoding", ""):
            while size := int(self._line() or b"0", 16):
                self._take(reply, size)
                self._line()
            self._line()
        elif "content-length" in reply.headers:
            self._take(reply, int(reply.headers["content-length"]))
        else:
            while self.more():
                pass
            self._take(reply, len(self.held))

    def _take(self, reply: Reply, size: int) -> None:
        while len(self.held) < size and self.more():
            pass
        reply.body += self.held[:size]
        reply.cut = reply.cut or len(self.held) < size
        self.held = self.held[size:]

    def _line(self) -> bytes:
        while b"\r\n" not in self.held and self.more():
            pass
        line, _, self.held = self.held.partition(b"\r\n")
        return line


# --- one request


def exchange(port: int, request: Mapping[str, Any]) -> Reply | None:
    began = time.monotonic()
    with Connection(port) as connection:
        connection.send(_written(request, port))
        reply = connection.reply(request["method"])
    if reply:
        reply.seconds = time.monotonic() - began
    return reply


def _written(request: Mapping[str, Any], port: int) -> bytes:
    body = _body(request)
    headers = {"Host": f"127.0.0.1:{port}", **request.get("headers", {})}
    if body is not None:
        headers["Content-Length"] = str(len(body))
    lines = [f"{name}: {value}" for name, value in headers.items() if value is not None]
    head = "\r\n".join([f"{request['method']} {request['path']} HTTP/1.1", *lines])
    return (head + "\r\n\r\n").encode("latin-1", "replace") + (body or b"")


def _body(request: Mapping[str, Any]) -> bytes | None:
    if "send_hex" in request:
        return bytes.fromhex(request["send_hex"])
    if "send_repeat" in request:
        text, times = request["send_repeat"]
        return str(text).encode() * int(times)
    body = request.get("body")
    if body is None:
        return b"" if request["method"] in ("POST", "PUT", "PATCH") else None
    written = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return encoded(written, request.get("encode", "identity"))


def encoded(data: bytes, how: str) -> bytes:
    """`data` in a content coding, or in what pretends to be one."""
    match how:
        case "gzip":
            return gzip.compress(data)
        case "gzip-truncated":
            return gzip.compress(data)[:-12]
        case "gzip-bomb":
            packer = zlib.compressobj(9, wbits=31)
            return b"".join(packer.compress(b" " * 1_000_000) for _ in range(BOMB)) + packer.flush()
        case "deflate":
            return zlib.compress(data)
        case "zstd":  # a frame with one block as it is: valid, only not smaller
            block = (len(data) << 3 | 1).to_bytes(3, "little")
            return b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + block + data
        case _:
            return data


# --- bytes on one connection


@dataclass
class Heard:
    """What came back on a socket: the replies, the bytes after them, and what went wrong on our side."""

    replies: list[Reply | None]
    rest: bytes
    ended: bool
    problems: list[str] = field(default_factory=list)


def spoken(port: int, items: Sequence[Any], methods: Sequence[str], closed: bool = False) -> Heard:
    """Write `items`, then read a reply for each of `methods`, and, if it should be `closed`, the end."""
    with Connection(port) as connection:
        problems: list[str] = []
        for at, item in enumerate(items):
            following = next((later for later in items[at + 1 :] if isinstance(later, str)), "")
            try:
                problems += _say(connection, item, following)
            except OSError:
                break  # refused early; what it said can still be read
        replies = [connection.reply(method) for method in methods]
        connection.until = min(connection.until, time.monotonic() + (GOODBYE if closed else REST))
        while connection.more():
            pass
        return Heard(replies, connection.held, connection.ended, problems)


def _say(connection: Connection, item: Any, following: str) -> list[str]:
    if isinstance(item, str):
        connection.send(item.replace("$LEN", str(len(following.encode()))).encode())
    elif "hex" in item:
        connection.send(bytes.fromhex(item["hex"]))
    elif "chunked_body" in item:
        connection.send(_chunked(item))
    elif "chunk_size" in item:
        piece = b"%x\r\n%b\r\n" % (item["chunk_size"], b" " * item["chunk_size"])
        for _ in range(item["times"]):
            if select.select([connection.socket], [], [], 0)[0]:
                return []
            connection.send(piece)
        connection.send(b"0\r\n\r\n")
    else:
        return _await(connection, f"HTTP/1.1 {item['wait_for']}", item.get("within_ms", 1000))
    return []


def _chunked(item: Mapping[str, Any]) -> bytes:
    data, out = item["chunked_body"].encode(), b""
    for size in (*item["sizes"], len(data)):
        piece, data = data[:size], data[size:]
        if piece:
            out += b"%x%b\r\n%b\r\n" % (len(piece), item.get("extension", "").encode(), piece)
    trailer = item.get("trailer")
    return out + b"0\r\n" + (f"{trailer}\r\n" if trailer else "").encode() + b"\r\n"


def _await(connection: Connection, line: str, milliseconds: int) -> list[str]:
    patience, connection.until = connection.until, time.monotonic() + milliseconds / 1000
    while b"\r\n\r\n" not in connection.held and connection.more():
        pass
    connection.until = patience
    return [] if line.encode() in connection.held else [f"no {line} within {milliseconds} ms"]
