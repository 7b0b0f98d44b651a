"""The openai library's checks of legacy completions; `run_openai_responses.py` runs them."""

import openai

from tests.clients.checks import Checks, equal, holds, raises
from tests.provider import Provider


def checks(check: Checks, client: openai.OpenAI, provider: Provider) -> None:
    ask = client.completions.create

    for model in ("bench/pair", "c-plain:route"):

        @check(f"completions: asks {model}")
        def _(model: str = model) -> None:
            for asked in ("hello", ["hello"]):
                reply = ask(model=model, prompt=asked, max_tokens=9)
                holds(reply.choices[0].text, "first answer")
                equal((reply.object, reply.id[:5], reply.model), ("text_completion", "cmpl-", model))
                equal((reply.choices[0].finish_reason, reply.usage.total_tokens > 0), ("stop", True))
                equal("bench" in reply.model_extra, True)

        for wants_usage in (False, True):

            @check(f"completions: streams {model}, include_usage={wants_usage}")
            def _(model: str = model, wants_usage: bool = wants_usage) -> None:
                said, finish, usage, told, ids = "", None, None, None, set()
                for piece in ask(
                    model=model, prompt="hello", stream=True, stream_options={"include_usage": wants_usage}
                ):
                    ids.add((piece.id[:5], piece.id, piece.object))
                    usage = piece.usage or usage
                    told = (piece.model_extra or {}).get("bench", told)
                    for choice in piece.choices:
                        said += choice.text
                        finish = choice.finish_reason or finish
                holds(said, "first answer")
                equal((finish, bool(usage), bool(told), len(ids)), ("stop", wants_usage, True, 1))

    @check("completions: what a member gets")
    def _() -> None:
        ask(model="c-plain:route", prompt="x", stop=["a"], seed=3, frequency_penalty=1, user="u")
        sent = provider.requests[-1].json
        equal(sent["messages"], [{"role": "user", "content": "x"}])
        equal((sent["stop"], sent["seed"], sent["frequency_penalty"], sent["user"]), (["a"], 3, 1, "u"))

    @check("completions: how an answer ended")
    def _() -> None:
        for model, why in (("long", "length"), ("filtered", "content_filter")):
            equal(ask(model=f"c-{model}:route", prompt="x").choices[0].finish_reason, why)

    for name, fields in (
        ("several prompts", {"prompt": ["a", "b"]}),
        ("tokens", {"prompt": [1, 2]}),
        ("lists of tokens", {"prompt": [[1, 2]]}),
        ("a suffix", {"prompt": "a", "suffix": "b"}),
        ("echo", {"prompt": "a", "echo": True}),
        ("n", {"prompt": "a", "n": 2}),
        ("best_of", {"prompt": "a", "best_of": 2}),
    ):

        @check(f"completions: 400 for {name}")
        def _(fields: dict[str, object] = fields) -> None:
            problem = raises(openai.BadRequestError, lambda: ask(model="core", **fields))
            equal(problem.param, list(fields)[-1])

    @check("completions: a stream that breaks off raises")
    def _() -> None:
        pieces = ask(model="c-cut:route", prompt="x", stream=True)
        raises(openai.APIError, lambda: list(pieces))
