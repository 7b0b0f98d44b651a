"""All we know about Anthropic's Messages as a client: what to send, and how to read what comes back.

The idea: as in chat.py, whatever a server does to an answer is said in the same few events, or is one
Problem. What is asked is written by anthropic_turns (the conversation) and anthropic_options (the rest), as
the model wants it (anthropic_manners); anthropic_events reads what it says. Of a caller of this very API,
`native` holds the fields that chat has no words for, and its `headers` the names of betas.

Shapes and headers: anthropic 2.14.0 for Python. A base URL is taken with or without /v1, as its SDKs take it
without and most other tools with.
"""

import functools
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from metrics.client import anthropic_manners, anthropic_options, anthropic_turns, listing, objects, quirks
from metrics.client.anthropic_events import Messages, broke, finish
from metrics.client.anthropic_manners import Manners, learn
from metrics.client.anthropic_turns import Told
from metrics.client.mould import Mould
from metrics.client.outgoing import EVENTS, JSON, Conversation, Outgoing, address, keyed, to_json
from metrics.events import Burst, Event, Tick
from metrics.records import Problem, Target

__all__ = ["Conversation", "Outgoing", "compose", "learn", "list_models", "read"]

NAME = "anthropic"
VERSION = ("anthropic-version", "2023-06-01")
BETA = "anthropic-beta"
MOST_LISTED = 1000

# Betas of what is done here and not there: threads are the caller's affair with us.
_OURS = ("message-threads-",)


def new_call_id() -> str:
    return f"toolu_{secrets.token_hex(12)}"


# --- sending


def compose(
    target: Target, conversation: Conversation, options: Mapping[str, Any], *, stream: bool = True
) -> Outgoing:
    """The request for one seat. `options` are chat fields; None values count as unset.

    Problem(400) when the base URL, the key or the messages cannot be sent.
    """
    manners = anthropic_manners.of(target)
    own = conversation.native if conversation.api == NAME else None
    thinking = not anthropic_manners.without_thinking(target)
    told = _told(target, conversation, manners, thinking)
    fields, changed = anthropic_options.fields(target, manners, options, own, told)
    head = {"model": target.served, **fields, **({"stream": True} if stream else {})}
    if not thinking and "thinking" in fields:
        del head["thinking"]
        head.pop("context_management", None)
        changed.append("thinking left out (this model did not accept what was thought before)")
    before = to_json(head)[:-1] + (b',"system":' + told.system if told.system else b"") + b',"messages":'
    return Outgoing(
        method="POST",
        url=_url(target.base, "/messages"),
        headers=_headers(target, stream, _betas(own, manners)),
        body=[before, *told.turns, b"}"],
        changed=(*told.changed, *changed),
    )


def _told(target: Target, conversation: Conversation, manners: Manners, thinking: bool) -> Told:
    """The conversation for this model: written once for all seats, unless it holds calls or thoughts, which
    one of them may have sealed."""

    def make() -> Told:
        return anthropic_turns.write(conversation.messages, target, manners, thinking)

    if not thinking or anthropic_turns.sealable(conversation.messages):
        return make()
    return conversation.shared((NAME, manners.system), make)


def _headers(target: Target, stream: bool, betas: str) -> tuple[tuple[str, str], ...]:
    kind, accept, *key = keyed(target.key, target.endpoint, EVENTS if stream else JSON, "x-api-key")
    return (kind, accept, VERSION, *key, *(((BETA, betas),) if betas else ()))


def _betas(own: Mapping[str, Any] | None, manners: Manners) -> str:
    """The caller's betas, without those that this model's server refused."""
    said = (own or {}).get("headers")
    named = said.get(BETA) if isinstance(said, dict) else None
    if not isinstance(named, str) or "*" in manners.betas:
        return ""
    names = [name.strip() for name in named.split(",")]
    return ",".join(n for n in names if n and n not in manners.betas and not n.startswith(_OURS))


@functools.lru_cache(maxsize=512)
def _url(base: str, path: str) -> str:
    """`path` of the API under a base URL, which may end in /v1, in /v1/messages, or in neither."""
    whole, mark, query = address(base, "", "").partition("?")
    root = whole.removesuffix("/messages").removesuffix("/v1")
    return f"{root}/v1{path}{mark}{query}"


# --- reading


def read(
    arrival: objects.Incoming,
    target: Target,
    *,
    relay: bool = False,
    tick: float | None = None,
    now: Callable[[], float] = time.time,
    new_id: Callable[[], str] = new_call_id,
) -> Iterator[Event]:
    """The events of an answer: Opened, Text, Reasoning, ToolStart, ToolArguments, Burst, Tick, and at last
    Closed.

    `tick` is passed to the transport; there is nothing to relay. Raises Problem: the provider's refusal (with
    its status), "empty", "cut" and "garbage" (502), and the transport's.
    """
    messages = Messages(target, now, new_id)
    mould = Mould(messages.go_on)
    whole = False
    try:
        for one in objects.read(arrival, target, tick=tick, now=now, mould=mould):
            if one is None:
                yield Tick()
                continue
            if isinstance(one, Burst):
                yield one
                continue
            whole = one.whole
            events = list(messages.take(one.value, one.event))
            if piece := messages.only_piece(one.value, events):
                mould.learn(piece)
            yield from events
            if messages.over:
                break
    except Problem as problem:
        broke(problem, messages)
    if messages.over and not whole:
        objects.settle(arrival)
    yield from finish(messages, target, whole)


# --- listing


def list_models(
    transport: listing.Transport,
    base: str,
    key: str | None,
    profile: str = "",
    *,
    now: Callable[[], float] = time.time,
) -> list[dict[str, Any]]:
    """What GET {base}/v1/models names, as listing.list_models tells it. All of Claude's models call tools
    (agents-and-tools/tool-use/overview), which the list does not say."""
    host = profile or quirks.host_of(base)
    url = _url(base, "/models")
    url += f"{'&' if '?' in url else '?'}limit={MOST_LISTED}"
    target = Target(
        alias=host, model_id="", endpoint=host, connection=host, served="", base=base, api=NAME, key=key
    )
    body = listing.fetched(transport, url, _headers(target, False, "")[1:], target, now=now())
    found = listing.models(listing.entries(body, url))
    return [{**model, **({"tools": True} if "claude" in model["served"] else {})} for model in found]
