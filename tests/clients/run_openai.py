"""The openai library for Python against a real server: list, ask, stream, and each error class.

pip install openai && python tests/clients/run_openai.py
"""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import openai

from tests.clients.checks import Checks, equal, holds, raises
from tests.provider import Provider, error, gated, text
from tests.running import Running

HELLO = [{"role": "user", "content": "hello"}]


def main() -> int:
    with Provider() as provider, Running() as bench:
        bench.seat("pair", provider.base, "m1", "m2")
        for alias, answer in {
            "limited": error(429, "slow down", headers={"Retry-After": "77"}),
            "refusing": error(400, "no such parameter"),
            "broken": error(500, "boom"),
        }.items():
            provider.script(alias, answer)
            bench.seat(f"c-{alias}", provider.base, alias)
        provider.script("m1", text("first answer"))
        client = openai.OpenAI(base_url=f"{bench.url}/v1", api_key="unused", max_retries=0, timeout=60)
        return run(client, provider, bench)


def run(client: openai.OpenAI, provider: Provider, bench: Running) -> int:
    check = Checks(f"openai {openai.__version__}")
    ask = client.chat.completions.create

    @check("lists collections, page and fields")
    def _() -> None:
        listed = client.models.list()
        for wanted in ("bench/core", "bench/core:merged", "bench/pair"):
            equal(wanted in [model.id for model in listed], True)
        equal({model.object for model in listed.data}, {"model"})

    @check("retrieves one, whose id holds / and :")
    def _() -> None:
        for name in ("bench/core", "bench/core:merged", "core"):
            equal(client.models.retrieve(name).id, name)

    @check("asks a panel")
    def _() -> None:
        reply = ask(model="bench/pair", messages=HELLO)
        holds(reply.choices[0].message.content, "first answer")
        holds(reply.choices[0].message.content, "### m2")
        equal(reply.choices[0].finish_reason, "stop")
        equal(reply.usage.total_tokens > 0, True)
        equal(len(reply.model_extra["bench"]["seats"]), 2)

    @check("asks the practice squad, with turns and options")
    def _() -> None:
        turns = [{"role": "developer", "content": "d"}, *HELLO, {"role": "assistant", "content": "a"}, *HELLO]
        holds(
            ask(model="core", messages=turns, temperature=0.2, seed=1, max_completion_tokens=99)
            .choices[0]
            .message.content,
            "practice-lint",
        )

    for wants_usage in (False, True):

        @check(f"streams a panel, include_usage={wants_usage}")
        def _(wants_usage: bool = wants_usage) -> None:
            said, finish, usage, bench_object = "", None, None, None
            for chunk in ask(
                model="bench/pair", messages=HELLO, stream=True, stream_options={"include_usage": wants_usage}
            ):
                usage = chunk.usage or usage
                bench_object = (chunk.model_extra or {}).get("bench", bench_object)
                equal(bool(chunk.choices) or wants_usage, True)
                for choice in chunk.choices:
                    said += choice.delta.content or ""
                    finish = choice.finish_reason or finish
            holds(said, "first answer")
            equal((finish, bool(usage), len(bench_object["seats"])), ("stop", wants_usage, 2))

    @check("400: an unknown role")
    def _() -> None:
        problem = raises(
            openai.BadRequestError, lambda: ask(model="core", messages=[{"role": "banana", "content": "x"}])
        )
        equal(problem.param, "messages[0].role")

    @check("400: the members' own, when all say so")
    def _() -> None:
        holds(
            str(raises(openai.BadRequestError, lambda: ask(model="c-refusing", messages=HELLO))),
            "no such parameter",
        )

    @check("404: an unknown collection lists what there is")
    def _() -> None:
        problem = raises(openai.NotFoundError, lambda: ask(model="bench/typo", messages=HELLO))
        holds(str(problem), "core")
        equal(problem.code, "model_not_found")

    @check("413: a body that is too large")
    def _() -> None:
        problem = raises(
            openai.APIStatusError,
            lambda: ask(model="core", messages=[{"role": "user", "content": "x" * 20_000_001}]),
        )
        equal(problem.status_code, 413)

    @check("429: every seat limited, with the wait")
    def _() -> None:
        problem = raises(openai.RateLimitError, lambda: ask(model="c-limited", messages=HELLO))
        # What is left of it: the later ones are not sent before.
        equal(0 < int(problem.response.headers["retry-after"]) <= 77, True)

    @check("429: streamed, the status is kept")
    def _() -> None:
        raises(openai.RateLimitError, lambda: ask(model="c-limited", messages=HELLO, stream=True))

    @check("502: every seat broken")
    def _() -> None:
        equal(
            raises(openai.InternalServerError, lambda: ask(model="c-broken", messages=HELLO)).status_code, 502
        )

    @check("a retry joins the panel that is still playing")
    def _() -> None:
        gate = threading.Event()
        provider.script("m2", gated(["late answer"], [gate]))
        threading.Timer(2.5, gate.set).start()  # after the first try has timed out and the next has come
        before = len(provider.of("m2"))
        reply = client.with_options(timeout=1.5, max_retries=3).chat.completions.create(
            model="bench/pair", messages=[{"role": "user", "content": "said twice"}]
        )
        holds(reply.choices[0].message.content, "late answer")
        equal(len(provider.of("m2")) - before, 1)

    @check("every reply names its request")
    def _() -> None:
        raw = client.models.with_raw_response.list()
        equal(bool(raw.headers["x-request-id"] and raw.headers["x-benchwarmers-version"]), True)

    return check.end()


if __name__ == "__main__":
    sys.exit(main())
