"""Anthropic's conversation as chat messages: what each kind of content block becomes.

The idea: a turn is its role and its blocks, whoever wrote it as a string and in however many messages; each
kind of block is one row of a table. What chat's shape cannot say goes along beside it: cache marks as
`_cache`, signed thinking as `_thinking`, pictures in a tool's result as `_moved`, and for members that speak
this API the blocks themselves as `_turn`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from metrics.formats import content, images
from metrics.formats.calls import as_text
from metrics.formats.hosted import Hosted
from metrics.records import Message

Block = Mapping[str, Any]
Part = dict[str, Any]
Placed = tuple[str, Block]  # a block and where it stands in the caller's body

# Claude Code's note to Anthropic's billing: it changes with every request and would spoil each prefix cache.
_BILLING = re.compile(r"\s*(?:x-anthropic-billing-header:[^\n]*\n*)+")

# Calls of such tools and what came of them: web_search_tool_result, mcp_tool_result, ...
_FOREIGN = re.compile(r"server_tool_use|mcp_tool_use|.+_tool_result")

_NO_PDF = (
    "models here read no PDF; send its text as a document with a text source, or its pages as image blocks"
)
_NO_UPLOADS = "a file uploaded to Anthropic cannot be read here; send its content inline"


def conversation(body: Mapping[str, Any], hosted: Hosted) -> list[Message]:
    """Chat messages of `system` and `messages`, in order. Problem 400 naming the first block that will not
    do."""
    turns = body.get("messages")
    if not isinstance(turns, list) or not turns:
        raise content.refuse('"messages" must be a list with at least one message', "messages")
    system = body.get("system")
    leading = [] if system is None else [("system", _blocks(system, "system"))]
    said: list[Message] = []
    for role, blocks in (*leading, *_turns(turns)):
        said += _whole(role, _run_here(blocks, hosted))
    for message in said:
        if message["role"] in ("user", "tool") and message["content"]:
            return said
    raise content.refuse('"messages" must hold at least one user message with content', "messages")


def _turns(messages: Sequence[Any]) -> list[tuple[str, list[Placed]]]:
    """The turns with their blocks; messages of one role in a row are one turn, as Anthropic reads them."""
    turns: list[tuple[str, list[Placed]]] = []
    before = None
    for at, message in enumerate(messages):
        where = f"messages[{at}]"
        if not isinstance(message, dict):
            raise content.refuse(f"{where} must be an object with a role and content", where)
        role = message.get("role")
        if not isinstance(role, str) or role not in _SAID:
            said = f"{where}.role is {content.shown(role)}; the roles are {', '.join(_SAID)}"
            raise content.refuse(said, f"{where}.role")
        blocks = _blocks(message.get("content"), f"{where}.content")
        if role == before:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, blocks))
            before = role
    return turns


def _run_here(blocks: list[Placed], hosted: Hosted) -> list[Placed]:
    """The blocks without those of tools that ran at Anthropic."""
    kept = []
    for placed in blocks:
        where, block = placed
        kind = block["type"]
        if kind not in _READ and _FOREIGN.fullmatch(kind):
            hosted.trace(kind, where)
        else:
            kept.append(placed)
    return kept


def _blocks(value: Any, where: str) -> list[Placed]:
    if isinstance(value, str):
        return [(where, {"type": "text", "text": value})]
    if not isinstance(value, list):
        raise content.refuse(f"{where} must be a string or a list of blocks", where)
    blocks: list[Placed] = []
    for block in value:
        place = f"{where}[{len(blocks)}]"
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise content.refuse(f"{place} must be an object with a type", place)
        blocks.append((place, block))
    return blocks


def _whole(role: str, blocks: list[Placed]) -> list[Message]:
    """The messages of a turn, and on the first of them the turn itself as it came."""
    said = _SAID[role](blocks)
    own: Sequence[Block] = [_without_note(block) if role == "system" else block for _, block in blocks]
    for message in said:
        message["_turn"] = own
        own = ()
    return said


def _without_note(block: Block) -> Block:
    text = block.get("text")
    return {**block, "text": _without_billing(text)} if isinstance(text, str) else block


# --- who speaks


def _system(blocks: list[Placed]) -> list[Message]:
    parts = [part for where, block in blocks for part in _parts(block, where, _SYSTEM)]
    parts = [{**part, "text": _without_billing(part["text"])} for part in parts]
    return _message("system", [part for part in parts if part["text"].strip()])


def _without_billing(text: str) -> str:
    note = _BILLING.match(text)
    return text[note.end() :] if note else text


def _user(blocks: list[Placed]) -> list[Message]:
    """Results first, since chat wants them right behind their calls; then the rest in its order."""
    said: list[Message] = []
    parts: list[Part] = []  # of the user message being put together
    rest: list[Placed] = []
    for where, block in blocks:
        if block["type"] == "tool_result":
            result, moved = _result(block, where)
            said.append(result)
            parts += moved
        else:
            rest.append((where, block))
    for where, block in rest:
        if block["type"] == "mid_conv_system":
            said += _message("user", parts)
            said += _system(_blocks(block.get("content"), f"{where}.content"))
            parts = []
        else:
            parts += _parts(block, where, _USER)
    said += _message("user", parts)
    return said


def _assistant(blocks: list[Placed]) -> list[Message]:
    """A turn that holds nothing but thinking says nothing to a chat model, and is left out."""
    parts: list[Part] = []
    calls: list[dict[str, Any]] = []
    thinking: list[Block] = []
    for where, block in blocks:
        if block["type"] == "tool_use":
            calls.append(_call(block, where))
        elif block["type"] in _THINKING:
            thinking += _thought(block, where)
        else:
            parts += _parts(block, where, _ASSISTANT)
    if not parts and not calls:
        return []
    # Blocks of one answer are one text in pieces: they join without a gap.
    message: Message = {"role": "assistant", "content": None}
    if parts:
        message = _message("assistant", parts, "")[0]
    if calls:
        message["tool_calls"] = calls
    if thinking:
        message["_thinking"] = thinking
    return [message]


_SAID: Mapping[str, Callable[[list[Placed]], list[Message]]] = {
    "user": _user,
    "assistant": _assistant,
    "system": _system,
}


def _message(role: str, parts: list[Part], joint: str = "\n\n") -> list[Message]:
    """One message, none without parts. Plain text is one string, which every provider takes; pictures and
    cache marks before the end need a list."""
    if not parts:
        return []
    last = parts[-1]
    for part in parts:
        if part["type"] != "text" or ("_cache" in part and part is not last):
            return [{"role": role, "content": parts}]
    return [{"role": role, "content": joint.join([part["text"] for part in parts]), **_mark(last)}]


def _mark(part: Part) -> dict[str, Any]:
    return {"_cache": part["_cache"]} if "_cache" in part else {}


# --- tools and thinking


def _call(block: Block, where: str) -> dict[str, Any]:
    """A tool call, its input as JSON text."""
    given = block.get("input")
    if given is not None and not isinstance(given, dict):
        raise content.refuse(f"{where}.input must be an object", f"{where}.input")
    arguments = as_text(given or {}, f"{where}.input")
    function = {"name": _named(block, "name", where), "arguments": arguments}
    call = {"id": _named(block, "id", where), "type": "function", "function": function}
    return {**call, **_cache(block, where)} if "cache_control" in block else call


def _result(block: Block, where: str) -> tuple[Message, list[Part]]:
    """A tool message, which holds text alone, and the pictures for the user message behind it."""
    call = _named(block, "tool_use_id", where)
    parts = _given(block.get("content"), f"{where}.content")
    pictures = [part for part in parts if part["type"] != "text"]
    text = "\n\n".join([part["text"] for part in parts if part["type"] == "text"])
    text = text or ("(a picture: it is in the next message)" if pictures else "")
    if content.flag(block, "is_error"):
        text = f"Error: {text or 'the tool did not say why'}"
    told: Message = {"role": "tool", "tool_call_id": call, "content": text}
    told |= _cache(block, where) or (_mark(parts[-1]) if parts else {})
    if not pictures:
        return told, []
    label = {"type": "text", "text": f"From the result of {call}:"}
    return {**told, "_moved": parts}, [{**part, "_moved": True} for part in (label, *pictures)]


def _given(value: Any, where: str) -> list[Part]:
    """What a tool gave: nothing, text, or blocks."""
    if value is None or isinstance(value, str):
        return [{"type": "text", "text": value}] if value else []
    return [part for at, block in _blocks(value, where) for part in _parts(block, at, _RESULT)]


def _thought(block: Block, where: str) -> list[Block]:
    """The block, letter for letter, if it is signed: without a signature it is another vendor's, and nobody
    takes it back."""
    fields = _THINKING[block["type"]]
    kept = {name: _string(block, name, where, "") for name in fields}
    return [{"type": block["type"], **kept}] if kept[fields[-1]] else []


# kind -> its fields, the one that proves whose it is last
_THINKING = {"thinking": ("thinking", "signature"), "redacted_thinking": ("data",)}


# --- blocks that become parts


def _parts(block: Block, where: str, read: Mapping[str, "_Reader"]) -> list[Part]:
    """The parts that `block` becomes, its cache mark on the last; none when it is empty."""
    kind = block["type"]
    reader = read.get(kind)
    if reader is None:
        raise content.refuse(f"{where}: {content.shown(kind)} {_why_not(kind, read)}", f"{where}.type")
    parts = reader(block, where)
    mark = _cache(block, where) if "cache_control" in block else {}
    return [*parts[:-1], {**parts[-1], **mark}] if mark and parts else parts


def _why_not(kind: str, read: Mapping[str, "_Reader"]) -> str:
    return _NO_UPLOADS if kind == "container_upload" else f"is not read here; what is: {', '.join(read)}"


def _text(block: Block, where: str) -> list[Part]:
    said = block.get("text")
    if not isinstance(said, str):
        raise content.refuse(f"{where}.text must be a string", f"{where}.text")
    return [{"type": "text", "text": said}] if said else []


def _image(block: Block, where: str) -> list[Part]:
    source = _source(block, where)
    at = f"{where}.source"
    match source.get("type"):
        case "base64":
            kind = _string(source, "media_type", at, "")
            return [images.from_base64(source.get("data"), kind, f"{at}.data")]
        case "url":
            return [images.from_url(source.get("url"), f"{at}.url")]
        case "file":
            raise content.refuse(f"{at}: {_NO_UPLOADS}", at)
        case other:
            raise content.refuse(
                f"{at}.type is {content.shown(other)}; base64 and url are read", f"{at}.type"
            )


def _document(block: Block, where: str) -> list[Part]:
    """A document that is text is just text, under its title."""
    source = _source(block, where)
    at = f"{where}.source"
    match source.get("type"):
        case "text":
            parts = [{"type": "text", "text": _string(source, "data", at)}]
        case "content":
            inner = _blocks(source.get("content"), f"{at}.content")
            parts = [part for place, piece in inner for part in _parts(piece, place, _PLAIN)]
        case "base64" | "url":
            raise content.refuse(f"{at}: {_NO_PDF}", f"{at}.type")
        case "file":
            raise content.refuse(f"{at}: {_NO_UPLOADS}", at)
        case other:
            raise content.refuse(
                f"{at}.type is {content.shown(other)}; text and content are read", f"{at}.type"
            )
    title, context = _string(block, "title", where, ""), _string(block, "context", where, "")
    head = "\n".join(line for line in (f"Document: {title}" if title else "", context) if line)
    return [*([{"type": "text", "text": head}] if head else []), *parts]


def _search_result(block: Block, where: str) -> list[Part]:
    head = f"{_string(block, 'title', where)} ({_string(block, 'source', where)})"
    found = _blocks(block.get("content"), f"{where}.content")
    texts = [part["text"] for at, piece in found for part in _parts(piece, at, _SYSTEM)]
    return [{"type": "text", "text": "\n\n".join([head, *texts])}]


def _tool_reference(block: Block, where: str) -> list[Part]:
    return [{"type": "text", "text": f"Found the tool {_named(block, 'tool_name', where)}."}]


_Reader = Callable[[Block, str], list[Part]]
_SYSTEM: Mapping[str, _Reader] = {"text": _text}
_ASSISTANT = _SYSTEM
_PLAIN = {"text": _text, "image": _image}
_USER = {**_PLAIN, "document": _document, "search_result": _search_result}
_RESULT = {**_USER, "tool_reference": _tool_reference}
_READ = frozenset((*_RESULT, *_THINKING, "tool_use", "tool_result"))


# --- fields


def _source(block: Block, where: str) -> Block:
    source = block.get("source")
    if not isinstance(source, dict):
        raise content.refuse(f"{where}.source must be an object with a type", f"{where}.source")
    return source


def _cache(block: Block, where: str) -> dict[str, Any]:
    mark = block.get("cache_control")
    if mark is None:
        return {}
    if not isinstance(mark, dict):
        raise content.refuse(f"{where}.cache_control must be an object", f"{where}.cache_control")
    return {"_cache": {name: mark[name] for name in ("type", "ttl") if isinstance(mark.get(name), str)}}


def _string(block: Block, name: str, where: str, absent: str | None = None) -> str:
    """A string field. Without `absent` it must be there."""
    value = block.get(name)
    if value is None and absent is not None:
        return absent
    if not isinstance(value, str):
        raise content.refuse(f"{where}.{name} must be a string", f"{where}.{name}")
    return value


def _named(block: Block, name: str, where: str) -> str:
    value = block.get(name)
    if isinstance(value, str) and value:
        return value
    must = "must not be empty" if value == "" else "must be a string"
    raise content.refuse(f"{where}.{name} {must}", f"{where}.{name}")
