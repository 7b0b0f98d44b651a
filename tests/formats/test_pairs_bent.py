"""Every caller's format with every provider's API, when one of them sends what it should not: it is answered
or refused, and never an error of ours."""

import contextlib
import json
import random
import unittest
from dataclasses import replace

from metrics.client import seals
from metrics.client.dialects import DIALECTS
from metrics.events import gather
from metrics.formats.protocol import Stamp
from metrics.records import Problem
from metrics.web.table import json_bytes
from tests.client import anthropic_said, responses_said
from tests.client.arrivals import TARGET, Arrived, call, chunk, part
from tests.formats import mutants
from tests.formats.pairs_answered import ANSWERS, OUTCOMES, composed
from tests.formats.pairs_asked import CALLERS, CHAT, RESPONSES, asked, parsed

STAMP = Stamp("ab12", 1_796_000_000)
COUNT = 80
THOUGHT = responses_said.thought("hm", "c2ln")

# What the outcomes of `pairs_answered` leave out.
RICH = {
    "chat": b"".join(
        [
            chunk({"reasoning_content": "hm", "reasoning_details": [{"text": "hm"}]}, model="m"),
            chunk({"content": [{"type": "thinking", "thinking": [{"text": "a"}]}, {"text": "b"}]}),
            chunk({"content": "a", "refusal": "b"}, logprobs={"content": [{"token": "a"}]}),
            call({**part(0, "{}", "x", "look"), "extra_content": {"google": {"thought_signature": "s"}}}),
            chunk({"function_call": {"name": "go", "arguments": "{}"}}),
            chunk({}, "stop", usage={"prompt_tokens": 1, "completion_tokens": 2, "cost": 0.5}),
        ]
    ),
    "anthropic": b"".join(
        [
            anthropic_said.START + anthropic_said.thought(0, "hm", "c2ln"),
            anthropic_said.begin(1, **anthropic_said.REDACTED) + anthropic_said.end(1),
            anthropic_said.said(2, "a", "b") + anthropic_said.use(3, "t1", '{"a":', "1}"),
            anthropic_said.stop("tool_use"),
        ]
    ),
    "responses": b"".join(
        [
            responses_said.CREATED + responses_said.added(0, responses_said.thought("")),
            responses_said.delta("reasoning_summary_text", 0, "hm", summary_index=0),
            responses_said.done(0, THOUGHT),
            responses_said.delta("output_text", 1, "a", item_id="msg_1", logprobs=[{"token": "a"}]),
            responses_said.done(1, responses_said.text("a", phase="commentary")),
            responses_said.added(2, responses_said.call("look", "", "c1", namespace="n")),
            responses_said.delta("function_call_arguments", 2, "{}"),
            responses_said.done(3, responses_said.custom("go", "x", "c2")),
            responses_said.completed(THOUGHT, responses_said.text("a")),
        ]
    ),
}

