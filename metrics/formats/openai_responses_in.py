"""The input of a Responses request as chat messages.

Input is a list of items in the order in which they came about; chat wants a turn in one message, calls and
all, and every result right behind it. So a turn is kept open while its items come, results are put down with
the call they answer (by `call_id`), and the messages are written out at the end.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from metrics.formats import content, images
from metrics.formats.openai_responses_tools import INPUT, Toolbox
from metrics.records import Message

ROLES = ("user", "assistant", "system", "developer")
TEXTS = ("input_text", "output_text", "text")
CALLS = ("function_call", "custom_tool_call")
RESULTS = ("function_call_output", "custom_tool_call_output")
SEALED = ("id", "summary", "content", "encrypted_content")  # what of a sealed item its model gets back
DETAILS = {"auto": "auto", "low": "low", "high": "high", "original": "high"}  # the last is Responses' own

# Items that nothing outside of OpenAI can read, or that belong to tools which run there.
REFUSED = {
    "item_reference": "nothing is stored here, so there is nothing to refer to; send the item itself",
    "compaction": "only OpenAI can read it; send the turns themselves",
    "compaction_summary": "only OpenAI can read it; send the turns themselves",
    "compaction_trigger": "turns are compacted at OpenAI only; shorten the input yourself",
}
# What tools that run at OpenAI, or that only its models were taught, leave in a conversation.
FOREIGN = re.compile(
    r"(?:web_search|file_search|computer|code_interpreter|image_generation|local_shell|shell|apply_patch)"
    r"_call(?:_output)?|tool_search_(?:call|output)|program(?:_output)?|mcp_\w+"
)
UNKNOWN = "such items are not read here; leave it out"
NO_FILES = "files are not read; send what is in it as input_text, or a picture as input_image"
NO_IDS = (
    "nothing is stored here, so no file has an id; send the picture as image_url, an address or a data URL"
)


@dataclass(slots=True)
class _Call:
    """A tool call of a turn, with what came back once it has."""

    written: dict[str, Any]
    answered: bool = False
    result: str = ""
    pictures: list[dict[str, Any]] = field(default_factory=list)
    parts: list[dict[str, Any]] = field(default_factory=list)  # all of a result that has pictures


@dataclass(slots=True)
class _Turn:
    message: Message
    calls: list[_Call] = field(default_factory=list)


def messages(body: Mapping[str, Any], tools: Toolbox) -> list[Message]:
    """`instructions` and `input` as chat messages. Problem 400 naming the first item that will not do."""
    conversation = _Conversation(tools)
    instructions = text_of(body, "instructions")
    if instructions:
        conversation.say({"role": "system", "content": instructions})
    asked = body.get("input")
    if isinstance(asked, str):
        conversation.say({"role": "user", "content": asked})
    elif isinstance(asked, list):
        for at, item in enumerate(asked):
            conversation.add(item, f"input[{at}]")
    else:
        raise content.refuse('"input" must be a string or a list of items', "input")
    written = conversation.messages()
    for message in written:
        if message["role"] == "user" and message["content"]:
            return written
    raise content.refuse('"input" must hold at least one user message with content', "input")


def text_of(holder: Mapping[str, Any], name: str, where: str = "") -> str | None:
    """A field that is a string; None when absent. `where` the holder of it stands, "" for the body."""
    value = holder.get(name)
    if value is not None and not isinstance(value, str):
        full = f"{where}.{name}" if where else name
        raise content.refuse(f'"{full}" must be a string', full)
    return value


class _Conversation:
    """Turns as they are being put together."""

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools
        self._turns: list[_Turn] = []
        self._open: dict[str, list[_Call]] = {}  # calls that wait for their result, by id, oldest first
        self._sealed: list[dict[str, Any]] = []  # encrypted reasoning for the next thing the assistant does

    def say(self, message: Message) -> None:
        self._turns.append(_Turn(message))

    def add(self, item: Any, where: str) -> None:
        if not isinstance(item, dict):
            raise content.refuse(f"{where} must be an item, an object with a type", where)
        kind = item.get("type")
        if kind is None:
            kind = "message" if "role" in item else "item_reference" if "id" in item else None
        if kind == "message":
            self._message(item, where)
        elif kind in CALLS:
            self._call(item, where, custom=kind == "custom_tool_call")
        elif kind in RESULTS:
            self._result(item, where)
        elif kind == "reasoning":
            self._reasoning(item, where)
        elif isinstance(kind, str) and FOREIGN.fullmatch(kind):
            self._tools.hosted.trace(kind, where)
        else:
            why = REFUSED.get(kind, UNKNOWN) if isinstance(kind, str) else "an item needs a type"
            raise content.refuse(f"{where} is {content.shown(kind)}: {why}", f"{where}.type")

    def messages(self) -> list[Message]:
        return [message for turn in self._turns for message in _written(turn)]

    def _message(self, item: Mapping[str, Any], where: str) -> None:
        role = item.get("role")
        if role not in ROLES:
            raise content.refuse(
                f"{where}.role is {content.shown(role)}; the roles are {', '.join(ROLES)}", f"{where}.role"
            )
        said = _content(item.get("content"), f"{where}.content")
        if role == "user":
            self.say({"role": role, "content": said})
            return
        text = said if isinstance(said, str) else _joined(said, role, f"{where}.content")
        if role != "assistant":
            self.say({"role": role, "content": text})
            return
        sealed = self._sealed
        message = self._assistant(joins=bool(self._turns and self._turns[-1].calls)).message
        if sealed:
            message["_encrypted"] = [*message.get("_encrypted", ()), *sealed]
        # Words behind a call belong before its result all the same: chat has no room between the two.
        message["content"] = (message["content"] or "") + text
        phase = text_of(item, "phase", where)
        if phase:
            message["_phase"] = phase

    def _call(self, item: Mapping[str, Any], where: str, custom: bool) -> None:
        call_id, name = _required(item, "call_id", where), _required(item, "name", where)
        namespace = text_of(item, "namespace", where)
        if custom:
            given = text_of(item, "input", where) or ""
            arguments = json.dumps({INPUT: given}, ensure_ascii=False)
        else:
            arguments = text_of(item, "arguments", where) or "{}"
        function = {"name": self._tools.name(name, namespace), "arguments": arguments}
        written: dict[str, Any] = {"id": call_id, "type": "function", "function": function}
        if custom:
            written["_custom"] = True
        if namespace is not None:
            written["_namespace"] = {"namespace": namespace, "name": name}
        call, sealed = _Call(written), self._sealed
        turn = self._assistant(joins=True)
        if sealed and (turn.calls or turn.message["content"]):
            written["_encrypted"] = sealed
        elif sealed:
            turn.message["_encrypted"] = sealed
        turn.calls.append(call)
        self._open.setdefault(call_id, []).append(call)

    def _assistant(self, joins: bool) -> _Turn:
        """The assistant's turn that goes on, or a new one."""
        last = self._turns[-1] if self._turns else None
        if last is None or not joins or last.message["role"] != "assistant" or _over(last):
            last = _Turn({"role": "assistant", "content": None})
            self._turns.append(last)
        self._sealed = []
        return last

    def _result(self, item: Mapping[str, Any], where: str) -> None:
        call_id = _required(item, "call_id", where)
        waiting = self._open.get(call_id)
        if not waiting:
            raise content.refuse(
                f"{where} answers the call {content.shown(call_id)}, which is not before it; send the call "
                "too, and one result for each",
                f"{where}.call_id",
            )
        call = waiting.pop(0)
        call.answered = True
        output = item.get("output")
        if isinstance(output, str):
            call.result = output
            return
        parts = _parts(output, f"{where}.output")
        call.result = "\n".join(part["text"] for part in parts if part["type"] == "text")
        call.pictures = [part for part in parts if part["type"] == "image_url"]
        call.parts = parts if call.pictures else []

    def _reasoning(self, item: Mapping[str, Any], where: str) -> None:
        """What members said they thought is for people; only what OpenAI sealed is of use to a model."""
        sealed = text_of(item, "encrypted_content", where)
        if sealed:
            text_of(item, "id", where)
            self._sealed.append({name: item[name] for name in SEALED if item.get(name) is not None})


