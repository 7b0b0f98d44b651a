"""All we know about Gemini's own API as a client: what to send, and how to read what comes back.

    POST {base}/models/{model}:streamGenerateContent?alt=sse     key in x-goog-api-key, never in the address

Shapes: ai.google.dev/api/generate-content (GenerateContentResponse, Candidate). A stream is objects of the
same shape as a whole answer and has no terminator: the reason in its last candidate is its end. A refused
prompt is a success without candidates.
"""

import functools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from metrics.client import call_ids, errors, gemini_contents, gemini_fields, listing, objects, quirks, usage
from metrics.client.called import as_text
from metrics.client.gemini_contents import Manner
from metrics.client.outgoing import EVENTS, JSON, LEADERS, Conversation, Outgoing, address, keyed, to_json
from metrics.client.quirks import learn
from metrics.events import Closed, Event, Opened, Reasoning, Text, Tick, ToolArguments, ToolStart
from metrics.longjson import write
from metrics.records import Problem, Target, Usage

__all__ = ["Conversation", "Outgoing", "compose", "learn", "list_models", "read"]

API = "gemini"
ROOT = "/v1beta"
# The root of its endpoint for chat completions, which people have as their base.
OTHER_ROOT = "/openai"
INSTRUCTION = "systemInstruction"
# Fields of the caller's own that go out as they are, beside generationConfig.
NATIVE = ("safetySettings", "cachedContent", "labels", "serviceTier")

# finishReason -> ours. "" is a breakdown, not an end (ai.google.dev/api/generate-content, FinishReason). What
# is not here, and may be new, is an end like any other.
FINISHES = {
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MALFORMED_FUNCTION_CALL": "",
    "MALFORMED_RESPONSE": "",
    "UNEXPECTED_TOOL_CALL": "",
    "TOO_MANY_TOOL_CALLS": "",
    "MISSING_THOUGHT_SIGNATURE": "",
    "LANGUAGE": "",
    "NO_IMAGE": "",
    "IMAGE_OTHER": "",
}
UNSPECIFIED = "FINISH_REASON_UNSPECIFIED"


# --- sending


def compose(
    target: Target, conversation: Conversation, options: Mapping[str, Any], *, stream: bool = True
) -> Outgoing:
    """The request for one seat. `options` are chat fields; None values count as unset.

    Problem(400) when the base URL, the key or the conversation cannot be sent.
    """
    changed: list[str] = []
    native = conversation.native if conversation.api == API else None
    drop = quirks.for_target(target).drop
    set_options = {name: value for name, value in options.items() if value is not None}
    fields = _fields(target, set_options, native, changed)
    fields, left = quirks.without(fields, drop - {INSTRUCTION})
    contents, system = _conversation(target, conversation, fold=INSTRUCTION in drop)
    body = [b'{"contents":', contents]
    if system:
        body += [b',"%b":' % INSTRUCTION.encode(), system]
    body.append(b"," + to_json(fields)[1:] if fields else b"}")
    return Outgoing(
        method="POST",
        url=_address(target.base, target.served, stream),
        headers=_headers(target, stream),
        body=body,
        changed=(*_system_changes(conversation, INSTRUCTION in drop), *changed, *left),
    )


def _fields(
    target: Target, options: Mapping[str, Any], native: Mapping[str, Any] | None, changed: list[str]
) -> dict[str, Any]:
    own = native or {}
    config = own.get("generationConfig", {}) if native is not None else None
    generation = gemini_fields.generation(target, options, config, changed)
    return {
        **{name: own[name] for name in NATIVE if name in own},
        **gemini_fields.tools(options.get("tools"), options.get("tool_choice"), own, changed),
        **({"generationConfig": generation} if generation else {}),
    }


def _conversation(target: Target, conversation: Conversation, fold: bool) -> tuple[bytes, bytes]:
    """`contents` and `systemInstruction` as JSON, the latter empty without one; shared by all seats for which
    they come out the same."""
    manner = Manner(
        # Seals belong to calls: without any, the conversation is the same for every model.
        target.model_id if any(message.get("tool_calls") for message in conversation.messages) else "",
        native=conversation.api == API,
        skip=not gemini_fields.UNSIGNED.match(target.served),
        fold=fold,
    )

    def make() -> tuple[bytes, bytes]:
        contents, system = gemini_contents.written(conversation.messages, manner)
        return write(contents, to_json), write({"parts": system}, to_json) if system else b""

    return conversation.shared((API, manner), make)


