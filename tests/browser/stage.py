"""A bench worth looking at: a server, a scripted provider, and panels and conversations really asked.

`python3 -m tests.browser.stage` keeps one standing, prints its address, and ends with its standard input.
"""

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Any

from metrics.commands.login import VARIABLE
from tests.browser import past, words, yesterday
from tests.provider import HANG, Provider, chunk, error, stream, text
from tests.running import Running

MODELS = {
    **{name: (text(said),) for name, said in words.RETRY.items()},
    "gpt-oss-120b": (error(429, "free quota used up", headers={"Retry-After": "3600"}),),
}
# Served, and not on the bench: whoever wants to stop one, or to ask one again, seats it.
UNSEATED = {
    "slow-7b": (stream(chunk({"content": "Half an answer. "}), HANG),),
    "flaky-7b": (error(401, "the key is not known yet"), text("Now it answers.")),
}
KEYS = (
    ("notebook",),
    ("ci", "--collections", "review", "--rpm", "30", "--budget", "5usd/month", "--expires", "90d"),
    ("editor", "--collections", "review,code", "--modes", "route", "--rpm", "60", "--tpm", "40000"),
    ("old-laptop", "--models", "kimi-k3,glm-5.2"),
)
TASKS = ("Fix the flaky upload test and open a branch", "Add a --fields option to bench log")


TOKEN = "a-token-of-the-stage"  # of an admin, where the stage asks who is there


@contextlib.contextmanager
def stage(token: str = "") -> Iterator[Running]:
    """The server with everything on it; its provider ends before it. With a `token` it asks who is there."""
    named = {VARIABLE: token} if token else {}
    bench = Running(**named)
    past.write(bench.home)
    yesterday.write(bench.home)
    with bench, Provider(MODELS) as provider:
        bench.typed_in = named
        for name, answers in MODELS.items():
            provider.script(name, *answers)
        for name, answers in UNSEATED.items():
            provider.script(name, *answers)
        bench.do("endpoint", "add", "hub", "--base", provider.base, "--key-stdin", stdin="sk-stage-4f7a\n")
        for name in MODELS:
            bench.do("model", "add", name, "--endpoint", "hub", "--served", name)
        for name, (paid, out, cached) in PRICES.items():
            price = {"input": paid, "output": out, "cache_read": cached}
            post(bench, "/api/model", {"alias": name, "price": price})
        post(bench, "/api/collection", {"name": "review", "members": ["kimi-k3", "glm-5.2"], "explorers": 2})
        post(
            bench,
            "/api/collection",
            {"name": "code", "members": ["gpt-oss-120b", "qwen3.5-coder", "kimi-k3"]},
        )
        panels = [asked(bench, provider, question) for question in words.ASKED]
        judge(bench, panels[0])
        decide(bench, panels[-1])
        for task in TASKS:
            converse(bench, provider, task)
        for options in KEYS:
            bench.do("key", "create", *options)
        bench.do("key", "disable", "old-laptop")
        bench.do("budget", "set", "2usd/day,20usd/month", "--collection", "review", "--unknown-cost", "allow")
        limit(bench, provider)
        yield bench


PRICES = {"kimi-k3": (0.6, 2.5, 0.15), "glm-5.2": (0.4, 1.8, 0.1), "qwen3.5-coder": (0.1, 0.4, None)}


BRISK = 'q=2;w=6;qu="requests"'  # two calls in six seconds, says who serves brisk-mini


def limit(bench: Running, provider: Provider) -> None:
    """Connections that stand differently: one with limits, one that has used up its day, one whose provider
    tells of a short window, one on this computer of which nothing is known. Their models sit only when they
    are named."""
    policy = {"RateLimit-Policy": f'"calls";{BRISK}'}
    said = [policy | {"RateLimit": f'"calls";r={left};t=6'} for left in (1, 0, 1)]
    provider.script("brisk-mini", *(text("ready", headers=each) for each in said))
    limits = {"rpd": 5000, "usd_month": 20}
    post(bench, "/api/connection-limits", {"connection": "hub", "limits": limits})
    for name, kind in (("relay", "provider"), ("brisk", "provider"), ("workstation", "local")):
        post(bench, "/api/endpoint", {"name": name, "base": provider.base, "kind": kind, "test": False})
    for alias, endpoint in (("swift-mini", "relay"), ("brisk-mini", "brisk")):
        model = {"alias": alias, "endpoint": endpoint, "served": alias, "ad_hoc": True}
        post(bench, "/api/model/add", model)
    post(bench, "/api/connection-limits", {"connection": "relay", "limits": {"rpd": 2, "rpm": 20}})
    for _ in range(2):
        post(bench, "/api/probe", {"name": "swift-mini"})


def asked(bench: Running, provider: Provider, question: str) -> list[dict[str, Any]]:
    """The seats of a panel that has answered `question`, each model in its own words."""
    for name, said in words.ASKED[question].items():
        provider.script(name, text(said))
    body = {"model": "bench/review", "messages": [{"role": "user", "content": question}]}
    events = post(bench, "/api/ask", body)
    told = [json.loads(line) for line in events.splitlines()] if isinstance(events, str) else [events]
    return next(event["seats"] for event in told if event.get("event") == "panel.started")


def judge(bench: Running, seats: list[dict[str, Any]]) -> None:
    """A verdict on the members, and on what nobody wants to read first."""
    post(bench, "/api/verdict", {"call": seats[0]["call"], "useful": True})
    post(bench, "/api/verdict", {"call": seats[1]["call"], "useful": False, "note": "too short"})
    for seat in seats[2:]:
        if seat["alias"] == "nemotron-ultra":
            post(bench, "/api/verdict", {"call": seat["call"], "useful": False})


def decide(bench: Running, seats: list[dict[str, Any]]) -> None:
    """Claims of some answers, real and false, and no verdict yet."""
    answers = list(words.ASKED.values())[-1]
    for seat in seats:
        claims = [
            {"quote": quote, "start": at, "end": at + len(quote), "decision": decision}
            for quote, decision in words.DECIDED.get(seat["alias"], ())
            for at in [answers[seat["alias"]].index(quote)]
        ]
        if claims:
            post(bench, "/api/verdict", {"call": seat["call"], "claims": claims})


def converse(bench: Running, provider: Provider, task: str, turns: int = 4) -> None:
    """An agent's conversation in route mode. Whoever plays it fails in the third turn; another takes over."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    player = ""
    for turn in range(1, turns + 1):
        if turn == 3:
            provider.script(player, error(503, "overloaded"))
        reply = post(bench, "/v1/chat/completions", {"model": "bench/code:route", "messages": messages})
        said, player = reply["choices"][0]["message"]["content"], reply["bench"]["alias"]
        messages += [
            {"role": "assistant", "content": said},
            {"role": "user", "content": f"Go on, step {turn + 1}."},
        ]
    for name, answers in MODELS.items():
        provider.script(name, *answers)


def post(bench: Running, path: str, body: Any) -> Any:
    """What came of a POST that must work."""
    token = bench.typed_in.get(VARIABLE)
    status, reply = bench.post(path, body, **({"Authorization": f"Bearer {token}"} if token else {}))
    if status != 200:
        raise AssertionError(f"{path} answered {status}: {reply}")
    return reply


def main() -> None:
    with stage() as bench:
        print(bench.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
