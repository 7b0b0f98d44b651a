"""A conversation as the Messages API takes it: its `system`, and turns of content blocks.

The idea: chat messages are gathered into turns first and only then made into blocks, one turn at a time, each
written before the next is made: a picture's data is never held twice. A turn that a caller of this very API
sent (`_turn`) goes out with its own blocks, since to build a thinking turn anew is to lose it.

Rules of the API, platform.claude.com/docs/en/api/messages and its refusals: no text block is blank
(anthropics/claude-code issues 59812, 23369), the last turn of the assistant ends in no blank
(anomalyco/opencode issue 1295), results stand first in their turn, ids are of [a-zA-Z0-9_-], the first turn
is the user's, and a system message within the conversation stands behind a user's turn, before the
assistant's or at the end.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metrics import longjson
from metrics.client import call_ids, seals
from metrics.client.anthropic_events import REFUSED, digest
from metrics.client.anthropic_manners import Manners
from metrics.client.called import called
from metrics.client.outgoing import LEADERS, to_json
from metrics.line import PIECE
from metrics.records import Message, Problem, Target

Block = dict[str, Any]

FOLDED = "system messages within the conversation sent in the user's turns"
OPENING = "(The assistant speaks first.)"
_IDS = re.compile(r"[a-zA-Z0-9_-]+")
_SEALED = ("thinking", "redacted_thinking")
# How the base64 of a picture begins, by what it is.
_LABELS = {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation, written: `system` is that field's JSON (b"" for none), `turns` buffers of the JSON
    array of `messages`. `unsealed` says that the turn which goes on (calls were made and answered) has lost
    its thinking, `prefilled` that the last words are the assistant's own."""

    system: bytes
    turns: list[bytes]
    changed: tuple[str, ...]
    unsealed: bool
    prefilled: bool


def write(messages: Sequence[Message], target: Target, manners: Manners, thinking: bool = True) -> Told:
    """`messages` for one model; without `thinking`, without what any model has thought, then and from then
    on. Problem 400 when there is nothing to say."""
    changed: list[str] = []
    start = next((at for at, m in enumerate(messages) if m.get("role") not in LEADERS), len(messages))
    system = [block for message in messages[:start] for block in _system_blocks(message)]
    turns = _turns(messages[start:], manners, changed)
    if not turns:
        raise Problem(
            400, f"{target.alias} takes no conversation in which nobody says anything", kind="bad_request"
        )
    writer = _Writer(target, manners, thinking)
    written = list(_in_buffers(writer.written(turns)))
    return Told(
        to_json(_plainest(system)) if system else b"",
        written,
        tuple(dict.fromkeys((*changed, *writer.changed))),
        writer.unsealed,
        writer.prefilled,
    )


def sealable(messages: Iterable[Message]) -> bool:
    """Whether what is sent may differ between models of the same manners: by what each of them sealed."""
    return any(
        message.get("tool_calls")
        or message.get("_thinking")
        or ("_turn" in message and any(block.get("type") in _SEALED for block in message["_turn"]))
        for message in messages
    )