def _system_changes(conversation: Conversation, fold: bool) -> Iterator[str]:
    leaders = [at for at, message in enumerate(conversation.messages) if message.get("role") in LEADERS]
    if fold and leaders:
        yield "system messages sent as the user's first words (this model takes no instructions)"
    elif leaders and leaders != [0]:
        yield "system messages joined into one instruction"


@functools.lru_cache(maxsize=512)
def _address(base: str, served: str, stream: bool) -> str:
    served = served if served.startswith(("models/", "tunedModels/")) else f"models/{served}"
    method = "streamGenerateContent" if stream else "generateContent"
    url = _under(base, f"/{quote(served, safe='/:@')}:{method}")
    return url + ("&alt=sse" if "?" in url else "?alt=sse") if stream else url


def _under(base: str, path: str) -> str:
    return address(base.rstrip().rstrip("/").removesuffix(OTHER_ROOT), path, ROOT)


def _headers(target: Target, stream: bool) -> tuple[tuple[str, str], ...]:
    return keyed(target.key, target.endpoint, EVENTS if stream else JSON, "x-goog-api-key")


# --- reading


def read(
    arrival: objects.Incoming,
    target: Target,
    *,
    relay: bool = False,
    tick: float | None = None,
    now: Callable[[], float] = time.time,
    new_id: Callable[[], str] = call_ids.new,
) -> Iterator[Event]:
    """The events of an answer: Opened, Text, Reasoning, ToolStart, ToolArguments, Tick, and at last Closed.

    A call comes whole. A refused prompt is Closed as content_filter without a word. Raises Problem: the
    provider's refusal (with its status), "upstream" for an answer that broke down, "empty", "cut" and
    "garbage" (502), and the transport's.
    """
    answer = _Answer(target, now, new_id)
    whole = False
    try:
        for found in objects.read(arrival, target, tick=tick, now=now):
            if not isinstance(found, objects.Object):
                yield Tick()
                continue
            whole = whole or found.whole
            yield from answer.take(found.value)
    except Problem:
        # Past its finish an answer is complete, whatever becomes of the connection.
        if not answer.finished:
            raise
    yield from answer.close(whole)


