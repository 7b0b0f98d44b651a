"""What goes out to a provider of the chat format: the address, and the conversation as bytes.

The idea: a panel sends one conversation to many seats, so it is serialised once and every seat's body is a
list of buffers with that one in the middle. Providers that need it written differently (quirks) share by the
difference: the key of a variant is what must really be altered, which is mostly nothing.
"""

import functools
import re
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import is_
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from metrics import compact, longjson
from metrics.client import call_ids, thoughts
from metrics.client.quirks import Quirks
from metrics.line import Buffer
from metrics.records import EXTENSIONS, Message, Problem, Target
from metrics.values import dataclass

LEADERS = ("system", "developer")
JSON = "application/json"
EVENTS = "text/event-stream, application/json"
CHAT = "/chat/completions"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One HTTP request to a provider. The buffers of `body` may be shared: send them as they are. `changed`
    says in words what of the caller's request was altered for this model."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: Sequence[Buffer]
    changed: tuple[str, ...] = ()


class Variant(NamedTuple):
    """What must be altered in a conversation: nothing is `Variant()`."""

    system: bool = False  # developer becomes system
    gather: bool = False  # all system text goes into one message at the front
    drop: frozenset[str] = frozenset()  # fields of messages
    ids: str = ""  # what ids of calls must look like
    sealed: str = ""  # the model whose seals go back
    thoughts: str = ""  # the model whose thoughts do


UNALTERED = Variant()
_NONE = frozenset[str]()


class Conversation:
    """A request's messages, serialised once and shared by seats. Treats them as read-only; safe between
    threads."""

    def __init__(
        self, messages: Sequence[Message], api: str = "", native: Mapping[str, Any] | None = None
    ) -> None:
        """`native` are the caller's fields of its own API, named `api` as in DIALECTS: for that dialect."""
        self.messages = messages
        self.api = api
        self.native: Mapping[str, Any] = native or {}
        self._lock = threading.Lock()
        self._text = messages.take() if isinstance(messages, longjson.AsWritten) else b""
        self._written: dict[Variant, Buffer] = {}
        self._shared: dict[Hashable, Any] = {}
        roles = [message.get("role") for message in messages]
        later = roles[1:]
        self._developer = "developer" in roles
        self._scattered = "system" in later or "developer" in later
        self._fields = frozenset().union(*messages)
        self._calls = "tool_calls" in self._fields
        self._unfit: dict[str, bool] = {}

    def bytes_for(self, quirks: Quirks, model_id: str = "") -> Buffer:
        """The messages as a JSON array, written as `quirks` want them for that model. Problem(400) when JSON
        cannot hold them."""
        variant = self.variant(quirks, model_id)
        with self._lock:
            written = self._written.get(variant)
            if written is None:
                written = self._written[variant] = self._made(variant)
            return written

    def _made(self, variant: Variant) -> Buffer:
        """The caller's own bytes, where they are known and nothing in them has to be altered; else anew."""
        messages: Sequence[Message] = [_own(message) for message in self.messages]
        if variant != UNALTERED:
            messages = list(self._rewritten(messages, variant))
        elif self._text and all(map(is_, messages, self.messages)):
            return self._text
        return longjson.write(messages, to_json)

    def shared(self, name: Hashable, make: Callable[[], T]) -> T:
        """What `make` makes of this conversation, made once for all seats that ask for `name`."""
        with self._lock:
            self._text = b""  # a large text is not held beside what is made of it
            if name not in self._shared:
                self._shared[name] = make()
            found: T = self._shared[name]
            return found

    def variant(self, quirks: Quirks, model_id: str = "") -> Variant:
        system = self._developer and not quirks.developer
        gather = self._scattered and quirks.system == "first"
        drop = quirks.message_drop & self._fields if quirks.message_drop else _NONE
        if not self._calls:
            return Variant(system, gather, drop) if system or gather or drop else UNALTERED
        return Variant(
            system,
            gather,
            drop,
            ids=quirks.ids if quirks.ids and self._has_unfit(quirks.ids) else "",
            sealed=model_id if quirks.sealed else "",
            thoughts=model_id if quirks.thoughts else "",
        )

    def _has_unfit(self, pattern: str) -> bool:
        if pattern not in self._unfit:
            self._unfit[pattern] = call_ids.unfit(self.messages, pattern)
        return self._unfit[pattern]

    def changes_for(self, quirks: Quirks) -> tuple[str, ...]:
        """What `quirks` alter in this conversation, in words."""
        variant = self.variant(quirks)
        if variant is UNALTERED:
            return ()
        system, gather, drop, *_ = variant
        return (
            *(("developer messages sent as system",) if system else ()),
            *(("system messages joined into one at the front",) if gather else ()),
            *(f"{name} left out of messages (not accepted there)" for name in sorted(drop)),
        )

    def _rewritten(self, messages: Iterable[Message], variant: Variant) -> Iterable[Message]:
        if variant.system:
            messages = [{**m, "role": "system"} if m.get("role") == "developer" else m for m in messages]
        if variant.gather:
            messages = _gathered(list(messages))
        if variant.sealed:  # this and the next by the ids that calls have here
            messages = (call_ids.sealed(message, variant.sealed) for message in messages)
        if variant.thoughts:
            messages = (thoughts.put_back(message, variant.thoughts) for message in messages)
        if variant.ids:
            messages = (call_ids.fitted(message, variant.ids) for message in messages)
        return (_without(message, variant.drop) for message in messages) if variant.drop else messages


