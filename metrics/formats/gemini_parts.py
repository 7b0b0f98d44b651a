"""A conversation as Gemini's callers send it, in chat shape: `systemInstruction` and `contents`.

Protocol buffers are behind this API, and its callers count on their ways: every field in camelCase or in
snake_case, one object where a list of them is meant. `fields` reads one object in either spelling, so nothing
of the caller's own (arguments, results, names in schemas) is ever touched.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from metrics.formats import content, images
from metrics.formats.calls import Turns, arguments_text, as_text
from metrics.formats.hosted import Hosted
from metrics.records import Message, Problem

ROLES = ("user", "model", "function")
PARTS = ("text", "inlineData", "fileData", "functionCall", "functionResponse")
# Parts of tools that ran at Google.
FOREIGN = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
_FOREIGN = frozenset(FOREIGN)
# What stands beside a part's content, and may be left of it alone in a stream's pieces.
BESIDE = frozenset(("thoughtSignature", "thought", "videoMetadata", "mediaResolution", "partMetadata"))

# Sent in place of a signature by clients whose history another model made (Gemini's documentation of thought
# signatures), as text or as the base64 of it: no signature of anybody's.
SENTINELS = frozenset(
    (
        "skip_thought_signature_validator",
        "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
        "context_engineering_is_the_way_to_go",
        "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv",
    )
)

NOT_FILES = "upload nothing: send pictures as inlineData, or as fileData with their http(s) address"
_PICTURE = re.compile(r"\.(png|jpe?g|gif|webp)$", re.IGNORECASE)
_SNAKE = re.compile(r"_([a-z0-9])")


def messages(body: Mapping[str, Any], hosted: Hosted) -> list[Message]:
    """`systemInstruction` and `contents` in chat shape. Problem 400 naming what will not do."""
    turns = Turns()
    system = _system(body.get("systemInstruction"))
    if system:
        turns.add("system", system)
    for at, item in enumerate(listed(body.get("contents"), "contents")):
        where = f"contents[{at}]"
        role = item.get("role") or "user"
        if role not in ROLES:
            raise content.refuse(
                f"{where}.role is {content.shown(role)}; the roles are user and model", where
            )
        told = _run_here(listed(item.get("parts"), f"{where}.parts"), f"{where}.parts", hosted)
        (_model_turn if role == "model" else _user_turn)(turns, told)
    for message in turns.messages:
        if message["role"] == "user":
            return turns.messages
    raise content.refuse('"contents" must hold at least one text of the user', "contents")


Told = list[tuple[dict[str, Any], str]]


def _run_here(parts: list[dict[str, Any]], where: str, hosted: Hosted) -> Told:
    """The parts and where they stand, without those that a tool which ran at Google left."""
    told = []
    for n, part in enumerate(parts):
        place = f"{where}[{n}]"
        if _FOREIGN.isdisjoint(part):
            told.append((part, place))
        else:
            hosted.trace(next(kind for kind in FOREIGN if kind in part), place)
    return told


def _system(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    parts = listed(nested(value, "systemInstruction").get("parts"), "systemInstruction.parts")
    texts = []
    for at, part in enumerate(parts):
        where = f"systemInstruction.parts[{at}]"
        if _kind(part, where) not in ("text", None):
            raise content.refuse(f"{where}: only text can instruct", where)
        texts.append(_text(part, where))
    return "\n".join(filter(None, texts))


def _model_turn(turns: Turns, told: Told) -> None:
    """Text in pieces is what a stream was kept as: it is one text."""
    for part, where in told:
        if part.get("thought") is True:
            turns.think(_text(part, where))
            continue
        match _kind(part, where):
            case "text" | None:
                if text := _text(part, where):
                    turns.assistant(text)
            case "functionCall":
                _call(turns, part, f"{where}.functionCall")
            case kind:
                raise content.refuse(f"{where}.{kind}: a model's turn is read with text and calls", where)


def _call(turns: Turns, part: dict[str, Any], where: str) -> None:
    call, signature = nested(part["functionCall"], where), part.get("thoughtSignature")
    kept = signature if isinstance(signature, str) and signature not in SENTINELS else None
    name = string(call, "name", where)
    if not name:
        raise content.refuse(f"{where}.name must be the function's name", f"{where}.name")
    turns.call(string(call, "id", where), name, arguments_text(call.get("args"), f"{where}.args"), kept)


def _user_turn(turns: Turns, told: Told) -> None:
    """Results first, each behind its call; what else is in the turn, and pictures of results, follow."""
    said: list[dict[str, Any]] = []
    for part, where in told:
        if part.get("thought") is True:
            continue
        match _kind(part, where):
            case "functionResponse":
                said += _result(turns, nested(part["functionResponse"], where), f"{where}.functionResponse")
            case "functionCall":
                raise content.refuse(f"{where}.functionCall belongs into a turn of the model", where)
            case kind:
                said += _said(part, kind, where)
    if len(said) == 1 and said[0]["type"] == "text":
        turns.add("user", said[0]["text"])
    elif said:
        turns.add("user", said)


def _result(turns: Turns, result: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """Puts the result behind its call; the pictures it came with, which a tool message cannot hold."""
    given, name = string(result, "id", where), string(result, "name", where)
    turns.result(given, name, _told(result.get("response"), f"{where}.response"), where)
    parts = listed(result.get("parts"), f"{where}.parts")
    return [piece for n, part in enumerate(parts) for piece in _said_of(part, f"{where}.parts[{n}]")]


def _said_of(part: dict[str, Any], where: str) -> list[dict[str, Any]]:
    return _said(part, _kind(part, where), where)


def _told(response: Any, where: str) -> str:
    """A result as text: "output" is the function's own word, by Google's description, "result" its SDKs'."""
    if isinstance(response, dict) and len(response) == 1:
        only = response.get("output", response.get("result"))
        if isinstance(only, str):
            return only
    return response if isinstance(response, str) else as_text({} if response is None else response, where)


