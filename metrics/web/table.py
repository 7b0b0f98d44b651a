"""What a handler sees of HTTP (`Call`), what it gives back (`Response`), and the table that says which
handler answers.

Exact paths are found in a dict; the few patterns are compiled once and tried in their order. A path that
nobody serves is looked up again in its plain spelling (see `plain`), so a base URL pasted with a slash or a
/v1 too many still works.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

from metrics import compact, longjson
from metrics.bench.keys import Key
from metrics.records import Problem
from metrics.web import roles

Headers = tuple[tuple[str, str], ...]

# {x} is one segment, {x*} the rest with its slashes.
_HOLE = re.compile(r"\{(\w+)(\*?)\}")


class Call:
    """One HTTP request. `headers` has lower-case names; `path` is percent-decoded and has no query; `parts`
    are the pattern's. `gone()` tells whether the caller has hung up, without waiting. `body` is there until
    the call is released; a large one until it is read as JSON without its text. `key` is the
    gateway key of whoever asks, once the guard has seen it; None without keys. `who` is the person at the
    dashboard."""

    __slots__ = (
        "_digest",
        "_json",
        "_query",
        "body",
        "gone",
        "headers",
        "key",
        "method",
        "parts",
        "path",
        "peer",
        "query",
        "raw_path",
        "request_id",
        "who",
    )

    def __init__(
        self,
        method: str,
        target: str,
        headers: dict[str, str] | None = None,
        body: bytes = b"",
        *,
        parts: dict[str, str] | None = None,
        request_id: str = "",
        peer: str = "",
        gone: Callable[[], bool] = lambda: False,
    ) -> None:
        self.method = method
        self.raw_path, _, self.query = target.partition("?")
        plain = "%" not in self.raw_path and self.raw_path.isascii()
        self.path = self.raw_path if plain else decoded(self.raw_path)
        self.headers = {} if headers is None else headers
        self.body = body
        self.parts = {} if parts is None else parts
        self.request_id = request_id
        self.peer = peer
        self.gone = gone
        self.key: Key | None = None
        self.who = roles.LOCAL
        self._digest: int | None = None
        self._json: dict[str, Any] | None = None
        self._query: dict[str, str] | None = None

    def json(self, *, as_written: bool = False) -> dict[str, Any]:
        """The body's JSON object, parsed once, its long lists with their text if wanted. Problem 400 that
        says where it is wrong."""
        if self._json is None:
            self._json = read_object(self.body, as_written=as_written)
            # Formats that make something else of a picture need its room: with its text it is held anyway.
            if not as_written and len(self.body) >= longjson.LARGE:
                self._digest, self.body = self.digest, b""
        return self._json

    @property
    def digest(self) -> int:
        """What tells the body from others (within this process), while the body is there."""
        return hash(self.body) if self._digest is None else self._digest

    def release(self) -> None:
        """Let go of what was read, which may be megabytes, but for the name of what was asked for, which an
        error may say."""
        model = self.json().get("model")
        self._json, self.body = {} if model is None else {"model": model}, b""

    def param(self, name: str, default: str = "") -> str:
        """The first query parameter of that name."""
        if self._query is None:
            self._query = dict(reversed(parse_qsl(self.query, keep_blank_values=True)))
        return self._query.get(name, default)


class Final(bytes):
    """The last piece of a streamed body: what ends the body goes out with it."""


@dataclass(slots=True)
class Response:
    """An iterator as body is sent chunked, each piece at once. An empty first piece sends the head alone, a
    later one only looks whether the caller is still there; nothing follows a Final one. It is closed at its
    end and when the caller hangs up."""

    status: int = 200
    headers: Headers = ()
    body: bytes | Iterator[bytes] = b""


Handler = Callable[[Call], Response]
ErrorWriter = Callable[[Problem, Call | None], Response]


# --- JSON in and out


# To look for circles, which no reply has, takes a third of the time.
_write, _write_escaped = compact.writer(), compact.writer(ascii_only=True)


def read_object(body: bytes, *, as_written: bool = False) -> dict[str, Any]:
    """The JSON object that `body` is; Problem 400 when it is none. A lone surrogate escape is JSON and
    passes."""
    try:
        value = longjson.read(body, as_written=as_written)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Problem(400, f"the body is not JSON: {error.msg} at {where}" if body else EMPTY) from None
    except UnicodeDecodeError as error:
        raise Problem(400, f"the body is not UTF-8: byte {error.start} cannot be read") from None
    except RecursionError:
        raise Problem(400, "the body's JSON is nested too deeply") from None
    except ValueError as error:
        raise Problem(400, f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Problem(400, f"the body must be a JSON object, not {_KINDS.get(type(value), 'a value')}")
    return value


EMPTY = "the body is empty: send a JSON object"
_KINDS = {
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}


def json_bytes(value: object) -> bytes:
    """Compact UTF-8 JSON. NaN and infinities are a ValueError; a lone surrogate, which has no UTF-8, stays
    an escape."""
    try:
        return _write(value).encode()
    except UnicodeEncodeError:
        return _write_escaped(value).encode()


JSON = ("Content-Type", "application/json")


def as_json(value: object, status: int = 200, headers: Headers = ()) -> Response:
    return Response(status, (JSON, *headers), json_bytes(value))


def problem_json(problem: Problem, call: Call | None) -> Response:
    """The default shape of an error, OpenAI's: {"error": {"message", "type", "param", "code"}}."""
    error = {"message": problem.message, "type": problem.kind, "param": problem.param, "code": problem.code}
    return as_json({"error": error}, problem.status, problem_headers(problem))


