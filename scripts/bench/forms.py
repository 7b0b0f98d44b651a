"""One question in each of the formats that callers speak: the path it is sent to, and its body.

A row of FORMS for each. The question is the same text, and perhaps a picture, in all of them, so that what
differs between two measurements is the format."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scripts.bench.load import Job

CHAT = "chat"  # what all others are compared with
LABEL = "image/png"
LIMIT = 500  # tokens; Messages wants one

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """`picture` is a PNG in base64; "" for none."""

    model: str
    text: str
    stream: bool = False
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """`path` and `body` of a question. `sees`: whether it can hold a picture."""

    name: str
    path: Callable[[Question], str]
    body: Callable[[Question], Body]
    sees: bool = True

    def job(self, port: int, question: Question, connections: int = 1) -> Job:
        return Job(port, self.path(question), json.dumps(self.body(question)), connections, mark="dog.")


def _chat(asked: Question) -> Body:
    parts: list[Body] = [{"type": "text", "text": asked.text}]
    if asked.picture:
        parts.append({"type": "image_url", "image_url": {"url": _data_url(asked)}})
    return _named(asked) | {"messages": [{"role": "user", "content": parts if asked.picture else asked.text}]}


def _responses(asked: Question) -> Body:
    parts = [{"type": "input_text", "text": asked.text}]
    if asked.picture:
        parts.append({"type": "input_image", "image_url": _data_url(asked)})
    return _named(asked) | {"input": [{"role": "user", "content": parts}]}


def _completions(asked: Question) -> Body:
    return _named(asked) | {"prompt": asked.text}


def _messages(asked: Question) -> Body:
    blocks: list[Body] = [{"type": "text", "text": asked.text}]
    if asked.picture:
        source = {"type": "base64", "media_type": LABEL, "data": asked.picture}
        blocks.append({"type": "image", "source": source})
    return _named(asked) | {"max_tokens": LIMIT, "messages": [{"role": "user", "content": blocks}]}


def _ollama_chat(asked: Question) -> Body:
    return _named(asked) | {"messages": [{"role": "user", "content": asked.text, **_images(asked)}]}


def _ollama_generate(asked: Question) -> Body:
    return _named(asked) | {"prompt": asked.text, **_images(asked)}


def _gemini(asked: Question) -> Body:
    parts: list[Body] = [{"text": asked.text}]
    if asked.picture:
        parts.append({"inlineData": {"mimeType": LABEL, "data": asked.picture}})
    return {"contents": [{"role": "user", "parts": parts}]}


def _gemini_path(asked: Question) -> str:
    verb = "streamGenerateContent?alt=sse" if asked.stream else "generateContent"
    return f"/v1beta/models/{asked.model}:{verb}"


def _named(asked: Question) -> Body:
    return {"model": asked.model, "stream": asked.stream}


def _images(asked: Question) -> Mapping[str, Any]:
    return {"images": [asked.picture]} if asked.picture else {}


def _data_url(asked: Question) -> str:
    return f"data:{LABEL};base64,{asked.picture}"


def _at(path: str) -> Callable[[Question], str]:
    return lambda asked: path


FORMS = (
    Form(CHAT, _at("/v1/chat/completions"), _chat),
    Form("responses", _at("/v1/responses"), _responses),
    Form("completions", _at("/v1/completions"), _completions, sees=False),
    Form("messages", _at("/v1/messages"), _messages),
    Form("ollama chat", _at("/api/chat"), _ollama_chat),
    Form("ollama generate", _at("/api/generate"), _ollama_generate),
    Form("gemini", _gemini_path, _gemini),
)
