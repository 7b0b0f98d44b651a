"""OpenAI's legacy completions as a server: `POST /v1/completions`.

A prompt is asked as one user message: members are chat models, and none of them goes on with a text as the
models of that API did. So what only makes sense there is refused by name, above all `suffix`: editors send it
to fill a gap in code, and an answer in words would end up in the file.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from metrics.events import Burst, Chunk, Closed, Event, Failed, Text, Tick
from metrics.formats import content, framing, lines, openai_chat
from metrics.formats.protocol import Stamp, pieces
from metrics.records import Reply, Request
from metrics.web.table import Call

NAME = "openai-completions"
PATHS = (("POST", "/v1/completions", "ask"),)

# Fields that mean the same to a chat member. Of an answer's shape: a panel leaves all but `user` out.
PASSED = ("presence_penalty", "frequency_penalty", "logit_bias", "user")
SHAPING = ("presence_penalty", "frequency_penalty", "logit_bias", "logprobs")
FINISHES = ("stop", "length", "content_filter")

TOKENS = "token ids mean something to one model's tokenizer only; send the prompt as text"
FILL_IN = (
    "members answer in words and do not fill in code; ask without it, or use another model for completion"
)


def parse(call: Call) -> Request:
    body = call.json()
    model, collection, mode = content.address(body)
    _refuse(body)
    return Request(
        model=model,
        collection=collection,
        reply=mode,
        messages=[{"role": "user", "content": prompt(body.get("prompt"))}],
        options=content.sampling(body),
        passed={name: body[name] for name in PASSED if body.get(name) is not None},
        stream=content.flag(body, "stream"),
        include_usage=content.flag(content.member(body, "stream_options"), "include_usage"),
        ignored=content.unused({name: body.get(name) for name in SHAPING}),
        format=NAME,
        session=content.session(call, body),
        **content.wishes(body),
        **content.asker(call),
    )


def prompt(value: Any) -> str:
    """The one prompt: a string, alone or in a list. One without words is refused, as in every format."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None or value == "":
        raise content.refuse('"prompt" must be a text: what the members are asked', "prompt")
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        raise content.refuse(
            f'"prompt" holds {len(value)} prompts: a request asks one; send one request for each', "prompt"
        )
    if isinstance(value, list | int):
        raise content.refuse(f'"prompt": {TOKENS}', "prompt")
    raise content.refuse('"prompt" must be a string', "prompt")


def _refuse(body: Mapping[str, Any]) -> None:
    if body.get("suffix") not in (None, ""):
        raise content.refuse(f'"suffix": {FILL_IN}', "suffix")
    if content.flag(body, "echo"):
        raise content.refuse('"echo": put the prompt before the answer yourself', "echo")
    for name, least in (("n", 1), ("best_of", 0)):
        count = content.whole(body, name, least)
        if count is not None and count > 1:
            raise content.refuse(
                f'"{name}" is {count}: a request gets one answer; send it again for more', name
            )
    content.whole(body, "logprobs", 0)
    content.member(body, "logit_bias")
    for name in ("presence_penalty", "frequency_penalty"):
        content.number(body, name, -2, 2)


def reply(request: Request, reply: Reply, stamp: Stamp) -> Mapping[str, Any]:
    return {
        **_head(request, stamp),
        "choices": [_choice(reply.text, _finish(reply.finish))],
        "usage": openai_chat.usage(reply.usage),
        **reply.extra,
    }


def _head(request: Request, stamp: Stamp) -> dict[str, Any]:
    return {
        "id": f"cmpl-{stamp.token}",
        "object": "text_completion",
        "created": stamp.created,
        "model": request.model,
    }


def _choice(text: str, finish: str | None) -> dict[str, Any]:
    return {"text": text, "index": 0, "logprobs": None, "finish_reason": finish}


def _finish(finish: str) -> str:
    return finish if finish in FINISHES else "stop"


def stream(request: Request, events: Iterable[Event], stamp: Stamp) -> Iterator[bytes]:
    chunks = _Chunks(request, stamp)
    yield b""  # the head goes out at once: a member may think for long before its first word
    yield from pieces(events, chunks.of)


class _Chunks:
    """The chunks of one stream: all carry the same id, time and model, written out once."""

    def __init__(self, request: Request, stamp: Stamp) -> None:
        self._usage = request.include_usage
        self._head = b"data: " + framing.as_bytes(_head(request, stamp))[:-1]
        # With include_usage every chunk but the last says usage: null.
        self._end = b',"usage":null}\n\n' if self._usage else b"}\n\n"
        self._before = self._head + b',"choices":[{"text":'
        self._after = b',"index":0,"logprobs":null,"finish_reason":null}]' + self._end

    def of(self, event: Event) -> bytes:
        match event:
            case Text(text, 0) if text:
                return self._before + framing.as_bytes(text) + self._after
            case Burst(Text(choice=0), spelled=spelled):
                return lines.between(self._before + b'"', spelled, b'"' + self._after)
            case Chunk(_, meanings):
                return b"".join(map(self.of, meanings))
            case Tick():
                return framing.KEEP_ALIVE
            case Closed():
                return self._close(event)
            case Failed(problem):
                return framing.sse(openai_chat.shape(problem))
        return b""

    def _close(self, closed: Closed) -> bytes:
        end = {"choices": [_choice("", _finish(closed.finish))], **closed.extra}
        last = self._head + b"," + framing.as_bytes(end)[1:-1] + self._end
        if self._usage:
            told = {"choices": [], "usage": openai_chat.usage(closed.usage)}
            last += self._head + b"," + framing.as_bytes(told)[1:] + b"\n\n"
        return last + framing.DONE


stream_headers = openai_chat.stream_headers
error = openai_chat.error
