"""Ids of tool calls, and what some chat servers want of calls in a conversation that others are content
without: an id in a form of theirs, and the seal that came with the call.

An id only tells a call from others, so another that is made from it will do, the same for the call and its
result. A seal (Gemini's thought signature, where its OpenAI-compatible endpoint has it) goes back to the
model that made it; where it is lost, the provider's own word says that there is none
(ai.google.dev/gemini-api/docs/thought-signatures).
"""

import hashlib
import re
import secrets
from collections.abc import Iterable
from typing import Any

from metrics.client import seals
from metrics.records import Message

SKIP = "skip_thought_signature_validator"


def new() -> str:
    """An id for a call that came without one."""
    return f"call_{secrets.token_hex(12)}"


def unfit(messages: Iterable[Message], pattern: str) -> bool:
    """Whether any call has an id that does not match."""
    form = re.compile(pattern)
    return any(
        isinstance(call.get("id"), str) and not form.fullmatch(call["id"])
        for message in messages
        for call in message.get("tool_calls") or ()
        if isinstance(call, dict)
    )


def fitted(message: Message, pattern: str) -> Message:
    """`message` with ids that match. What is made has 9 letters and digits, which every known form takes."""
    form = re.compile(pattern)
    if isinstance(message.get("tool_call_id"), str):
        return {**message, "tool_call_id": fit(message["tool_call_id"], form)}
    if not message.get("tool_calls"):
        return message
    calls = [
        {**call, "id": fit(call["id"], form)}
        if isinstance(call, dict) and isinstance(call.get("id"), str)
        else call
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def fit(call_id: str, form: re.Pattern[str]) -> str:
    """An id of this form: the call's own, or one made from it."""
    if form.fullmatch(call_id):
        return call_id
    return hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:9]


def sealed(message: Message, model_id: str) -> Message:
    """`message` with the seals of `model_id` on its calls; the first call of a step must have one."""
    calls = message.get("tool_calls")
    if not calls:
        return message
    made = [
        _sealed(call, model_id, first=at == 0) if isinstance(call, dict) else call
        for at, call in enumerate(calls)
    ]
    return {**message, "tool_calls": made}


def _sealed(call: dict[str, Any], model_id: str, first: bool) -> dict[str, Any]:
    found = seals.find(model_id, str(call.get("id")))
    if not isinstance(found, str):
        if call.get("extra_content"):  # its caller kept it
            return call
        found = SKIP if first else None
    return {**call, "extra_content": {"google": {"thought_signature": found}}} if found else call