def _over(turn: _Turn) -> bool:
    """Whether results have come: what the assistant does next is another turn."""
    return any(call.answered for call in turn.calls)


def _written(turn: _Turn) -> list[Message]:
    """A turn's message, the results of its calls, and the pictures among those, which only users can
    send."""
    if not turn.calls:
        return [turn.message]
    results: list[Message] = []
    shown: list[dict[str, Any]] = []
    for call in turn.calls:
        if not call.answered:
            continue
        call_id, text = call.written["id"], call.result
        if call.pictures:
            text = f"{text}\n(pictures: see the next user message)" if text else "(see the next user message)"
            told = f"Pictures that the call {call_id} ({call.written['function']['name']}) gave:"
            shown += [{"type": "text", "text": told}, *call.pictures]
        moved = {"_moved": call.parts} if call.parts else {}
        results.append({"role": "tool", "tool_call_id": call_id, "content": text, **moved})
    message = {**turn.message, "tool_calls": [call.written for call in turn.calls]}
    behind = [{**part, "_moved": True} for part in shown]
    return [message, *results, *([{"role": "user", "content": behind}] if behind else [])]


def _required(item: Mapping[str, Any], name: str, where: str) -> str:
    value = item.get(name)
    if not isinstance(value, str) or not value:
        raise content.refuse(f"{where}.{name} must be a string with something in it", f"{where}.{name}")
    return value


