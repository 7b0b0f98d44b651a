"""/api/endpoints: list, add, test and remove connections.

An endpoint is saved when its list of models could be read, or when it keeps none. A second list without the
key tells whether the first one checked it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlsplit

from metrics.bench import credentials, endpoints, fields, moves, roster
from metrics.bench.catalog import kept
from metrics.bench.endpoints import Endpoint
from metrics.client import transport
from metrics.client.dialects import DIALECTS
from metrics.client.quirks import LOCAL, PROVIDERS
from metrics.client.transport import Arrival, Timeouts
from metrics.dashboard import frame
from metrics.records import Problem
from metrics.web.table import Call, Response

SHOWN = 500  # models of a listing in a reply
NO_LIST = (404, 405, 501)  # statuses of a provider that keeps no list
DROPPED = (
    "the saved key was given for another address and is dropped; `bench endpoint key` saves one for this"
)
TIMEOUTS = Timeouts(connect=5.0, first_byte=15.0, idle=10.0, total=30.0)

FORM: dict[str, fields.Check] = {
    "name": fields.name,
    **endpoints.FORM,
    "key": credentials.secret,
    "test": fields.flag,
}
NAMED = {"name": fields.line(100)}

Lister = Callable[[str | None], Sequence[Mapping[str, Any]]]


def show(call: Call) -> Response:
    rows = [shown(endpoint) for endpoint in endpoints.all().values()]
    known = [
        {"name": name, "base": provider.base, "api": provider.api, "variable": provider.env}
        for name, provider in PROVIDERS.items()
    ]
    spoken = [api for api in endpoints.APIS if api in DIALECTS]
    problems = list(endpoints.SHELF.bad().values())
    return frame.ok(endpoints=rows, providers=known, apis=spoken, problems=problems)


def shown(endpoint: Endpoint) -> dict[str, Any]:
    """An endpoint as /api lists it; of its key only where it is and how it ends."""
    source = None if endpoint.builtin else credentials.source(endpoint.name)
    hint = credentials.hint(endpoint.name) if source else None
    models = sum(model.endpoint == endpoint.name for model in roster.all().values())
    return {
        **asdict(endpoint),
        "key": {"set": bool(source), "source": source, "hint": hint},
        "models": models,
    }


def save(call: Call) -> Response:
    """Add an endpoint, or change the given fields of one. A saved key does not move to another address."""
    given = {field: value for field, value in call.json().items() if value is not None}
    form = fields.take(given, FORM, required=("name",))
    key, test = form.pop("key", None), form.pop("test", True)
    before = endpoints.all().get(form["name"])
    wanted = endpoints.checked(_merged(form, before))
    if before:
        moves.same_provider(before, wanted)
    moved = before is None or endpoints.origin(before.base) != endpoints.origin(wanted.base)
    dropped = moved and key is None and credentials.stored(wanted.name)
    if dropped:
        key = ""
    listing = _untested()
    if test:
        api = "" if wanted.api == "chat" else f" --api {wanted.api}"
        said = f"{wanted.name} --base {wanted.base}{api}"
        anyway = f"; `bench endpoint add {said} --no-test`, with what else you gave, saves it anyway"
        listing = listed(wanted, _key_after(wanted.name, key), otherwise=anyway)
    if moved:
        # First: no call may find the new address with the old key.
        credentials.remove(wanted.name, frame.by(call))
    endpoints.save(wanted, frame.by(call))
    if key is not None:
        credentials.save(wanted.name, key, frame.by(call))
    notes = [listing["note"], _moved_note(before, wanted) if moved else "", DROPPED if dropped else ""]
    listing["note"] = "; ".join(filter(None, notes))
    return frame.ok(
        endpoint=shown(endpoints.get(wanted.name)),
        listing=listing,
        key_dropped=dropped,
        **_change(before, wanted),
    )


def test(call: Call) -> Response:
    endpoint = _named(call)
    return frame.ok(listing=listed(endpoint, _key_after(endpoint.name, None)))


def key(call: Call) -> Response:
    """Replace the key; an empty one removes it."""
    form = fields.take(call.json(), {**NAMED, "key": credentials.secret}, required=("name", "key"))
    endpoint = endpoints.get(form["name"])
    if endpoint.builtin:
        raise Problem(400, f'"{endpoint.name}" is built in and takes no key', param="name")
    credentials.save(endpoint.name, form["key"], frame.by(call))
    return frame.ok(endpoint=shown(endpoint))


def default(call: Call) -> Response:
    return frame.ok(endpoint=shown(endpoints.set_default(_named(call).name, frame.by(call))))


def remove(call: Call) -> Response:
    form = fields.take(call.json(), {**NAMED, "with_models": fields.flag}, required=("name",))
    retired = moves.remove_endpoint(form["name"], form.get("with_models", False), frame.by(call))
    kept.forget_listing(form["name"])
    return frame.ok(removed=form["name"], retired=retired)


def listed(
    endpoint: Endpoint, key: str | None, lister: Lister | None = None, *, otherwise: str = ""
) -> dict[str, Any]:
    """{"ok", "models": ids, "total", "note"}: what the endpoint says it serves.

    Problem when there is no saying that it works: it cannot be reached, refuses the key, or answers something
    else. `otherwise` ends its message: what can be done all the same.
    """
    ask = lister or _lister(endpoint)
    try:
        found = ask(key)
    except Problem as problem:
        if problem.status in NO_LIST:
            note = (
                f"it keeps no list of models (HTTP {problem.status}), so neither address nor key is checked; "
                f"`bench model add ALIAS --endpoint {endpoint.name} --served ID` names a model"
            )
            return {"ok": False, "models": [], "total": 0, "note": note}
        raise _unusable(endpoint, key, problem, otherwise) from problem
    kept.keep_listing(endpoint, found, time.time())
    ids = [str(model["served"]) for model in found]
    note = _key_note(key, ask) if key else "" if ids else "its list is empty"
    return {"ok": True, "models": ids[:SHOWN], "total": len(ids), "note": note}


def _key_note(key: str, ask: Lister) -> str:
    """Whether the list that came with the key checked it: not if it comes without a key too."""
    try:
        ask(None)
    except Problem as problem:
        return "the key was checked" if problem.status in (401, 403) or problem.kind == "auth" else ""
    return "the list is open to everybody, so the key is not checked yet: the first call will tell"


def _unusable(endpoint: Endpoint, key: str | None, problem: Problem, otherwise: str) -> Problem:
    """The refusal of an endpoint whose list cannot be read, with what to do about it."""
    host = urlsplit(endpoint.base).netloc
    if problem.status in (401, 403) or problem.kind == "auth":
        does = f"refuses this key (HTTP {problem.status}): check it" if key else "wants a key: give one"
        return Problem(400, f"{host} {does}{otherwise}", kind="auth", param="key")
    why = problem.message.rstrip(".")
    return Problem(
        502, f"the models of {host} cannot be listed: {why}{otherwise}", kind=problem.kind, param="base"
    )


def _lister(endpoint: Endpoint) -> Lister:
    dialect = DIALECTS.get(endpoint.api)
    if dialect is None:
        raise Problem(400, f'this version does not speak "{endpoint.api}" yet', param="api")
    list_models: Callable[..., list[dict[str, Any]]] = dialect.list_models
    return lambda key: list_models(_Brief(), endpoint.base, key, endpoint.profile)


class _Brief:
    """The shared transport, less patient: somebody waits at a form."""

    def open(self, method: str, url: str, headers: Sequence[tuple[str, str]] = ()) -> Arrival:
        return transport.shared().open(method, url, headers, timeouts=TIMEOUTS)


def _change(before: Endpoint | None, after: Endpoint) -> dict[str, Any]:
    """{"change": "new" | "changed" | "same", "was": the former value of each field that differs}."""
    if before is None:
        return {"change": "new", "was": {}}
    old, new = asdict(before), asdict(after)
    was = {field: value for field, value in old.items() if value != new[field]}
    return {"change": "changed" if was else "same", "was": was}


def _moved_note(before: Endpoint | None, after: Endpoint) -> str:
    """What whoever leads an endpoint to another address should know."""
    sent = credentials.source(after.name) == "env"
    env = f"; the key in {credentials.variable(after.name)} is sent there now" if sent else ""
    return f"it led to {before.base} before{env}" if before else ""


def _merged(form: Mapping[str, Any], saved: Endpoint | None) -> Endpoint:
    """The endpoint after this edit: what is not given stays as it is saved, or is what it usually is."""
    if saved is None and "base" not in form:
        raise Problem(
            400, '"base" is missing: the URL of its API, such as https://api.example.com/v1', param="base"
        )
    usual = saved or Endpoint(form["name"], form["base"], kind=_kind(form["base"]))
    return replace(usual, **form)


def _kind(base: str) -> str:
    """What a base is, if nobody says: a known runtime's address on this computer is local."""
    url = urlsplit(base)
    ports = {urlsplit(runtime).port for runtime in LOCAL.values()}
    return "local" if url.hostname in ("127.0.0.1", "localhost", "::1") and url.port in ports else "provider"


