"""Every refusal and failure that Anthropic's library for Python has a class for.

`ask` is messages.create with what each request has.
"""

from collections.abc import Callable
from typing import Any

import anthropic

from tests.clients.checks import Checks, equal, holds, raises

TOOL = {"name": "look", "input_schema": {"type": "object"}}
PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}}


def refusals(check: Checks, ask: Callable[..., Any]) -> None:
    cases = [
        ("no max_tokens", {"max_tokens": None}, "max_tokens"),
        ("tools in a panel", {"tools": [TOOL]}, ":route"),
        ("a server tool", {"tools": [{"type": "web_search_20260318", "name": "web_search"}]}, "Anthropic"),
        ("a tool without schema", {"tools": [{"type": "bash_20250124", "name": "bash"}]}, "input_schema"),
        ("a PDF", {"messages": [{"role": "user", "content": [PDF]}]}, "PDF"),
        ("an unknown role", {"messages": [{"role": "banana", "content": "x"}]}, "banana"),
    ]
    for name, fields, said in cases:

        @check(f"400: {name}")
        def _(fields=fields, said=said) -> None:
            problem = raises(anthropic.BadRequestError, lambda: ask("pair", **fields))
            holds(problem.body["error"]["message"], said)
            equal(problem.body["error"]["type"], "invalid_request_error")
            equal(bool(problem.body["request_id"]), True)
            equal(problem.request_id, problem.body["request_id"])
            equal(problem.response.headers["x-should-retry"], "false")

    @check("404: an unknown collection lists what there is")
    def _() -> None:
        holds(str(raises(anthropic.NotFoundError, lambda: ask("bench/typo"))), "core")

    @check("404: a thread that is not kept, in the words its SDK acts on")
    def _() -> None:
        thread = {"type": "continue", "previous_message_id": "msg_1"}
        problem = raises(anthropic.NotFoundError, lambda: ask("pair", extra_body={"thread": thread}))
        equal(problem.body["error"]["details"], {"error_code": "thread_not_found"})

    @check("413: a body that is too large")
    def _() -> None:
        large = [{"role": "user", "content": "x" * 20_000_001}]
        problem = raises(anthropic.RequestTooLargeError, lambda: ask("pair", large))
        equal(problem.body["error"]["type"], "request_too_large")


def failures(check: Checks, ask: Callable[..., Any]) -> None:
    for mode in ("all", "route"):
        for stream in (False, True):

            @check(f"429: {mode}, stream={stream}: the wait is told")
            def _(mode: str = mode, stream: bool = stream) -> None:
                problem = raises(anthropic.RateLimitError, lambda: ask(f"c-limited:{mode}", stream=stream))
                # What is left of it: the later ones are not sent before.
                equal(0 < int(problem.response.headers["retry-after"]) <= 77, True)
                equal(problem.body["error"]["type"], "rate_limit_error")

        @check(f"400: {mode}: the member's own")
        def _(mode: str = mode) -> None:
            problem = raises(anthropic.BadRequestError, lambda: ask(f"c-refusing:{mode}"))
            holds(str(problem), "no such parameter")

        @check(f"502: {mode}: a broken member")
        def _(mode: str = mode) -> None:
            problem = raises(anthropic.InternalServerError, lambda: ask(f"c-broken:{mode}"))
            equal(problem.body["error"]["type"], "api_error")

    for alias, kind in (("busy", "overloaded_error"), ("unpaid", "billing_error")):

        @check(f"{kind} where a member says so")
        def _(alias: str = alias, kind: str = kind) -> None:
            problem = raises(anthropic.APIStatusError, lambda: ask(f"c-{alias}:route"))
            equal(problem.body["error"]["type"], kind)
