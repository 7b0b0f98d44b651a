import unittest
from typing import Any

from metrics.bench import collections, roster
from metrics.dashboard import route
from metrics.evidence import offloads, verdicts
from metrics.store import stamps
from tests.bench.bench import BY
from tests.dashboard.api import ApiCase

CHAT = {"messages": [{"role": "user", "content": "why?"}]}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
SCHEMA = {"type": "object", "properties": {}}

# The same turn, with a tool, as each API has it.
TOOLED: dict[str, dict[str, Any]] = {
    "openai-chat": {**CHAT, "tools": [TOOL]},
    "openai-responses": {
        "input": "why?",
        "tools": [{"type": "function", "name": "look", "parameters": SCHEMA}],
    },
    "anthropic": {**CHAT, "max_tokens": 9, "tools": [{"name": "look", "input_schema": SCHEMA}]},
    "ollama": {**CHAT, "tools": [TOOL]},
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "why?"}]}],
        "tools": [{"functionDeclarations": [{"name": "look", "parameters": SCHEMA}]}],
    },
}


class Route(ApiCase):
    routes = route.HANDLERS

    def setUp(self) -> None:
        super().setUp()
        self.seat_models("ma", "mb", "mc")
        collections.save("core", {"members": ["ma", "mb", "mc"], "explorers": 0}, BY)

    def facts(self, alias: str, **facts: Any) -> None:
        with roster.FILE.edit() as saved:
            saved["models"][alias].update(facts)

    def judge(self, alias: str, useful: bool) -> None:
        at = "2026-11-29T14:22:20.000Z"
        call = f"r20261129-142220-0000{alias:0>4}.1".replace("m", "0")
        subject = {"collection": "core", "shape": "general", "model": alias, "model_id": f"box:{alias}"}
        offloads.record({"at": at, "call": call, "seat": "member", "status": "ok", **subject})
        verdicts.give(call, useful, now=stamps.epoch(at))

    def explained(self, **asked: Any) -> Any:
        return self.post("/api/route", {"collection": "core", **asked})

    def test_everybody_has_a_place_and_a_chance(self) -> None:
        self.judge("mb", True)
        told = self.explained()
        self.assertEqual(
            (told["policy"], told["shape"], told["shape_by"]), ("record/1", "general", "default")
        )
        self.assertEqual(
            [(one["place"], one["alias"]) for one in told["candidates"]], [(1, "mb"), (2, "ma"), (3, "mc")]
        )
        self.assertAlmostEqual(sum(one["p"] for one in told["candidates"]), 1.0, 5)
        self.assertEqual([one["how"] for one in told["candidates"]], ["leader", "next", "next"])
        self.assertGreater(told["candidates"][0]["n"], 0)
        self.assertIsNone(told["problem"])

    def test_the_order_told_is_not_that_of_a_draw(self) -> None:
        places = [[one["alias"] for one in self.explained(seed=seed)["candidates"]] for seed in range(60)]
        firsts = {self.explained(seed=seed)["decision"]["order"][0] for seed in range(60)}
        self.assertEqual(places, [["ma", "mb", "mc"]] * 60)
        self.assertGreater(len(firsts), 1)

    def test_a_request_in_any_api(self) -> None:
        self.facts("mb", tools=True)
        for name, request in TOOLED.items():
            with self.subTest(name):
                told = self.explained(request=request, format=name)
                self.assertEqual([one["alias"] for one in told["candidates"]], ["mb"])
                self.assertEqual([one["alias"] for one in told["skipped"]], ["ma", "mc"])
                self.assertIn("is not known to call tools", told["skipped"][0]["why"])
        told = self.explained(request={"prompt": "why?"}, format="openai-completions")
        self.assertEqual(len(told["candidates"]), 3)

    def test_a_saved_request_names_another_collection_and_reply(self) -> None:
        request = {**CHAT, "model": "gpt-5", "bench": {"reply": "merged", "deadline": 5}, "stream": True}
        self.assertEqual(len(self.explained(request=request)["candidates"]), 3)

    def test_names_of_the_collection(self) -> None:
        for name in ("core", "bench/core", "core:route", "bench/core:merged"):
            with self.subTest(name):
                self.assertEqual(self.explained(collection=name)["collection"], "core")

    def test_nobody_can(self) -> None:
        told = self.explained(request=TOOLED["openai-chat"])
        self.assertEqual((told["candidates"], told["decision"], told["policy"]), ([], None, None))
        self.assertEqual((len(told["skipped"]), told["problem"]["status"]), (3, 400))
        for alias in ("ma", "mb", "mc"):
            self.facts(alias, context=2)
        self.assertEqual(self.explained(request=CHAT)["problem"]["status"], 413)

    def test_refusals(self) -> None:
        cases: list[tuple[int, dict[str, Any], str]] = [
            (404, {"collection": "none"}, "core"),
            (400, {"request": []}, '"request" must be an object'),
            (400, {"request": {"messages": []}}, '"messages" must'),
            (400, {"request": {"messages": 5}}, '"messages" must'),
            (400, {"format": "telegram"}, "openai-chat"),
            (400, {"format": "gemini"}, '"request"'),
            (400, {"seed": -1}, '"seed"'),
            (400, {"sead": 1}, '"sead"'),
        ]
        for status, asked, words in cases:
            with self.subTest(asked):
                self.assertIn(words, self.refused("/api/route", {"collection": "core", **asked}, status))

    def test_nonsense(self) -> None:
        self.refuses_nonsense("/api/route")


if __name__ == "__main__":
    unittest.main()