def _in_buffers(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, small pieces joined (each buffer is a packet of its own where the connection is
    encrypted), large ones as they are."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        if size + len(piece) > PIECE and held:
            yield b"".join(held)
            held, size = [], 0
        held.append(piece)
        size += len(piece)
    yield b"".join(held)


# --- who speaks when


@dataclass(frozen=True, slots=True)
class _Turn:
    role: str
    messages: list[Message]


def _turns(messages: Iterable[Message], manners: Manners, changed: list[str]) -> list[_Turn]:
    """Turns in order; what says nothing is none. A system message that may not stand where it does is said in
    the user's turn there."""
    spoken = [message for message in messages if _says(message)]
    turns: list[_Turn] = []
    for at, message in enumerate(spoken):
        role = _role(message)
        if role == "system" and not (manners.system and _placed(spoken, at)):
            role = "user"
            _note(changed, FOLDED)
        if turns and turns[-1].role == role:
            turns[-1].messages.append(message)
        else:
            turns.append(_Turn(role, [message]))
    if turns and turns[0].role == "assistant":
        turns.insert(0, _Turn("user", [{"role": "user", "content": OPENING}]))
        changed.append("a user's turn added before the assistant's first")
    return turns


def _note(changed: list[str], what: str) -> None:
    if what not in changed:
        changed.append(what)


def _role(message: Message) -> str:
    role = message.get("role")
    return "system" if role in LEADERS else "assistant" if role == "assistant" else "user"


def _placed(spoken: Sequence[Message], at: int) -> bool:
    """Whether a system message stands behind a user's turn, and before the assistant's or at the end."""
    behind = next((_role(m) for m in reversed(spoken[:at]) if _role(m) != "system"), "")
    before = next((_role(m) for m in spoken[at + 1 :] if _role(m) != "system"), "assistant")
    return (behind, before) == ("user", "assistant")


def _says(message: Message) -> bool:
    if "_turn" in message:
        return any(_full(block) for block in message["_turn"])
    if message.get("role") in ("tool", "function") or message.get("tool_calls"):
        return True
    return any(True for _ in _words(message))


def _full(block: Mapping[str, Any]) -> bool:
    return block.get("type") != "text" or _filled(block.get("text"))


def _filled(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())


# --- what they say


class _Writer:
    """Makes the turns of one conversation. `unsealed` and `prefilled` as in Told, once they are written."""

    def __init__(self, target: Target, manners: Manners, thinking: bool) -> None:
        self.unsealed = self.prefilled = False
        self.changed: list[str] = []
        self._target, self._manners, self._thinking = target, manners, thinking

    def written(self, turns: Sequence[_Turn]) -> Iterator[bytes]:
        before = b"["
        for at, turn in enumerate(turns):
            last = at == len(turns) - 1
            blocks = self._blocks(turn, last)
            if blocks:
                yield before
                yield longjson.write({"role": turn.role, "content": _plainest(blocks)}, to_json)
                before = b","
        yield b"]"

    def _blocks(self, turn: _Turn, last: bool) -> list[Block]:
        if turn.role == "assistant":
            return self._answer(turn, last)
        if turn.role == "system":
            return [block for message in turn.messages for block in _system_blocks(message)]
        blocks = [block for message in turn.messages for block in self._asked(message)]
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if not results:
            self.unsealed = False  # the assistant's turn is over
            return blocks
        return [*results, *(block for block in blocks if block.get("type") != "tool_result")]

    def _asked(self, message: Message) -> Iterator[Block]:
        role = message.get("role")
        if role in LEADERS:
            yield from map(_reminder, _system_blocks(message))
        elif "_turn" in message:
            for block in message["_turn"]:
                yield from self._own(block, {})
        elif role in ("tool", "function"):
            yield _result(message)
        else:
            yield from _words(message)

    def _answer(self, turn: _Turn, last: bool) -> list[Block]:
        blocks = [block for message in turn.messages for block in self._said(message)]
        calls = any(block.get("type") == "tool_use" for block in blocks)
        if calls:
            self.unsealed = self.unsealed or blocks[0].get("type") not in _SEALED
        if last and blocks and blocks[-1].get("type") == "text":
            text = blocks[-1]["text"].rstrip()
            blocks = [*blocks[:-1], *([{**blocks[-1], "text": text}] if text else [])]
            self.prefilled = bool(text)
        return blocks

    def _said(self, message: Message) -> Iterator[Block]:
        calls = [call for call in message.get("tool_calls") or () if isinstance(call, dict)]
        own: Sequence[Block] = message.get("_turn", ())
        if not any(block.get("type") in _SEALED for block in own):
            yield from self._remembered(message, calls)
        if "_turn" in message:
            names = {call.get("id"): (call.get("function") or {}).get("name") for call in calls}
            for block in own:
                yield from self._own(block, names)
        else:
            yield from _words(message)
            yield from map(_use, calls)

    def _remembered(self, message: Message, calls: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
        """What the model thought before its calls, where the caller could not hold it."""
        blocks = message.get("_thinking")
        if blocks is None and calls:
            blocks = seals.find(self._target.model_id, str(calls[0].get("id")))
        for block in blocks or ():
            yield from self._own(block, {})

    def _own(self, block: Block, names: Mapping[Any, Any]) -> Iterator[Block]:
        """A block of this API, as it came, but for what no model takes. `names` are those that tools go by
        here, by the id of the call."""
        kind = block.get("type")
        if kind in _SEALED:
            if not self._thinking:
                seals.note(*self._refusal(block), True)
            elif self._mine(block):
                yield block
        elif kind == "tool_use":
            made = {**block, "id": fit_id(block.get("id")), "input": block.get("input") or {}}
            yield {**made, "name": names.get(block.get("id")) or block.get("name")}
        elif kind == "tool_result":
            yield _own_result(block)
        elif kind == "image":
            yield _relabelled(block)
        elif kind == "mid_conv_system" and not self._manners.system:
            _note(self.changed, FOLDED)
            inner = block.get("content")
            inner = [{"type": "text", "text": inner}] if isinstance(inner, str) else inner
            yield from (_reminder(piece) for piece in inner or () if _full(piece))
        elif _full(block):
            yield block

    def _mine(self, block: Mapping[str, Any]) -> bool:
        """Whether this model may see a sealed block: unsigned it is another vendor's, and one that is known
        to be another model's, or was refused before, it refuses."""
        seal = _seal(block)
        if not seal or seals.find(*self._refusal(block)):
            return False
        return seals.find(seals.OWNER, digest(seal)) in (None, self._target.served)

    def _refusal(self, block: Mapping[str, Any]) -> tuple[str, str]:
        """Where `seals` says that this model refused a block: it is not asked with it in every turn anew."""
        return f"{REFUSED} {self._target.served}", digest(_seal(block))


def _seal(block: Mapping[str, Any]) -> str:
    seal = block.get("data" if block.get("type") == "redacted_thinking" else "signature")
    return seal if isinstance(seal, str) else ""


def _own_result(block: Block) -> Block:
    made = {**block, "tool_use_id": fit_id(block.get("tool_use_id"))}
    if isinstance(block.get("content"), list):
        made["content"] = [_relabelled(piece) for piece in block["content"] if _full(piece)]
    if not made.get("content"):
        made.pop("content", None)
    return made


def _words(message: Message) -> Iterator[Block]:
    """The text and pictures of a message in chat's shape; blank text is none. Pictures that stand here for a
    tool's result are said there."""
    content = message.get("content")
    if isinstance(content, str):
        yield from _text(content, message)
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and not part.get("_moved"):
            yield from _part(part)
    if isinstance(refusal := message.get("refusal"), str):
        yield from _text(refusal, {})


def _part(part: Mapping[str, Any]) -> Iterator[Block]:
    if part.get("type") == "image_url":
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, dict) else image
        yield {"type": "image", "source": _source(str(url)), **_mark(part)}
    else:
        yield from _text(part.get("text") or part.get("refusal"), part)


def _text(text: Any, holder: Mapping[str, Any]) -> Iterator[Block]:
    if _filled(text):
        yield {"type": "text", "text": text, **_mark(holder)}


def _source(url: str) -> dict[str, Any]:
    """Where a picture is: data goes along, an address is the provider's to fetch."""
    if not url.startswith("data:"):
        return {"type": "url", "url": url}
    comma = url.find(",")
    return {"type": "base64", "media_type": url[5:comma].partition(";")[0], "data": url[comma + 1 :]}


def _relabelled(block: Block) -> Block:
    """A picture under the name of what it is, where its caller called it another: such a one is refused
    (BerriAI/litellm issue 24900)."""
    source = block.get("source")
    data = source.get("data") if isinstance(source, dict) else None
    if block.get("type") != "image" or not isinstance(source, dict) or not isinstance(data, str):
        return block
    label = next((label for start, label in _LABELS.items() if data.startswith(start)), None)
    if label in (None, source.get("media_type")):
        return block
    return {**block, "source": {**source, "media_type": label}}


def _mark(holder: Mapping[str, Any]) -> dict[str, Any]:
    return {"cache_control": holder["_cache"]} if holder.get("_cache") else {}


def _result(message: Message) -> Block:
    """A tool message; the pictures that its API's caller sent in it are with it again."""
    moved = message.get("_moved")
    parts = {"content": moved} if isinstance(moved, list) else {"content": message.get("content")}
    content = _plainest(list(_words({"role": "tool", **parts})))
    told = {"type": "tool_result", "tool_use_id": fit_id(message.get("tool_call_id")), **_mark(message)}
    return {**told, "content": content} if content else told


def _use(call: Mapping[str, Any]) -> Block:
    name, given = called(call)
    return {"type": "tool_use", "id": fit_id(call.get("id")), "name": name, "input": given, **_mark(call)}


def _system_blocks(message: Message) -> Iterator[Block]:
    if "_turn" in message:
        yield from (block for block in message["_turn"] if _full(block))
    else:
        yield from (block for block in _words(message) if block["type"] == "text")


def _reminder(block: Mapping[str, Any]) -> Block:
    """System text in a user's turn, in the tags that these models are taught for it."""
    return {**block, "text": f"<system-reminder>\n{block['text']}\n</system-reminder>"}


def _plainest(blocks: list[Block]) -> Any:
    """One plain text as a string, which every server takes; else the blocks."""
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return blocks[0]["text"]
    return blocks


def fit_id(value: Any) -> str:
    """A call's id as the API takes it; the same in every turn, and two that differ stay different."""
    return call_ids.fit(str(value or "call"), _IDS)
