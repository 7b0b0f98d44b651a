"""The running server as the commands see it: ask for a path, get a document, or a Failure with a next step.

Two doors with two keys: what callers use (/v1, /bench) takes BENCHWARMERS_KEY, what the dashboard uses (/api)
takes BENCHWARMERS_ADMIN_TOKEN. Where the server is: --url, else BENCHWARMERS_URL, else this computer.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from metrics.client import transport
from metrics.commands.failure import Failure, told, usage
from metrics.commands.tables import span
from metrics.records import KINDS, Problem

HERE = "http://127.0.0.1:8122"
HERE_PORT = 8122
LOOPBACK = ("127.0.0.1", "localhost", "::1")
PATIENCE = 900.0  # seconds a command waits for its answer unless BENCHWARMERS_TIMEOUT says otherwise
GLANCE = 2.0  # seconds to find out who is there
LONGEST_LINE = 64 << 20

# The Problem kinds that mean "nobody there" rather than "it refused".
NOBODY = ("unreachable", "garbage")


@dataclass(frozen=True, slots=True)
class Server:
    """`base` has no path and no trailing slash; `patience` is in seconds. `named`: somebody said where the
    server is, so it is not ours to start."""

    base: str
    key: str | None = None
    admin: str | None = None
    patience: float = PATIENCE
    named: bool = False

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """The document at `path`; query values that are None are left out."""
        asked = urlencode({name: value for name, value in query.items() if value is not None})
        return self.call("GET", f"{path}?{asked}" if asked else path)

    def post(self, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        return self.call("POST", path, document)

    def call(self, method: str, path: str, document: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """One request and its JSON object. Raises Failure: no_server, auth, timeout, or what the server
        refused.
        """
        try:
            with closing(self.open(method, path, document)) as arrival:
                body = arrival.read(LONGEST_LINE)
        except Problem as problem:
            raise self.explained(problem) from None
        answer = parsed(body)
        if arrival.status >= 400:
            raise self.refusal(path, arrival.status, arrival.headers, answer)
        if not isinstance(answer, dict) or (path.startswith("/api/") and "ok" not in answer):
            raise self.stranger()
        return answer

    def download(self, path: str) -> Iterator[bytes]:
        """The bytes at `path` as they arrive. Raises Failure when the server refuses, or goes away before the
        end."""
        try:
            with closing(self.open("GET", path, None)) as arrival:
                if arrival.status >= 400:
                    raise self.refusal(path, arrival.status, arrival.headers, parsed(arrival.read()))
                yield from arrival.pieces(None)
        except Problem as problem:
            raise self.explained(problem) from None

    def stream(
        self, path: str, document: Mapping[str, Any], tick: float | None = None
    ) -> Iterator[dict[str, Any] | None]:
        """The objects of an NDJSON reply as they arrive; None after each `tick` quiet seconds."""
        try:
            with closing(self.open("POST", path, document)) as arrival:
                if arrival.status >= 400:
                    raise self.refusal(path, arrival.status, arrival.headers, parsed(arrival.read()))
                for line in lines(arrival.pieces(tick)):
                    yield self.event(line) if line else None
        except Problem as problem:
            raise self.explained(problem) from None

    def open(self, method: str, path: str, document: Mapping[str, Any] | None) -> transport.Arrival:
        body = (
            () if document is None else (json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"),)
        )
        wait = self.patience
        timeouts = transport.Timeouts(connect=min(wait, 10.0), first_byte=wait, idle=wait, total=wait)
        return transport.shared().open(
            method, self.base + path, self.headers(path, bool(body)), body, timeouts=timeouts
        )

    def headers(self, path: str, has_body: bool) -> list[tuple[str, str]]:
        token = self.admin if path.startswith(("/api/", "/logout")) else self.key
        headers = [("Accept", "application/json")]
        headers += [("Content-Type", "application/json")] if has_body else []
        return headers + ([("Authorization", f"Bearer {token}")] if token else [])

    def event(self, line: bytes) -> dict[str, Any]:
        event = parsed(line)
        if not isinstance(event, dict):
            raise self.stranger()
        return event

    def refusal(self, path: str, status: int, headers: Mapping[str, str], answer: Any) -> Failure:
        """An error reply, in either of the server's two shapes, as a Failure."""
        if (status < 500 or answer is None) and self.is_another():
            return self.stranger()
        if not isinstance(answer, dict) or not isinstance(answer.get("error"), dict):
            return (
                self.stranger()
                if status < 500
                else Failure(status, f"the server answered {status} and no reason")
            )
        error = answer["error"]
        kind = str(error.get("kind") or kind_of(status, headers, str(error.get("message"))))
        if kind in ("auth", "forbidden") and not ours(path, status, headers):
            kind = f"upstream_{kind}"
        sentences = [str(one) for one in answer.get("errors") or ()] or [
            str(error.get("message") or f"status {status}")
        ]
        wait = headers.get("retry-after", "")
        hint = str(error.get("hint") or "") or first_command(sentences)
        if wait.isdigit() and not hint:
            hint = f"try again in {span(int(wait))}"
        return Failure(status, "; ".join(sentences), kind=kind, hint=hint)

    def is_another(self) -> bool:
        """Whether another program answers there, whose words must not be taken for ours."""
        try:
            with closing(replace(self, key=None, patience=GLANCE).open("GET", "/health", None)) as arrival:
                said = parsed(arrival.read(LONGEST_LINE))
        except Problem:
            return False
        return not (isinstance(said, dict) and said.get("name") == "benchwarmers")

    def explained(self, problem: Problem) -> Failure:
        """What happened on the way to the server."""
        if isinstance(problem, Failure):
            return problem
        if problem.kind in NOBODY:
            return self.nobody()
        if problem.kind == "cut":
            message = f"the server at {self.base} went away in the middle of its answer"
            return Failure(502, message, kind="cut")
        if problem.kind == "timeout":
            message = f"the server at {self.base} did not answer within {span(self.patience)}"
            hint = "allow more with BENCHWARMERS_TIMEOUT (seconds), or ask with a --deadline"
            return Failure(504, message, kind="timeout", hint=hint)
        return told(problem)

    def nobody(self) -> Failure:
        hint = (
            f"start one: {self.starter}"
            if self.local
            else "check --url or BENCHWARMERS_URL, or start the server there"
        )
        return Failure(503, f"no server answers at {self.base}", kind="no_server", hint=hint)

    def stranger(self) -> Failure:
        message = f"there is no Benchwarmers at {self.base}: another program answers there"
        hint = f"check --url or BENCHWARMERS_URL; a server is started by: {self.starter}"
        return Failure(502, message, kind="no_server", hint=hint)

    @property
    def local(self) -> bool:
        return urlsplit(self.base).hostname in LOOPBACK

    @property
    def starter(self) -> str:
        """The command that starts a server where this one is looked for."""
        port = urlsplit(self.base).port or HERE_PORT
        return "bench serve" if port == HERE_PORT else f"bench serve --port {port}"


