#!/usr/bin/env python3
"""A provider that says what models say, at the pace of a fast one: Markdown with paragraphs, lists, code and
a table, a token each ten milliseconds. For whoever looks at how a page is written.

    python scripts/bench/voices.py        prints its port, and ends when its stdin does

It speaks streamed chat completions and lists its models; every model says the same."""

import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PACE = 0.010  # s a token
TOKENS = 1_000
PART = """## What the retry does, part {n}

The loop in `fetch.py` builds a new key for each try, so the server **cannot** tell a second try from a new
upload. That is harmless while it hashes the body, and costs a duplicate when it does not. Two things follow,
and the second is the one that I would look at first.

1. Build the key once, before line 81, and pass it on.
2. Set `sent` after the write has returned; a torn write is then sent again.
   - It is one line, and a test for it needs no network.
   - The 409 branch is the success case of a resume.

```python
def upload(parts, key=None):
    key = key or new_key()
    for number, part in enumerate(parts):
        for attempt in range(TRIES):
            if send(part, key=f"{{key}}-{{number}}"):
                break
        else:
            raise Gone(f"part {{number}} was not taken")
    return key
```

| case | first try | second try |
|---|---|---|
| whole | sent | not needed |
| torn | lost at 94 | sent twice |

"""


def tokens(count: int = TOKENS) -> list[str]:
    """The first `count` tokens of it, pieces of a word's length."""
    found: list[str] = []
    part = 1
    while len(found) < count:
        found += re.findall(r"\s*\S{1,6}", PART.format(n=part))
        found.append("\n\n")
        part += 1
    return found[:count]


def events(said: list[str]) -> Iterator[bytes]:
    """The stream, an event each."""
    head = {
        "id": "chatcmpl-voice",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "voice",
    }
    usage = {"prompt_tokens": 12, "completion_tokens": len(said), "total_tokens": 12 + len(said)}
    for word in said:
        yield _event(head | {"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]})
    yield _event(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield _event(head | {"choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _event(fields: object) -> bytes:
    return b"data: %b\n\n" % json.dumps(fields).encode()


def say(
    write: Callable[[bytes], object],
    said: list[str],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Write the stream at its pace. Times count from the beginning: a late token makes no other one late."""
    begun = clock()
    for number, event in enumerate(events(said)):
        sleep(max(0.0, begun + number * PACE - clock()))
        write(event)


class Voice(BaseHTTPRequestHandler):
    """A connection a question."""

    def do_GET(self) -> None:
        self._begin("application/json")
        self.wfile.write(
            json.dumps({"object": "list", "data": [{"id": "voice-1", "object": "model"}]}).encode()
        )

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._begin("text/event-stream")
        try:
            say(self.wfile.write, tokens())
        except OSError:  # whoever asked has left
            return

    def _begin(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Say nothing: the one line that is waited for is the port."""


def main() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Voice) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    main()