def problem_headers(problem: Problem) -> Headers:
    """What goes beside an error in any shape: its own headers, Retry-After in whole seconds, and
    x-should-retry: false (OpenAI's and Anthropic's SDKs read it) where a client would otherwise try in
    vain."""
    headers = problem.headers
    if problem.retry_after is not None:
        headers += (("Retry-After", str(max(0, math.ceil(problem.retry_after)))),)
    if not problem.retryable and (problem.status >= 500 or problem.status in (408, 409, 429)):
        headers += (("x-should-retry", "false"),)
    return headers


# --- routes


@dataclass(frozen=True, slots=True)
class Route:
    """Who answers `method` on `pattern`, how errors of it look, and how it is guarded: page | api | gateway
    | login | open. With `query_key` a gateway key may stand in the query, as Gemini's clients send it. `who`
    is the role that may use an api route; an admin may use all. `says` is its row in docs/API.md: what it
    takes and what it gives."""

    method: str
    pattern: str
    handler: Handler
    error: ErrorWriter = problem_json
    guard: str = "api"
    query_key: bool = False
    who: str = roles.ADMIN
    says: str = ""


class Table:
    """All routes of a server. ValueError when two claim the same method and path."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._exact: dict[str, dict[str, Route]] = {}
        self._patterns: list[tuple[re.Pattern[str], dict[str, Route]]] = []
        by_pattern: dict[str, dict[str, Route]] = {}
        for route in routes:
            methods = by_pattern.setdefault(route.pattern, {})
            if route.method in methods:
                raise ValueError(f"two routes for {route.method} {route.pattern}")
            methods[route.method] = route
        for pattern, methods in by_pattern.items():
            if "{" in pattern:
                self._patterns.append((compiled(pattern), methods))
            else:
                self._exact[pattern] = methods

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """The route for a decoded path, and the parts its pattern names. Problem 404, or 405 with Allow."""
        methods = self._exact.get(path)
        if methods is not None and method in methods:
            return methods[method], {}
        matches = self._matches(path) or self._matches(plain(path))
        for methods, parts in matches:
            route = methods.get(method) or (methods.get("GET") if method == "HEAD" else None)
            if route is not None:
                return route, parts
        if not matches:
            raise Problem(
                404, f"nothing is served at {path[:200]}: API clients use the base URL that ends in /v1"
            )
        allow = ", ".join(_methods(matches))
        raise Problem(405, f"{path[:200]} answers {allow}, not {method[:20]}", headers=(("Allow", allow),))

    def methods(self, path: str) -> tuple[str, ...]:
        """What `path` answers to, for Allow and for CORS; empty when it does not exist."""
        matches = self._matches(path) or self._matches(plain(path))
        return _methods(matches) if matches else ()

    def _matches(self, path: str) -> list[tuple[dict[str, Route], dict[str, str]]]:
        exact = self._exact.get(path)
        found = [] if exact is None else [(exact, dict[str, str]())]
        for pattern, methods in self._patterns:
            match = pattern.fullmatch(path)
            if match:
                found.append((methods, match.groupdict()))
        return found


def compiled(pattern: str) -> re.Pattern[str]:
    """The regular expression for "/v1/models/{id*}"; text may stand around a hole within its segment."""
    literals = _HOLE.split(pattern)
    text = re.escape(literals[0])
    for name, star, literal in zip(literals[1::3], literals[2::3], literals[3::3], strict=True):
        text += f"(?P<{name}>{'.+' if star else '[^/]+'}){re.escape(literal)}"
    return re.compile(text, re.DOTALL)


def plain(path: str) -> str:
    """`path` without the slips of a pasted base URL: slashes too many in front or at the end, /v1 twice."""
    path = "/" + path.strip("/")
    while path.startswith("/v1/v1/"):
        path = path[3:]
    return path


def decoded(raw: str) -> str:
    """A percent-encoded path in words; bytes that are not UTF-8 become U+FFFD, which no route has."""
    return unquote_to_bytes(raw.encode("latin-1")).decode("utf-8", "replace")


def _methods(matches: list[tuple[dict[str, Route], dict[str, str]]]) -> tuple[str, ...]:
    served = {method for methods, _ in matches for method in methods}
    return tuple(sorted(served | ({"HEAD"} if "GET" in served else set()) | {"OPTIONS"}))
