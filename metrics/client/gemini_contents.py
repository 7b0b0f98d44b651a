"""A conversation as Gemini takes it: `contents` and `systemInstruction`.

Shapes: ai.google.dev/api/generate-content and /api/caching (Content, Part). What it insists on: a turn of
calls is answered by one turn with as many responses, in the calls' order; a response is an object; no part is
empty; a model of the third generation refuses a step whose first call has lost its thought signature, unless
it says so with SKIP (ai.google.dev/gemini-api/docs/thought-signatures).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from metrics.client import seals
from metrics.client.called import as_object, called
from metrics.client.outgoing import LEADERS
from metrics.records import Message, Problem

SKIP = "skip_thought_signature_validator"
# A tool's own text. Objects are not taken apart: Gemini reads a "$ref" in one as a reference to another part
# (github.com/vercel/ai/issues/14369).
OUTPUT = "output"

_KINDS = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif"}
_KINDS["webp"] = "image/webp"
_ENDING = re.compile(r"\.(\w{3,4})$")

Part = dict[str, Any]
Turn = dict[str, Any]


class Manner(NamedTuple):
    """How one model is written to: `model_id` whose seals it may have back, `native` that its caller speaks
    this API too, `skip` that it validates signatures, `fold` that it takes no system instruction."""

    model_id: str
    native: bool = False
    skip: bool = True
    fold: bool = False


def keep(model_id: str, call_id: str, signature: str) -> None:
    """Remember what `model_id` sealed for a call, and that it was this model."""
    seals.keep(model_id, call_id, signature)
    seals.keep(seals.OWNER, call_id, model_id)


def written(messages: Sequence[Message], manner: Manner) -> tuple[list[Turn], list[Part]]:
    """(contents, the parts of systemInstruction). Problem 400 for a result that answers no call."""
    system = [part for message in messages if message.get("role") in LEADERS for part in _said(message)]
    turns = _Turns()
    if manner.fold and system:
        turns.say("user", system)
        system = []
    answered: set[int] = set()
    for at, message in enumerate(messages):
        match message.get("role"):
            case "assistant":
                turns.say("model", [*_said(message), *_calls(message, manner)])
                results = dict(_results(messages, at))
                answered.update(results)
                turns.answer(message, [messages[place] for place in results], manner.native)
            case "tool" if at not in answered:
                raise _stray(message, at)
            case "user":
                turns.say("user", list(_said(message)))
    return turns.turns, system


class _Turns:
    """The turns so far. Parts of one side in a row are one turn, but for responses, which stand alone."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self._closed = True  # the last turn takes no more

    def say(self, role: str, parts: list[Part]) -> None:
        if not parts:
            return
        if self._closed or self.turns[-1]["role"] != role:
            self.turns.append({"role": role, "parts": []})
        self.turns[-1]["parts"] += parts
        self._closed = False

    def answer(self, message: Message, results: list[Message], native: bool) -> None:
        """The turn of responses behind a turn of calls; pictures that came with them follow in it."""
        if not results:
            return
        by_id = {result.get("tool_call_id"): result for result in results}
        parts: list[Part] = []
        pictures: list[Part] = []
        for call in message["tool_calls"]:
            if result := by_id.get(call.get("id")):
                said = list(_said(result))
                text = "\n".join(part["text"] for part in said if "text" in part)
                parts.append(_response(call, text, native))
                pictures += [part for part in said if "text" not in part]
        self._closed = True
        self.say("user", [*parts, *pictures])
        self._closed = True


def _results(messages: Sequence[Message], at: int) -> Iterator[tuple[int, Message]]:
    """The results of the calls in message `at`, up to the model's next turn: each with its place."""
    wanted = {call.get("id") for call in messages[at].get("tool_calls") or ()}
    for place in range(at + 1, len(messages) if wanted else 0):
        message = messages[place]
        if message.get("role") == "assistant":
            return
        if message.get("role") == "tool" and message.get("tool_call_id") in wanted:
            wanted.discard(message["tool_call_id"])
            yield place, message


def _stray(message: Message, at: int) -> Problem:
    call = str(message.get("tool_call_id"))[:80]
    said = f'messages[{at}] is the result of "{call}", which no turn before it calls'
    return Problem(400, said, kind="bad_request", param=f"messages[{at}].tool_call_id")


# --- parts


def _said(message: Message) -> Iterator[Part]:
    content = message.get("content")
    if isinstance(content, str) and content:
        yield {"text": content}
    for part in content if isinstance(content, list) else ():
        kind = part.get("type")
        if kind == "image_url":
            yield _picture(part["image_url"])
        elif kind in ("text", "refusal") and part.get(kind):
            yield {"text": part[kind]}


def _picture(image: Any) -> Part:
    """Inline, or by its address, which Gemini opens itself (blog.google, "Increased file size limits and
    expanded inputs support in Gemini API", January 2026)."""
    url: str = image["url"] if isinstance(image, dict) else image
    if url.startswith("data:"):
        comma = url.index(",")
        return {"inlineData": {"mimeType": url[len("data:") : comma].split(";")[0], "data": url[comma + 1 :]}}
    ending = _ENDING.search(urlsplit(url).path.lower())
    kind = _KINDS.get(ending[1]) if ending else None
    return {"fileData": {**({"mimeType": kind} if kind else {}), "fileUri": url}}


def _calls(message: Message, manner: Manner) -> Iterator[Part]:
    """The first call of a step carries the signature of all (parallel calls have one)."""
    calls = message.get("tool_calls") or ()
    for at, call in enumerate(calls):
        name, args = called(call)
        signature = _signature(call, manner) or (SKIP if manner.skip and at == 0 else None)
        sealed = {"thoughtSignature": signature} if signature else {}
        yield {"functionCall": {"id": call["id"], "name": name, "args": args}, **sealed}


def _signature(call: Mapping[str, Any], manner: Manner) -> str | None:
    """What this model sealed: as it was kept here, or as its caller kept it, unless it is another model's."""
    kept = seals.find(manner.model_id, call["id"])
    if isinstance(kept, str):
        return kept
    own = call.get("_signature") if manner.native else None
    foreign = seals.find(seals.OWNER, call["id"]) not in (None, manner.model_id)
    return own if isinstance(own, str) and not foreign else None


def _response(call: Mapping[str, Any], text: str, native: bool) -> Part:
    """A result as an object: of a caller of this API the one it sent, of others their text."""
    name, _ = called(call)
    sent = as_object(text) if native and '"$ref"' not in text else None
    told = {OUTPUT: text} if sent is None else sent
    return {"functionResponse": {"id": call["id"], "name": name, "response": told}}