def _key_after(name: str, given: str | None) -> str | None:
    """The key that calls will carry once `given` is saved: the environment's wins, "" removes the saved
    one."""
    if given is None or credentials.source(name) == "env":
        return credentials.key(name)
    return given or None


def _named(call: Call) -> Endpoint:
    return endpoints.get(fields.take(call.json(), NAMED, required=("name",))["name"])


def _untested() -> dict[str, Any]:
    return {"ok": False, "models": [], "total": 0, "note": "saved without a test"}


HANDLERS = (
    frame.get(
        "/api/endpoints",
        show,
        says="""every endpoint; of its key only whether, whence and the last four characters. Beside
            them `providers` (those known by name, with address and API) and `apis`""",
    ),
    frame.post(
        "/api/endpoint",
        save,
        says="""`{name, base, api?, profile?, kind?, key?, test?, default?}`: lists the models first,
            and saves. The reply tells the `change` (`new`, `changed`, `same`) and what `was`. A
            saved key stays only while scheme, host and port do; another address without a `key`
            drops it (`key_dropped`)""",
    ),
    frame.post(
        "/api/endpoint/test",
        test,
        says="`{name}` → `{listing}`",
    ),
    frame.post(
        "/api/endpoint/key",
        key,
        says="`{name, key}`; an empty key means none",
    ),
    frame.post(
        "/api/endpoint/default",
        default,
        says="`{name}`",
    ),
    frame.post(
        "/api/endpoint/remove",
        remove,
        says="`{name, with_models?}`",
    ),
)
