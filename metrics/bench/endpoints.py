"""The connections a user added: a name, a base URL and the API spoken there. Keys are in credentials.

The practice squad's endpoint is seated at start and never stored. A name is part of every model's immutable
id.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from metrics.bench import changes, fields
from metrics.bench.shelf import Shelf
from metrics.client.dialects import DIALECTS
from metrics.records import Problem
from metrics.store.files import JsonFile, look_again, once_a_moment

APIS = ("chat", "anthropic", "gemini", "responses", "ollama")
KINDS = ("provider", "aggregator", "hub", "local")

_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9])?(:\d{1,5})?")
# How the address of one call ends, and which it is of, where that is not chat's.
_CALLS = (
    (re.compile(r"(?:/chat)?/completions$"), ""),
    (re.compile(r"/messages(?:/count_tokens)?$"), "anthropic"),
    (re.compile(r"/responses(?:/input_tokens)?$"), "responses"),
    (re.compile(r"/models/[^/]+:[a-zA-Z]+$"), "gemini"),
    (re.compile(r"/api/(?:chat|generate|tags|show|ps|version)$"), "ollama"),
    (re.compile(r"/models$"), ""),
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`profile` is the provider host whose quirks apply ("": the base's own); `default` marks at most one."""

    name: str
    base: str
    api: str = "chat"
    profile: str = ""
    kind: str = "provider"
    default: bool = False
    builtin: bool = False

    @property
    def host(self) -> str:
        """The host whose quirks apply."""
        return self.profile or urlsplit(self.base).hostname or ""


def base_url(field: str, value: Any) -> str:
    """The part of a URL that an API's paths are added to (/chat/completions, /messages, /responses,
    /models/…:generateContent, /api/chat). Private networks are fine: a user names them."""
    text: str = fields.text(2000, empty=False)(field, value)
    try:
        url = urlsplit(text)
        host, _ = url.hostname, url.port
    except ValueError as error:
        raise Problem(400, f'"{field}" is not a URL: {error}', param=field) from error
    refusals = (
        (url.scheme not in ("http", "https"), "must start with http:// or https://"),
        (not host, "names no host; write it like https://api.example.com/v1"),
        ("@" in url.netloc, "must not hold a user or a password; give the key as the key"),
        ("?" in text or "#" in text, "must end before ? and #"),
        (
            any(char.isspace() or char == "\\" or not char.isprintable() for char in text),
            "must not hold spaces",
        ),
        (not text.isascii(), "must be ASCII; write the host in its xn-- form"),
    )
    for refused, sentence in refusals:
        if refused:
            raise Problem(400, f'"{field}" {sentence}', param=field)
    kept = text.rstrip("/")
    for call, spoken in _CALLS:
        if found := call.search(kept):
            shorter = kept[: found.start()]
            hint = f" (of another API than chat completions: --api {spoken})" if spoken else ""
            raise Problem(
                400, f'"{field}" is the address of one call; give its base: {shorter}{hint}', param=field
            )
    return kept


def origin(base: str) -> tuple[str, str, int]:
    """(scheme, host, port): a key saved for one of these is never sent to another."""
    url = urlsplit(base)
    return url.scheme, url.hostname or "", url.port or (443 if url.scheme == "https" else 80)


def api(field: str, value: Any) -> str:
    """One of APIS that this version speaks: a dialect that client/ adds is accepted here without a change."""
    kept: str = fields.one_of(*APIS)(field, value)
    if kept not in DIALECTS:
        spoken = ", ".join(name for name in APIS if name in DIALECTS)
        raise Problem(
            400,
            f'this version speaks {spoken}; "{kept}" is not among them yet. '
            "Most providers also serve chat completions: give that base and leave api out",
            param=field,
        )
    return kept


def profile(field: str, value: Any) -> str:
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not _HOST.fullmatch(value.lower()):
        raise fields.wrong(field, "a host such as api.groq.com", value)
    return value.lower()


FORM: dict[str, fields.Check] = {
    "base": base_url,
    "api": api,
    "profile": profile,
    "kind": fields.one_of(*KINDS),
    "default": fields.flag,
}


def _parse(name: str, raw: Any) -> Endpoint:
    if not isinstance(raw, Mapping):
        raise Problem(400, "must be an object")
    # A dialect that only a later version speaks stays in the file: the call refuses it, not the listing.
    table = {**FORM, "api": fields.one_of(*APIS)}
    known = {field: raw[field] for field in table if raw.get(field) is not None}
    return Endpoint(name=fields.name("name", name), **fields.take(known, table, required=("base",)))


FILE = JsonFile("endpoints.json")
SHELF = Shelf(FILE, _parse)

_builtin: dict[str, Endpoint] = {}  # replaced, never changed, so that readers need no lock


@once_a_moment
def all() -> dict[str, Endpoint]:
    """Every endpoint by name, built-in ones first."""
    return {**_builtin, **{name: one for name, one in SHELF.good().items() if name not in _builtin}}


def real() -> bool:
    """Whether the user has added any."""
    return bool(SHELF.good())


def get(name: str) -> Endpoint:
    found = _builtin.get(name) or SHELF.good().get(name)
    if found:
        return found
    if broken := SHELF.broken(name):
        raise broken
    have = ", ".join(all()) or "none yet; `bench endpoint add NAME --base URL` adds one"
    raise Problem(404, f'there is no endpoint "{name}"; there are: {have}', param="endpoint")


def save(endpoint: Endpoint, by: str) -> Endpoint:
    """Check and keep it, new or changed. Making it the default takes that from the others."""
    kept = checked(endpoint)
    with FILE.edit() as saved:
        found = saved.get(kept.name)
        before = found if isinstance(found, dict) else {}
        if kept.default:
            _no_default(saved)
        saved[kept.name] = {**before, **_stored(kept)}
    changes.differences(by, f"endpoint {kept.name}", before, _stored(kept))
    return kept


def checked(endpoint: Endpoint) -> Endpoint:
    """`endpoint` as it may be saved."""
    name = fields.name("name", endpoint.name)
    if name in _builtin:
        raise Problem(
            400, f'"{name}" is the built-in endpoint of the practice squad; choose another name', param="name"
        )
    return replace(endpoint, name=name, builtin=False, **fields.take(_stored(endpoint), FORM))


def remove(name: str, by: str) -> None:
    """Forget it. What becomes of its models is the roster's question: see roster.remove_endpoint."""
    removable(name)
    with FILE.edit() as saved:
        before = saved.pop(name, None)
    changes.note(by, f"endpoint {name}", "removed", before, None)


def removable(name: str) -> None:
    if name in _builtin:
        raise Problem(400, f'"{name}" is built in and cannot be removed', param="name")
    if name not in SHELF.bad():
        get(name)


def set_default(name: str, by: str) -> Endpoint:
    return save(replace(get(name), default=True), by)


def seat_builtin(endpoint: Endpoint) -> None:
    """The practice squad's address for as long as this process runs."""
    global _builtin
    _builtin = {endpoint.name: replace(endpoint, builtin=True)}
    look_again()


def clear_builtin() -> None:
    global _builtin
    _builtin = {}
    look_again()


def _no_default(saved: dict[str, Any]) -> None:
    for entry in saved.values():
        if isinstance(entry, dict) and entry.get("default"):
            entry["default"] = False


def _stored(endpoint: Endpoint) -> dict[str, Any]:
    kept = asdict(endpoint)
    return {field: kept[field] for field in FORM}