# What the conversation of `pairs_asked` leaves out, by format.
FORM = {"type": "json_schema", "json_schema": {"name": "f", "schema": {"allOf": [{"$ref": "#/x"}]}}}
ALLOWED = {"mode": "auto", "tools": [{"type": "function", "function": {"name": "look"}}]}
GRAMMAR = {"syntax": "lark", "definition": "x"}
PATCH = {"name": "patch", "format": {"type": "grammar", "grammar": GRAMMAR}}
MORE = {
    "openai-chat": {
        "tools": [*CHAT["tools"], {"type": "custom", "custom": PATCH}],
        "tool_choice": {"type": "allowed_tools", "allowed_tools": ALLOWED},
        "response_format": FORM,
        "reasoning_effort": "low",
        "seed": 1,
        "user": "u",
        "logit_bias": {"1": 2},
        "logprobs": True,
        "top_logprobs": 1,
        "parallel_tool_calls": False,
        "top_p": 0.5,
    },
    "openai-responses": {
        "tools": [*RESPONSES["tools"], {"type": "custom", "name": "patch", "format": {"type": "text"}}],
        "tool_choice": {"type": "function", "name": "look"},
        "input": [*RESPONSES["input"], THOUGHT, {"role": "developer", "content": "x"}],
        "text": {"format": {"type": "json_schema", "name": "f", "schema": {}}, "verbosity": "low"},
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "metadata": {"a": "b"},
        "prompt_cache_key": "k",
    },
    "openai-completions": {},
    "anthropic": {
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": {}}},
        "context_management": {"edits": [{"type": "clear_thinking_20251015"}]},
        "tool_choice": {"type": "tool", "name": "look", "disable_parallel_tool_use": True},
        "metadata": {"user_id": "u"},
        "top_k": 4,
    },
    "gemini": {
        "safetySettings": [{"category": "a", "threshold": "b"}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look"]}},
        "generationConfig": {
            "thinkingConfig": {"thinkingBudget": 100, "includeThoughts": True},
            "responseSchema": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
            "responseMimeType": "application/json",
            "seed": 1,
            "topK": 3,
            "maxOutputTokens": 9,
        },
        "labels": {"a": "b"},
    },
    "ollama": {"format": {"type": "object"}, "think": "low", "keep_alive": "5m", "logprobs": True},
}
# Models that differ in what they are asked.
SERVED = ("m", "claude-opus-4-6", "gemini-3-pro", "gpt-5")


def bent(api, count):
    """`count` answers in which one to three values are not what they should be."""
    chance = random.Random(f"bent {api}")
    good = [ANSWERS[api](outcome, stream) for outcome in OUTCOMES.values() for stream in (True, False)]
    good += [RICH[api]] * len(good) if api in RICH else []
    for _ in range(count):
        lines = [line.removeprefix(b"data: ") for line in chance.choice(good).split(b"\n")]
        objects = [json.loads(line) for line in lines if line.startswith(b"{")]
        for _ in range(chance.randint(1, 3)):
            mutants.change(chance.choice(objects), chance)
        written = [mutants.written(one) for one in objects]
        alone = len(written) == 1 or api == "ollama"
        yield b"\n".join(written) + b"\n" if alone else b"".join(b"data: %b\n\n" % one for one in written)


class BentTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(seals.forget)

    def test_every_bent_answer_is_told_or_refused(self):
        requests = {form: replace(asked(form, True), include_usage=True) for form in CALLERS}
        for api in DIALECTS:
            taken = 0
            for body in bent(api, COUNT):
                with self.subTest(api, body=body[:2000]):
                    taken += self.told(api, body, requests)
            self.assertGreater(taken, COUNT // 3, api)

    def told(self, api, body, requests):
        """Whether it is an answer: then every caller is told it, or why that cannot be."""
        for relay in (False, True):
            try:
                events = list(DIALECTS[api].read(Arrived([body]), replace(TARGET, api=api), relay=relay))
            except Problem as problem:
                self.assertTrue(problem.kind and problem.status, problem)
                return False
            for form in ("openai-chat",) if relay else requests:
                module, request = CALLERS[form][0], requests[form]
                written = b"".join(module.stream(request, iter(events), STAMP)).decode()
                for line in written.split("\n"):
                    data = line.removeprefix("data: ")
                    if data.startswith("{"):
                        json.loads(data, parse_constant=self.fail)
                with contextlib.suppress(Problem):
                    json_bytes(module.reply(request, gather(iter(events)), STAMP))
        return True

    def test_every_bent_request_is_asked_or_refused(self):
        for form, (_, _, good) in CALLERS.items():
            taken = 0
            for body in mutants.bodies({**good, **MORE[form]}, f"bent {form}", COUNT):
                with self.subTest(form, body=body[:2000]):
                    taken += self.composed(form, body)
            self.assertGreater(taken, COUNT // 10, form)

    def composed(self, form, body):
        """Whether it is a request: then every member is asked it, or it is said why that cannot be."""
        value = json.loads(body)
        try:
            request = parsed(form, value if isinstance(value, dict) else {})
        except Problem:
            return False
        for api in DIALECTS:
            for served in SERVED:
                with contextlib.suppress(Problem):
                    composed(replace(TARGET, api=api, served=served), request)
        return True


if __name__ == "__main__":
    unittest.main()