def _content(value: Any, where: str) -> str | list[dict[str, Any]]:
    """A message's content: its text when that is all there is, else chat parts."""
    if isinstance(value, str):
        return value
    parts = _parts(value, where)
    if not parts:
        return ""
    if len(parts) == 1 and parts[0]["type"] == "text":
        return str(parts[0]["text"])
    return parts


def _parts(value: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise content.refuse(f"{where} must be a string or a list of parts", where)
    return [_part(part, f"{where}[{at}]") for at, part in enumerate(value)]


def _part(part: Any, where: str) -> dict[str, Any]:
    if not isinstance(part, dict):
        raise content.refuse(f"{where} must be a part, an object with a type", where)
    kind = part.get("type")
    if kind in TEXTS or kind == "refusal":
        text = part.get("refusal" if kind == "refusal" else "text")
        if not isinstance(text, str):
            raise content.refuse(f"{where} must hold its text as a string", where)
        return {"type": "text", "text": text}
    if kind == "input_image":
        return _picture(part, where)
    raise content.refuse(f"{where} is {content.shown(kind)}: {_why_not(kind)}", f"{where}.type")


def _why_not(kind: Any) -> str:
    return NO_FILES if kind == "input_file" else "input_text and input_image parts are read"


def _picture(part: Mapping[str, Any], where: str) -> dict[str, Any]:
    url = part.get("image_url")
    if url is None and part.get("file_id") is not None:
        raise content.refuse(f"{where}.file_id: {NO_IDS}", f"{where}.file_id")
    detail = text_of(part, "detail", where)
    return images.from_url(url, f"{where}.image_url", DETAILS.get(detail or ""))


def _joined(parts: list[dict[str, Any]], role: str, where: str) -> str:
    """A text in one string, since many servers take parts of users only: an assistant's parts are one text,
    those of instructions a paragraph each."""
    if any(part["type"] != "text" for part in parts):
        raise content.refuse(f"{where}: pictures are read of users and tools only", where)
    return ("" if role == "assistant" else "\n\n").join(part["text"] for part in parts)