def _said(part: dict[str, Any], kind: str | None, where: str) -> list[dict[str, Any]]:
    """A part of the user's as a chat part; nothing for an empty one."""
    match kind:
        case "text" | None:
            text = _text(part, where)
            return [{"type": "text", "text": text}] if text else []
        case "inlineData":
            return [_inline(nested(part[kind], f"{where}.{kind}"), f"{where}.{kind}")]
        case "fileData":
            return [_file(nested(part[kind], f"{where}.{kind}"), f"{where}.{kind}")]
    raise content.refuse(f"{where}.{kind} is not read here", where)


def _kind(part: dict[str, Any], where: str) -> str | None:
    """Which of PARTS it is; None for one that holds nothing. Problem 400 naming anything else."""
    for kind in PARTS:
        if kind in part:
            return kind
    if not part.keys() <= BESIDE:
        raise content.refuse(f"{where} holds none of {', '.join(PARTS)}", where)
    return None


def _text(part: dict[str, Any], where: str) -> str:
    return string(part, "text", where) or ""


def _inline(blob: dict[str, Any], where: str) -> dict[str, Any]:
    """A picture; a plain text is told as one."""
    kind = string(blob, "mimeType", where) or ""
    if kind.lower().startswith("text/"):
        return {"type": "text", "text": _decoded(blob.get("data"), where)}
    return images.from_base64(blob.get("data"), kind, f"{where}.data")


def _decoded(value: Any, where: str) -> str:
    try:
        return base64.urlsafe_b64decode(_padded(value)).decode("utf-8")
    except (ValueError, TypeError, AttributeError, binascii.Error):
        raise content.refuse(f"{where}.data must be UTF-8 text in base64", f"{where}.data") from None


def _padded(value: str) -> bytes:
    bare = value.replace("+", "-").replace("/", "_").rstrip("=")
    return (bare + "=" * (-len(bare) % 4)).encode("ascii")


def _file(file: dict[str, Any], where: str) -> dict[str, Any]:
    """A picture's http(s) address. An uploaded file is at Google, and its address opens to its owner only."""
    address, kind = string(file, "fileUri", where), string(file, "mimeType", where)
    if not address:
        raise content.refuse(f"{where}.fileUri must be a picture's http(s) address", f"{where}.fileUri")
    try:
        parts = urlsplit(address)
        host, path = parts.hostname or "", parts.path
    except ValueError:
        raise content.refuse(f"{where}.fileUri is no address", f"{where}.fileUri") from None
    if parts.scheme not in ("http", "https") or host.endswith("googleapis.com"):
        raise content.refuse(f"{where}: {content.shown(address)} is a file at Google; {NOT_FILES}", where)
    if not (kind.lower().startswith("image/") if kind else _PICTURE.search(path)):
        raise content.refuse(f"{where} is {content.shown(kind or address)}; only pictures are read", where)
    return images.from_url(address, f"{where}.fileUri")


# --- reading one object


def fields(value: dict[str, Any]) -> dict[str, Any]:
    """An object's fields under their camelCase names, nulls left out; most objects are so already."""
    if None not in value.values() and "_" not in "".join(value):
        return value
    return {camel(name) if "_" in name else name: inner for name, inner in value.items() if inner is not None}


def camel(name: str) -> str:
    return _SNAKE.sub(lambda match: match[1].upper(), name)


def listed(value: Any, where: str) -> list[dict[str, Any]]:
    """A list of objects, each with its fields; one object is a list of one. Problem 400 naming `where`."""
    items = [value] if isinstance(value, dict) else [] if value is None else value
    if not isinstance(items, list):
        raise _no_objects(where)
    told = []
    for item in items:
        if not isinstance(item, dict):
            raise _no_objects(where)
        told.append(fields(item))
    return told


def _no_objects(where: str) -> Problem:
    return content.refuse(f'"{where}" must be a list of objects', where)


def nested(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise content.refuse(f"{where} must be an object", where)
    return fields(value)


def string(value: Mapping[str, Any], name: str, where: str) -> str | None:
    found = value.get(name)
    if found is not None and not isinstance(found, str):
        raise content.refuse(f"{where}.{name} must be a string", f"{where}.{name}")
    return found
