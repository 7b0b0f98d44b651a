"""Which module speaks which API of providers: a target's `api` is a key here.

A dialect has what chat.py has: compose(target, conversation, options, stream=), read(arrival, target,
relay=, tick=), list_models(transport, base, key, profile), and learn(target, problem): whether a refusal
taught how to ask better, so that composing and sending once more is worth it. `options` are fields of chat
completions, sampling and what only route mode passes on (tools, tool_choice, response_format,
reasoning_effort …); fields of the caller's own API are in `conversation.native` when `conversation.api` is
the dialect's name.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from metrics.client import anthropic, chat, gemini, ollama, responses
from metrics.client.outgoing import Conversation, Outgoing
from metrics.records import Problem, Target

DIALECTS: Mapping[str, ModuleType] = {
    "chat": chat,
    "anthropic": anthropic,
    "gemini": gemini,
    "responses": responses,
    "ollama": ollama,
}


def compose(
    target: Target, conversation: Conversation, options: Mapping[str, Any], *, stream: bool = True
) -> Outgoing:
    """The request for one seat, in its own dialect. Problem 400 for one that cannot be sent, also because it
    is nested so deep that it cannot be written."""
    try:
        outgoing: Outgoing = DIALECTS[target.api].compose(target, conversation, options, stream=stream)
    except RecursionError as error:
        said = f"{target.alias}: something in the request is nested too deep to be sent"
        raise Problem(400, said, kind="bad_request", retryable=False) from error
    return outgoing