def to_json(value: Any) -> bytes:
    """Compact UTF-8 JSON. A lone surrogate (legal in JSON, not in UTF-8) becomes U+FFFD; NaN is a
    Problem(400)."""
    try:
        text = _write(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise Problem(400, f"the request cannot be written as JSON: {error}") from error
    try:
        return text.encode()
    except UnicodeEncodeError:
        # By way of UTF-16, where the halves of a pair that were written apart find each other.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


_write = compact.writer()  # messages came as JSON, so there are no circles to look for


def bare(tools: Any) -> Any:
    """Tools as a provider may see them: without our own marks."""
    return _unmarked(tools) if isinstance(tools, list) and any(map(_marked, tools)) else tools


@functools.lru_cache(maxsize=512)
def address(base: str, path: str, root: str = "/v1") -> str:
    """`path` under a base URL as people write it: with or without /v1, slashes at the end, or the whole chat
    path.

    A bare host gets `root`; a query in the base is kept. Problem(400) when it is not an http(s) URL.
    """
    try:
        parts = urlsplit(base.strip())
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise Problem(
            400, f"the base URL {base!r} must look like https://host/v1", kind="config", retryable=False
        )
    folder = re.sub(r"/{2,}", "/", parts.path).rstrip("/").removesuffix(CHAT).rstrip("/")
    folder = folder.removesuffix("/v1/v1") + "/v1" if folder.endswith("/v1/v1") else folder
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}{folder or root}{path}{query}"


def bearer(target: Target, accept: str = JSON) -> tuple[tuple[str, str], ...]:
    """The headers of a request in JSON, and its key where OpenAI's APIs want it."""
    return keyed(target.key, target.endpoint, accept, "Authorization", "Bearer ")


@functools.lru_cache(maxsize=512)
def keyed(
    key: str | None, endpoint: str, accept: str, name: str, before: str = ""
) -> tuple[tuple[str, str], ...]:
    """The headers of a request in JSON, and the endpoint's key under that name behind the others."""
    plain = (("Content-Type", JSON), ("Accept", accept))
    return (*plain, (name, before + sendable(key, endpoint))) if key else plain


@functools.lru_cache(maxsize=512)
def model(served: str) -> bytes:
    """How the body of a request begins that names its model first."""
    return b'{"model":' + to_json(served)


def sendable(key: str, endpoint: str) -> str:
    """A key as a header can hold it. Problem(400) where none can: a line end would begin another header."""
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise Problem(
            400,
            f"the key of endpoint {endpoint} holds characters that no header can carry; save it again with: "
            f"bench endpoint key {endpoint}",
            kind="auth",
        )
    return key


def _own(message: Message) -> Message:
    """The message without what only other rooms read. The caller's own is left as it is."""
    clean = message if _MARKS.isdisjoint(message) else _stripped(message)
    for name in ("content", "tool_calls"):
        items = clean.get(name)
        if isinstance(items, list) and any(map(_marked, items)):
            clean = {**clean, name: _unmarked(items)}
    return clean


_MARKS = frozenset(EXTENSIONS)


def _marked(item: Any) -> bool:
    return isinstance(item, dict) and not _MARKS.isdisjoint(item)


def _unmarked(items: list[Any]) -> list[Any]:
    return [_stripped(item) if isinstance(item, dict) else item for item in items]


def _stripped(value: Message) -> Message:
    return {key: v for key, v in value.items() if key not in _MARKS}


def _gathered(messages: list[Message]) -> list[Message]:
    """All system text in one message at the front, in order: chat templates refuse a system message after a
    turn."""
    leaders = [message for message in messages if message.get("role") in LEADERS]
    contents = [message["content"] for message in leaders if message.get("content")]
    content: Any
    if all(isinstance(text, str) for text in contents):
        content = "\n\n".join(contents)
    else:
        content = [part for one in contents for part in (one if isinstance(one, list) else [_part(one)])]
    rest = [message for message in messages if message.get("role") not in LEADERS]
    return [{"role": leaders[0]["role"], "content": content}, *rest]


def _part(text: Any) -> Message:
    return {"type": "text", "text": str(text)}


def _without(message: Message, names: frozenset[str]) -> Message:
    """A tool's name is what the message is about, and stays."""
    if message.get("role") in ("tool", "function"):
        names = names - {"name"}
    return {key: value for key, value in message.items() if key not in names}
