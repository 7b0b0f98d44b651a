"""Checks that every format's parser shares: is a field what it must be, and what a panel forwards of a
request.

A check raises Problem 400 naming the field; a field that is null counts as absent, as every API here has it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from metrics.bench import names, scope
from metrics.formats import images
from metrics.limits import cost, launches
from metrics.records import DEPTH, Message, Problem, Request
from metrics.web.table import Call

ROLES = ("system", "developer", "user", "assistant", "tool")

NO_TOOLS = (
    "a panel answers in words, so it takes no tools, tool calls or tool results; to give one member your "
    'tools, ask the collection in route mode: its name with ":route" behind it'
)


def refuse(message: str, param: str | None = None) -> Problem:
    return Problem(400, message, param=param)


def flag(body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise refuse(f'"{name}" must be true or false', name)
    return bool(value)


def number(body: Mapping[str, Any], name: str, low: float, high: float) -> float | None:
    """A number between `low` and `high`, both included; None when absent."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise refuse(f'"{name}" must be a number from {low:g} to {high:g}', name)
    return value


def whole(body: Mapping[str, Any], name: str, low: int, high: int = 2**63 - 1) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        bound = f"from {low} to {high}" if high < 2**53 else f"of {low} or more"
        raise refuse(f'"{name}" must be a whole number {bound}', name)
    return value