class _Answer:
    """Reads the objects of one answer, in order."""

    def __init__(self, target: Target, now: Callable[[], float], new_id: Callable[[], str]) -> None:
        self.finished = False
        self._target, self._now, self._new_id = target, now, new_id
        self._opened = False
        self._said = False
        self._calls: dict[int, int] = {}  # candidate -> its calls
        self._ids: set[str] = set()
        self._finish = "stop"
        self._usage: Mapping[str, Any] | None = None  # each object counts all so far

    def take(self, value: Mapping[str, Any]) -> Iterator[Event]:
        candidates, feedback = value.get("candidates"), value.get("promptFeedback")
        known = candidates is not None or feedback or "usageMetadata" in value or self._opened
        if value.get("error") or not known:
            if refusal := errors.in_stream(value, self._target, now=self._now()):
                raise refusal
            what = "answered with JSON that is none of Gemini's; does its endpoint speak another API?"
            raise objects.problem(self._target, what, "garbage")
        if not self._opened:
            self._opened = True
            model, name = value.get("modelVersion"), value.get("responseId")
            yield Opened(
                model if isinstance(model, str) and model else None,
                id=name if isinstance(name, str) and name else None,
            )
        if isinstance(spent := value.get("usageMetadata"), dict):
            self._usage = spent
        if isinstance(feedback, dict) and feedback.get("blockReason") and not self.finished:
            self.finished, self._finish = True, "content_filter"
        for candidate in _objects(candidates):
            yield from self._candidate(candidate)

    def close(self, whole: bool) -> Iterator[Event]:
        """The end. A whole answer needs no reason to be one."""
        if not self.finished and not (whole and self._said):
            raise objects.cut(self._target) if self._said or not whole else objects.empty(self._target)
        finish = self._finish
        if finish == "stop" and self._calls.get(0):
            finish = "tool_calls"
        yield Closed(finish, usage.of_gemini(self._usage) if self._usage else Usage())

    def _candidate(self, candidate: Mapping[str, Any]) -> Iterator[Event]:
        index = candidate.get("index")
        choice = index if isinstance(index, int) else 0
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        logprobs = _logprobs(candidate.get("logprobsResult"))
        for part in _objects(parts):
            yield from self._part(part, choice, logprobs)
            logprobs = None
        reason = candidate.get("finishReason")
        if isinstance(reason, str) and reason != UNSPECIFIED:
            self._end(reason, candidate, choice)

    def _part(self, part: Mapping[str, Any], choice: int, logprobs: Any) -> Iterator[Event]:
        call, text = part.get("functionCall"), part.get("text")
        if isinstance(call, dict):
            yield from self._call(call, part.get("thoughtSignature"), choice)
        elif isinstance(text, str) and part.get("thought") is True:
            if text:
                yield Reasoning(text, choice)
        elif isinstance(text, str) and (text or logprobs):
            self._said = True
            yield Text(text, choice, logprobs)

    def _call(self, call: Mapping[str, Any], signature: Any, choice: int) -> Iterator[Event]:
        self._said = True
        at = self._calls.get(choice, 0)
        self._calls[choice] = at + 1
        given = call.get("id")
        call_id = given if isinstance(given, str) and given and given not in self._ids else self._new_id()
        self._ids.add(call_id)
        sealed = signature if isinstance(signature, str) and signature else None
        if sealed:
            gemini_contents.keep(self._target.model_id, call_id, sealed)
        yield ToolStart(at, call_id, str(call.get("name") or ""), choice, signature=sealed)
        args = call.get("args")
        yield ToolArguments(at, as_text(args if isinstance(args, dict) else {}, self._target), choice)

    def _end(self, reason: str, candidate: Mapping[str, Any], choice: int) -> None:
        finish = FINISHES.get(reason, "stop")
        broken = not finish or (reason == "OTHER" and not self._said)
        if broken and choice == 0:
            said = candidate.get("finishMessage")
            word = f"{reason}: {said}" if isinstance(said, str) and said else reason
            raise errors.of_finish(word, self._target, now=self._now())
        if choice == 0:
            self.finished, self._finish = True, finish


def _logprobs(result: Any) -> dict[str, Any] | None:
    """Log probabilities as chat completions say them, token by token."""
    if not isinstance(result, dict):
        return None
    tops = [_objects(top.get("candidates")) for top in _objects(result.get("topCandidates"))]
    content = [
        {**_token(one), "top_logprobs": [_token(other) for other in (tops[at] if at < len(tops) else ())]}
        for at, one in enumerate(_objects(result.get("chosenCandidates")))
    ]
    return {"content": content, "refusal": None} if content else None


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _token(one: Mapping[str, Any]) -> dict[str, Any]:
    token = str(one.get("token", ""))
    return {"token": token, "logprob": one.get("logProbability"), "bytes": list(token.encode())}


# --- the models it serves


def list_models(
    transport: listing.Transport,
    base: str,
    key: str | None,
    profile: str = "",
    *,
    now: Callable[[], float] = time.time,
) -> list[dict[str, Any]]:
    """As listing.list_models, of GET {base}/models, page by page; models that generate nothing are left
    out."""
    host = profile or quirks.host_of(base)
    target = Target(alias=host, model_id="", endpoint=host, connection=host, served="", base=base, key=key)
    found: list[Any] = []
    page = ""
    for _ in range(MOST_PAGES):
        url = _under(base, "/models")
        url += f"{'&' if '?' in url else '?'}pageSize=1000{page}"
        body = listing.fetched(transport, url, _headers(target, stream=False)[1:], target, now=now())
        found += listing.entries(body, url)
        following = _page_after(body)
        if not following:
            break
        page = f"&pageToken={quote(following, safe='')}"
    return listing.models(entry for entry in found if _generates(entry))


MOST_PAGES = 20


def _page_after(body: bytes) -> str:
    value = json.loads(body.decode("utf-8", "replace"))
    token = value.get("nextPageToken") if isinstance(value, dict) else None
    return token if isinstance(token, str) else ""


def _generates(entry: Any) -> bool:
    methods = entry.get("supportedGenerationMethods") if isinstance(entry, dict) else None
    return not isinstance(methods, list) or "generateContent" in methods
