"""A chat provider's chunks sent on to a chat caller: whatever they hold that we have no word for comes
through (logprobs, annotations, further choices, a provider's own fields).

The idea: only what stands before the choices says whose answer it is, and that is the same in all chunks of a
stream: it is read once, and then exchanged as bytes. Patterns with a bare quote never match inside a text,
where quotes are escaped.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from metrics.events import Burst
from metrics.formats import framing, lines
from metrics.records import Problem

OWN = frozenset(("id", "object", "created", "model"))  # what our head says, and the provider's must not
_USUAL = frozenset((*OWN, "choices"))
_ROLE = re.compile(rb',\s*"role"\s*:\s*"assistant"|"role"\s*:\s*"assistant"\s*(?:,\s*)?')
_FINISH = re.compile(rb'"finish_reason"\s*:\s*"')
_USAGE = re.compile(rb'"usage"\s*:')
_CHOICES = b'"choices"'
_SPECIMEN = rb"\u0001"  # a text that no provider writes, and that JSON has in one way only

# A message before anything of it was said, and what every choice has.
_SILENT = {"role": "assistant", "content": None, "refusal": None}
_OF_CHOICES = frozenset(("index", "delta", "message", "logprobs", "finish_reason"))

# In a delta, these come whole and perhaps again; any other text is a piece of one.
_WHOLE = ("role", "id", "type", "index", "format", "signature")

_decoder = json.JSONDecoder(parse_constant=lambda _: None)  # NaN is no JSON


class Chunks:
    """The chunks of one stream, as frames under `head`: a JSON object without its closing brace. `usage`
    says whether each must have a usage, null. A chunk with a finish waits for the next or for `close`, which
    adds what is known only at the end."""

    def __init__(self, head: bytes, usage: bool) -> None:
        self._head, self._usage = head, usage
        self._theirs = self._ours = b""
        self._waiting = b""
        self._moulds: tuple[tuple[bytes, bytes], tuple[bytes, bytes]] | None = None  # their last, and ours

    def take(self, raw: bytes) -> bytes:
        """What to send now: the frame of this chunk, or of the one that waited for it, or both."""
        waited = self._waited() if self._waiting else b""
        chunk = self._changed(raw)
        if _FINISH.search(chunk):
            self._waiting = chunk
            return waited
        return waited + self._framed(chunk)

    def take_all(self, burst: Burst) -> bytes:
        """The frames of chunks of one mould, and before them that of the one that waited. What is exchanged
        in one of them is exchanged in all: it stands around the text."""
        theirs = burst.before, burst.behind
        if self._moulds is None or self._moulds[0] != theirs:
            if self._moulds and self._moulds[0][0] == burst.before:
                # Something behind the text is another each time.
                return b"".join([self.take(burst.before + one + burst.behind) for one in burst.spelled])
            frame = self._framed(self._changed(burst.before + _SPECIMEN + burst.behind))
            before, found, behind = frame.partition(_SPECIMEN)
            if not found or _SPECIMEN in behind:
                return b"".join(self.take(burst.before + one + burst.behind) for one in burst.spelled)
            self._moulds = theirs, (before, behind)
        before, behind = self._moulds[1]
        told = lines.between(before, burst.spelled, behind)
        return self._waited() + told if self._waiting else told

    def _changed(self, raw: bytes) -> bytes:
        told = _ROLE.sub(b"", raw) if b'"role"' in raw else raw
        return self._ours_of(lines.unbroken(told))

    def _waited(self) -> bytes:
        """The frame of the chunk that waited, which now is not the last."""
        waiting, self._waiting = self._waiting, b""
        return self._framed(waiting)

    def close(self, extra: Mapping[str, Any]) -> bytes:
        """The frame of the chunk that waits, with `extra`; b"" when no chunk came with a finish."""
        more = b"," + framing.as_bytes(extra)[1:] if extra else b"}"
        return self._framed(self._waiting[:-1] + more) if self._waiting else b""

    def _framed(self, chunk: bytes) -> bytes:
        if self._usage and not _USAGE.search(chunk):
            chunk = chunk[:-1] + b',"usage":null}'
        return b"data: " + chunk + b"\n\n"

    def _ours_of(self, raw: bytes) -> bytes:
        """The chunk under our head instead of the provider's."""
        theirs, choices, rest = raw.rstrip().partition(_CHOICES)
        if choices and theirs == self._theirs:
            return self._ours + choices + rest
        said = _object(theirs.rstrip(b", \t") + b"}")
        if said is None or not said.keys() >= OWN:
            # Something of the head may stand behind the choices.
            chunk = _object(raw)
            return raw if chunk is None else self._head + b"," + framing.as_bytes(_others(chunk))[1:]
        self._theirs = theirs
        more = _others(said)
        self._ours = self._head + b"," + (framing.as_bytes(more)[1:-1] + b"," if more else b"")
        return self._ours + choices + rest


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        value = _decoder.decode(text.decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _others(chunk: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in chunk.items() if name not in OWN}


def choices_of(raw: bytes) -> list[int]:
    """The numbers of the choices that a chunk is about."""
    choices = (_object(raw) or {}).get("choices")
    return (
        [_number(choice) for choice in choices if isinstance(choice, dict)]
        if isinstance(choices, list)
        else []
    )


def _number(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def whole(
    chunks: Iterable[bytes | str | dict[str, Any]],
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What a stream's chunks say together: the choices of an unstreamed completion, and the fields beside
    them. A chunk that is a str is more text of the first choice. A `finish_reason` that did not come is None.
    Problem 502 for a chunk that is no JSON."""
    choices: dict[int, dict[str, Any]] = {}
    beside: dict[str, Any] = {}
    once = True  # where each choice is said at once, nothing has to be joined
    for raw in chunks:
        chunk = raw if isinstance(raw, dict) else _read(raw)
        said = chunk.get("choices")
        for choice in said if isinstance(said, list) else ():
            if isinstance(choice, dict):
                number = _number(choice)
                if number in choices:
                    _join(choices[number], choice)
                    once = False
                else:
                    choices[number] = _begun(number, choice)
        if not _USUAL.issuperset(chunk):
            beside |= {k: v for k, v in chunk.items() if k not in _USUAL and v is not None}
    made = [choices[number] for number in sorted(choices)]
    return made if once else [_joined(choice) for choice in made], beside


def _read(chunk: bytes | str) -> dict[str, Any]:
    if isinstance(chunk, str):
        return {"choices": [{"delta": {"content": chunk}}]}
    value = _object(chunk)
    if value is None:
        raise Problem(502, "the provider sent a part of its answer that is no JSON", kind="garbage")
    return value


def _begun(number: int, piece: Mapping[str, Any]) -> dict[str, Any]:
    """A choice of which this is the first piece."""
    message = piece.get("delta")
    if message is None or isinstance(message, dict):
        message = {**_SILENT, **(message or {})}
        if message["role"] is None:
            message["role"] = _SILENT["role"]
    logprobs, finish = piece.get("logprobs"), piece.get("finish_reason")
    choice = {"index": number, "message": message, "logprobs": logprobs, "finish_reason": finish}
    if not _OF_CHOICES.issuperset(piece):
        choice |= {k: v for k, v in piece.items() if k not in _OF_CHOICES and v is not None}
    return choice


def _join(choice: dict[str, Any], piece: Mapping[str, Any]) -> None:
    for name, value in piece.items():
        if name == "delta":
            choice["message"] = _added(choice["message"], value)
        elif name == "logprobs":
            choice[name] = _added(choice[name], value)
        elif name not in ("index", "message") and value is not None:
            choice[name] = value


class _Pieces(list[str]):
    """A text being said: joined once, at the end."""


def _added(held: Any, piece: Any, name: str = "") -> Any:
    """What was said of one field so far, which is altered, and one piece more."""
    if held is None or piece is None:
        return held if piece is None else piece
    if isinstance(piece, str) and isinstance(held, str | _Pieces) and name not in _WHOLE:
        held = _Pieces([held]) if isinstance(held, str) else held
        held.append(piece)
    elif isinstance(held, dict) and isinstance(piece, dict):
        for key, value in piece.items():
            one = held.get(key)
            held[key] = value if one is None else _added(one, value, key)
    elif isinstance(held, list) and isinstance(piece, list):
        _extend(held, piece)
    else:
        return piece
    return held


def _extend(items: list[Any], pieces: list[Any]) -> None:
    """More of a list: a piece with the index of an item goes on with that item."""
    for piece in pieces:
        index = piece.get("index") if isinstance(piece, dict) else None
        same = (
            ()
            if index is None
            else (item for item in items if isinstance(item, dict) and item.get("index") == index)
        )
        if (item := next(iter(same), None)) is not None:
            _added(item, piece)
        else:
            items.append(piece)


def _joined(value: Any) -> Any:
    if isinstance(value, _Pieces):
        return "".join(value)
    if isinstance(value, dict):
        return {name: _joined(one) for name, one in value.items()}
    return [_joined(one) for one in value] if isinstance(value, list) else value
