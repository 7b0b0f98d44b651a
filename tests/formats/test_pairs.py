"""Every caller's format with every provider's API: the same conversation is asked, and the same answer comes
back, streamed or not, whoever asks and whoever answers."""

import json
import unittest
from dataclasses import replace

from metrics.client import seals
from metrics.client.dialects import DIALECTS
from metrics.events import gather
from metrics.formats.protocol import Stamp
from tests.client.arrivals import TARGET, Arrived
from tests.formats.pairs_answered import ANSWERS, CACHED, OUT, OUTCOMES, PROMPT, READERS, Got, composed, got
from tests.formats.pairs_asked import CALLERS, asked, parsed, told

STAMP = Stamp("ab12", 1_796_000_000)
FORMATS = {api: form for form, api in READERS.items()}
# (format or API, what is meant) -> what it can say of it
NO_STOP = {"openai-responses", "responses"}
NO_FILTER = {"ollama"}
NO_CACHE = {"ollama"}

# The very words for each end, as each format's callers look for them.
STOPS = {
    "openai-chat": ('"finish_reason":"{}"', ("stop", "tool_calls", "length", "content_filter")),
    "openai-completions": ('"finish_reason":"{}"', ("stop", None, "length", "content_filter")),
    "openai-responses": ('"status":"{}"', ("completed", "completed", "incomplete", "incomplete")),
    "anthropic": ('"stop_reason":"{}"', ("end_turn", "tool_use", "max_tokens", "refusal")),
    "gemini": ('"finishReason":"{}"', ("STOP", "STOP", "MAX_TOKENS", "SAFETY")),
    "ollama": ('"done_reason":"{}"', ("stop", "stop", "length", "stop")),
}
FINISHES = ("stop", "tool_calls", "length", "content_filter")


class PairsTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(seals.forget)

    def test_all_are_there(self):
        self.assertEqual((len(CALLERS), set(ANSWERS)), (6, set(DIALECTS)))

    def test_every_caller_asks_every_member_the_same(self):
        for form in CALLERS:
            request = asked(form)
            expected = told(request)
            for api in DIALECTS:
                with self.subTest(form, api=api):
                    body, changed = composed(replace(TARGET, api=api), request)
                    again = told(parsed(FORMATS[api], body))
                    stop = [] if api in NO_STOP else expected["stop"]
                    self.assertEqual({**again, "stop": again["stop"] or []}, {**expected, "stop": stop or []})
                    named = any(one.startswith("stop ") for one in changed)
                    self.assertEqual(named, api in NO_STOP and bool(expected["stop"]))

    def test_all_callers_mean_the_same(self):
        whole = told(asked("openai-chat"))
        alone = {**whole, "said": whole["said"][-1:], "tools": []}
        for form in CALLERS:
            with self.subTest(form):
                expected = alone if form == "openai-completions" else whole
                expected = {**expected, "stop": None} if form in NO_STOP else expected
                self.assertEqual(told(asked(form)), expected)

    def test_every_answer_comes_to_every_caller(self):
        for form, (module, _, _) in CALLERS.items():
            for api in DIALECTS:
                for name, outcome in OUTCOMES.items():
                    if outcome.calls and form == "openai-completions":
                        continue  # its callers have no tools
                    for stream in (True, False):
                        with self.subTest(form, api=api, outcome=name, stream=stream):
                            self.check(form, module, api, outcome, stream)

    def check(self, form, module, api, outcome, stream):
        request = replace(asked(form, stream), include_usage=True)
        arrived = Arrived([ANSWERS[api](outcome, stream)])
        events = list(DIALECTS[api].read(arrived, replace(TARGET, api=api)))
        if stream:
            written = b"".join(module.stream(request, iter(events), STAMP))
        else:
            written = json.dumps(module.reply(request, gather(iter(events)), STAMP)).encode()
        filtered = outcome.finish == "content_filter"
        finish = "stop" if filtered and (form in NO_FILTER or api in NO_FILTER) else outcome.finish
        expected = Got(
            text=outcome.text,
            calls=tuple((name, given) for _, name, given in outcome.calls),
            finish=finish,
            prompt=PROMPT,
            cached=0 if {form, api} & NO_CACHE else CACHED,
            out=OUT,
        )
        self.assertEqual(got(form, written), expected)
        pattern, words = STOPS[form]
        word = words[FINISHES.index(finish)]
        self.assertIn(pattern.format(word), written.decode().replace('": "', '":"'))


if __name__ == "__main__":
    unittest.main()