def strings(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of strings; () when absent."""
    value = body.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise refuse(f'"{name}" must be a list of strings', name)
    return tuple(value)


def member(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object; {} when absent."""
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise refuse(f'"{name}" must be an object', name)
    return value


def sampling(body: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are forwarded, in OpenAI chat's names: temperature top_p stop seed max_tokens."""
    if SAMPLING.isdisjoint(body):
        return {}
    limit = whole(body, "max_completion_tokens", 1)
    options: dict[str, Any] = {}
    for name, check in SAMPLED.items():
        if name in body and (value := check(body, name)) is not None:
            options[name] = value
    if limit is None:
        limit = whole(body, "max_tokens", 1)
    if limit is not None:
        options["max_tokens"] = limit
    return options


def _stop(body: Mapping[str, Any], name: str) -> str | list[str] | None:
    value = body.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and len(value) <= 4 and all(isinstance(item, str) for item in value):
        return value or None
    raise refuse(f'"{name}" must be a string or a list of up to four strings', name)


SAMPLED: Mapping[str, Callable[[Mapping[str, Any], str], Any]] = {
    "temperature": lambda body, name: number(body, name, 0, 2),
    "top_p": lambda body, name: number(body, name, 0, 1),
    "stop": _stop,
    "seed": lambda body, name: whole(body, name, -(2**63)),
}
SAMPLING = frozenset((*SAMPLED, "max_completion_tokens", "max_tokens"))


def unused(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the fields that a panel leaves out although the caller really set them."""
    return tuple(
        name for name, value in fields.items() if value not in (None, False, 0, {}, {"type": "text"})
    )


def address(body: Mapping[str, Any]) -> tuple[str, str, str]:
    """(model as asked, collection, mode) from "model" and "bench.reply"."""
    model = body.get("model")
    reply = member(body, "bench").get("reply") if "bench" in body else None
    if reply is not None and reply not in names.MODES:
        raise refuse('"bench.reply" must be all, merged or route', "bench.reply")
    collection, mode = names.resolve(model, reply)
    return str(model), collection, mode


# Where OpenAI's clients say which conversation a request is of: Codex, pi, opencode and AI SDKs.
SESSIONS = ("thread-id", "session-id", "session_id", "x-session-id", "x-session-affinity")
LONGEST_SESSION = 200


def session(call: Call, body: Mapping[str, Any]) -> str | None:
    """The conversation's id by a header, else by `prompt_cache_key`: a hint, whatever it says."""
    for name in SESSIONS:
        if name in call.headers and (named := call.headers[name].strip()):
            return named[:LONGEST_SESSION]
    key = body.get("prompt_cache_key")
    return key[:LONGEST_SESSION] if isinstance(key, str) and key else None


def wishes(body: Mapping[str, Any]) -> dict[str, Any]:
    """The Request fields that any format may carry beside its own: `with`, `bench.only`, `bench.without`,
    `bench.deadline` (s), `bench.quorum`, `bench.budget` (USD). Problem 403 for an invited model outside the
    scope of who asks."""
    if "bench" not in body and "with" not in body:
        return {}
    bench, invited = member(body, "bench"), strings(body, "with")
    only = strings(bench, "only")
    scope.check_models((*invited, *only))
    return {
        "invited": invited,
        "only": only,
        "without": strings(bench, "without"),
        "deadline": number(bench, "deadline", 0.001, 3600),
        "quorum": whole(bench, "quorum", 1, 100),
        "budget": cost.units(number(bench, "budget", 0, 1e6)),
    }


_DEPTH = DEPTH.lower()


def asker(call: Call) -> dict[str, Any]:
    """The Request fields that say who asks: the key and what it may be answered by, the `bench launch`, and
    how many benches the request came through."""
    told: dict[str, Any] = {"launch": launches.token_of(call.headers), "models": scope.current().aliases()}
    if call.key is not None:
        told["key"] = call.key.name
    said = call.headers.get(_DEPTH, "")
    if said.isascii() and said.isdigit() and len(said) < 4:
        told["depth"] = int(said)
    return told


def messages(value: Any) -> list[Message]:
    """Chat messages as they were sent, every role and part checked. Problem 400 naming the first that will
    not do."""
    if not isinstance(value, list) or not value:
        raise refuse('"messages" must be a list with at least one message', "messages")
    checked, asks = value, False
    for at, message in enumerate(value):
        made = _checked(message, at)
        if made is not message:
            checked = list(value) if checked is value else checked
            checked[at] = made
        asks = asks or (made["role"] == "user" and bool(made["content"]))
    if not asks:
        raise refuse('"messages" must hold at least one user message with content', "messages")
    return checked


def _checked(message: Any, at: int) -> Message:
    """The message as it was sent, or with repaired pictures."""
    if not isinstance(message, dict):
        raise _refused(at, "", " must be an object with a role and content")
    role = message.get("role")
    if role not in ROLES:
        raise _refused(at, ".role", f" is {shown(role)}; the roles are {', '.join(ROLES)}")
    if message.get("function_call"):
        raise refuse(f"messages[{at}].function_call is the legacy form; send tool_calls", f"messages[{at}]")
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        raise _refused(at, ".tool_call_id", " must be the id of the call that this answers")
    calls, content = message.get("tool_calls"), message.get("content")
    if calls:
        _check_calls(calls, f"messages[{at}].tool_calls")
    if isinstance(content, list):
        parts = _parts(content, at)
        return message if parts is content else {**message, "content": parts}
    if not isinstance(content, str) and not (
        content is None and role == "assistant" and (calls or "refusal" in message)
    ):
        raise _refused(at, ".content", " must be a string or a list of parts")
    return message


def _refused(at: int, field: str, why: str) -> Problem:
    """The refusal of a field of a message. Where that is gets spelled out only here: a conversation has
    hundreds of messages, and nearly always all of them will do."""
    where = f"messages[{at}]{field}"
    return refuse(where + why, where)


def _parts(content: list[Any], at: int) -> list[Any]:
    """The parts as they were sent; of a picture, its repaired form where it needs one."""
    parts = content
    for n, part in enumerate(content):
        made = _part(part, at, n)
        if made is not part:
            parts = list(content) if parts is content else parts
            parts[n] = made
    return parts


def _part(part: Any, at: int, n: int) -> Any:
    if not isinstance(part, dict):
        raise _refused(at, f".content[{n}]", " must be an object with a type")
    kind = part.get("type")
    if kind in ("text", "refusal"):
        if not isinstance(part.get(kind), str):
            raise _refused(at, f".content[{n}].{kind}", " must be a string")
        return part
    if kind != "image_url":
        why = f" is {shown(kind)}; text and image_url parts are read"
        raise _refused(at, f".content[{n}].type", why)
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    made = images.from_url(url, f"messages[{at}].content[{n}].image_url.url")["image_url"]["url"]
    if isinstance(image, dict):
        return part if made == url else {**part, "image_url": {**image, "url": made}}
    return {**part, "image_url": {"url": made}}


def _check_calls(calls: Any, where: str) -> None:
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise refuse(f"{where} must be a list of tool calls", where)
    for at, call in enumerate(calls):
        function = call.get("function") or call.get("custom")
        if (
            not isinstance(call.get("id"), str)
            or not isinstance(function, dict)
            or not isinstance(function.get("name"), str)
        ):
            raise refuse(f"{where}[{at}] must have an id and a function with a name", f"{where}[{at}]")


def for_panel(request: Request) -> Request:
    """`request` if a panel can take it. Problem 400 for what only route mode can: tools, their calls and
    results."""
    if request.tools or any(
        message["role"] == "tool" or message.get("tool_calls") for message in request.messages
    ):
        raise refuse(NO_TOOLS, "tools")
    return request


def shown(value: Any) -> str:
    """A caller's value in a message to them: quoted, and never longer than a line."""
    return f'"{str(value)[:40]}"' if value is not None else "missing"