def server(url: str | None, env: Mapping[str, str]) -> Server:
    """The server that the command line and the environment name. Raises Failure "usage" on a wrong one."""
    base = (url or env.get("BENCHWARMERS_URL") or HERE).rstrip("/").removesuffix("/v1")
    try:
        parts = urlsplit(base)
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) and not parts.query
    except ValueError:
        good = False
    if not good:
        raise usage(f"{base!r} is not a server's address", f"give one such as --url {HERE}")
    return Server(
        base,
        env.get("BENCHWARMERS_KEY") or None,
        env.get("BENCHWARMERS_ADMIN_TOKEN") or None,
        patience(env),
        named=bool(url or env.get("BENCHWARMERS_URL")),
    )


def patience(env: Mapping[str, str]) -> float:
    text = env.get("BENCHWARMERS_TIMEOUT") or str(PATIENCE)
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1e6:
        raise usage(
            f"BENCHWARMERS_TIMEOUT={text} is not a number of seconds",
            f"set it to one, such as {PATIENCE:.0f}",
        )
    return value


def ours(path: str, status: int, headers: Mapping[str, str]) -> bool:
    """Whether a refusal of rights is this server's own. A provider's arrives as well: as the kind of a 400,
    or as the 401 of a panel whose every member was refused; only our own door names its scheme then."""
    own = path.startswith(("/api/", "/login"))
    return status == 403 or (status == 401 and (own or "www-authenticate" in headers))


def kind_of(status: int, headers: Mapping[str, str], message: str) -> str:
    """The kind of an error in OpenAI's shape, which names none. A file of the bench that does not parse is a
    503 like an overload, but one that sending it again does not mend."""
    if status == 503 and headers.get("x-should-retry") == "false" and ".json" in message:
        return "config"
    return KINDS.get(status, "error")


def first_command(sentences: Iterable[str]) -> str:
    """The command that a message names (`bench …` in backticks): what it says to do next."""
    found = re.search(r"`(bench [^`]+)`", " ".join(sentences))
    return found[1] if found else ""


def lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The lines in `pieces`, however they were cut; b"" for a quiet tick (an empty piece). Empty lines are
    left out.
    """
    held: list[bytes] = []
    for piece in pieces:
        if not piece:
            yield b""
        first, *rest = piece.split(b"\n")
        held.append(first)
        for line in rest:
            whole = b"".join(held).strip()
            held = [line]
            if whole:
                yield whole
    last = b"".join(held).strip()
    if last:
        yield last


def parsed(body: bytes) -> Any:
    """`body` as JSON; None when it is none."""
    try:
        return json.loads(body)
    except ValueError:
        return None
