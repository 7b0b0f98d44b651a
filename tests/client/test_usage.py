"""Usage as providers count it, in our convention."""

import unittest
from typing import Any

from metrics.client import usage

# name, what the provider says, (uncached_in, cache_read, cache_write, out, reasoning), cost
CASES: list[tuple[str, dict[str, Any], tuple[int | None, ...], float | None]] = [
    (
        "plain",
        {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        (11, None, None, 7, None),
        None,
    ),
    (
        "openai: cached is a part of the prompt",
        {
            "prompt_tokens": 100,
            "completion_tokens": 50,
            "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
            "completion_tokens_details": {"reasoning_tokens": 20},
        },
        (30, 60, 10, 50, 20),
        None,
    ),
    (
        "deepseek",
        {
            "prompt_tokens": 100,
            "completion_tokens": 5,
            "prompt_cache_hit_tokens": 64,
            "prompt_cache_miss_tokens": 36,
        },
        (36, 64, None, 5, None),
        None,
    ),
    (
        "moonshot",
        {"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 4},
        (5, 4, None, 1, None),
        None,
    ),
    (
        "a proxy of anthropic, cache beside the prompt",
        {
            "prompt_tokens": 3,
            "completion_tokens": 1,
            "cache_read_input_tokens": 50,
            "cache_creation_input_tokens": 7,
        },
        (3, 50, 7, 1, None),
        None,
    ),
    (
        "xai: reasoning beside the output",
        {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 35,
            "completion_tokens_details": {"reasoning_tokens": 20},
        },
        (10, None, None, 25, 20),
        None,
    ),
    (
        "gemini: thoughts only in the total",
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 40},
        (10, None, None, 30, 25),
        None,
    ),
    (
        "openrouter",
        {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.00014},
        (1, None, None, 1, None),
        0.00014,
    ),
    ("perplexity", {"prompt_tokens": 1, "cost": {"total_cost": 0.5}}, (1, None, None, None, None), 0.5),
    ("responses' names", {"input_tokens": 2, "output_tokens": 3}, (2, None, None, 3, None), None),
    ("nothing", {}, (None,) * 5, None),
    ("null details", {"prompt_tokens": 2, "prompt_tokens_details": None}, (2, None, None, None, None), None),
    ("nonsense", {"prompt_tokens": -1, "completion_tokens": "7", "cost": True}, (None,) * 5, None),
    ("not finite", {"prompt_tokens": float("inf"), "completion_tokens": float("nan")}, (None,) * 5, None),
    ("floats", {"prompt_tokens": 2.0}, (2, None, None, None, None), None),
]


class OfChat(unittest.TestCase):
    def test_cases(self) -> None:
        for name, raw, counts, cost in CASES:
            with self.subTest(name):
                found = usage.of_chat(raw)
                said = (found.uncached_in, found.cache_read, found.cache_write, found.out, found.reasoning)
                self.assertEqual(said, counts)
                self.assertEqual(found.cost, cost)
                self.assertIs(found.raw, raw)
                self.assertFalse(found.estimated)


NATIVE: list[tuple[str, Any, dict[str, Any], tuple[int | None, ...]]] = [
    (
        "gemini",
        usage.of_gemini,
        {"promptTokenCount": 5, "candidatesTokenCount": 3, "thoughtsTokenCount": 4, "totalTokenCount": 12},
        (5, None, 7, 4),
    ),
    (
        "gemini, cached",
        usage.of_gemini,
        {"promptTokenCount": 10, "cachedContentTokenCount": 8, "candidatesTokenCount": 1},
        (2, 8, 1, None),
    ),
    ("gemini, blocked", usage.of_gemini, {"promptTokenCount": 5, "totalTokenCount": 5}, (5, None, 0, None)),
    (
        "gemini, its own tools",
        usage.of_gemini,
        {"promptTokenCount": 5, "toolUsePromptTokenCount": 7, "candidatesTokenCount": 2},
        (12, None, 2, None),
    ),
    ("gemini, nothing", usage.of_gemini, {}, (None, None, None, None)),
    (
        "anthropic",
        usage.of_anthropic,
        {
            "input_tokens": 3,
            "cache_creation_input_tokens": 12304,
            "cache_read_input_tokens": 9,
            "output_tokens": 550,
            "output_tokens_details": {"thinking_tokens": 50},
        },
        (3, 9, 550, 50),
    ),
    ("anthropic, nothing", usage.of_anthropic, {"input_tokens": None}, (None, None, None, None)),
    ("ollama", usage.of_ollama, {"prompt_eval_count": 11, "eval_count": 7}, (11, None, 7, None)),
    ("ollama, nothing", usage.of_ollama, {}, (None, None, None, None)),
]


class Native(unittest.TestCase):
    def test_cases(self) -> None:
        for name, read, raw, counts in NATIVE:
            with self.subTest(name):
                found = read(raw)
                self.assertEqual((found.uncached_in, found.cache_read, found.out, found.reasoning), counts)
                self.assertIs(found.raw, raw)

    def test_what_was_written_to_the_cache_counts_once(self) -> None:
        found = usage.of_anthropic(
            {"input_tokens": 3, "cache_creation_input_tokens": 12304, "output_tokens": 1}
        )
        self.assertEqual((found.cache_write, found.prompt), (12304, 12307))


if __name__ == "__main__":
    unittest.main()
