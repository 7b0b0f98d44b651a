"""Every caller's format with every provider's API, when one of them sends what it should not: it is answered
or refused, and never an error of ours."""

import contextlib
import json
import random
import unittest
from dataclasses import replace

from metrics.client import seals, thoughts
from metrics.client.dialects import DIALECTS
from metrics.events import gather
from metrics.formats.protocol import Stamp
from metrics.records import Problem
from metrics.web.table import json_bytes
from tests.client import anthropic_said, responses_said
from tests.client.arrivals import TARGET, Arrived, call, chunk, part
from tests.formats import mutants
from tests.formats.pairs_answered import ANSWERS, OUTCOMES
from tests.formats.pairs_asked import CALLERS, asked

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
        self.addCleanup(thoughts.forget)

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


if __name__ == "__main__":
    unittest.main()
