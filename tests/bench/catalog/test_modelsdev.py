import json
import unittest
from typing import Any

from metrics.bench.catalog import modelsdev
from metrics.records import Problem

# A model as models.dev's api.json shows one.
FULL: dict[str, Any] = {
    "id": "claude-sonnet-4-5",
    "name": "Claude Sonnet 4.5",
    "family": "claude-sonnet",
    "attachment": True,
    "reasoning": True,
    "tool_call": True,
    "structured_output": False,
    "knowledge": "2025-07-31",
    "release_date": "2025-09-29",
    "last_updated": "2025-09-29",
    "modalities": {"input": ["text", "image", "pdf"], "output": ["text"]},
    "open_weights": False,
    "limit": {"context": 200000, "output": 64000},
    "cost": {
        "input": 3,
        "output": 15,
        "cache_read": 0.3,
        "cache_write": 3.75,
        "context_over_200k": {"input": 6, "output": 22.5, "cache_read": 0.6, "cache_write": 7.5},
    },
}
FACTS = {
    "name": "Claude Sonnet 4.5",
    "context": 200_000,
    "max_output": 64_000,
    "tools": True,
    "vision": True,
    "reasoning": True,
    "structured_output": False,
    "input": ["text", "image", "pdf"],
    "output": ["text"],
    "knowledge": "2025-07-31",
    "released": "2025-09-29",
    "open_weights": False,
    "family": "claude-sonnet",
    "price": {
        "input": 3,
        "output": 15,
        "cache_read": 0.3,
        "cache_write": 3.75,
        "tiers": [{"above": 200_000, "input": 6, "output": 22.5, "cache_read": 0.6, "cache_write": 7.5}],
    },
}
TIERED = {"input": 1, "tiers": [{"input": 2, "tier": {"type": "context", "size": 32_000}}]}

BY_TIME = {"type": "time", "size": 5}
BENT = {"type": "context", "size": "x"}


class Read(unittest.TestCase):
    def test_a_model(self) -> None:
        self.assertEqual(modelsdev.model(FULL), FACTS)

    def test_prices(self) -> None:
        cases: tuple[tuple[str, Any, Any], ...] = (
            ("no cost is unknown", None, None),
            ("nothing said of it", {}, None),
            ("free", {"input": 0, "output": 0}, {"input": 0, "output": 0}),
            ("thinking at another price", {"input": 1, "output": 2, "reasoning": 6}, {"input": 1}),
            ("thinking at the same", {"output": 2, "reasoning": 2}, {"output": 2}),
            ("tiers", TIERED, {"input": 1, "tiers": [{"above": 32_000, "input": 2}]}),
            (
                "tiers before the older word",
                TIERED | {"context_over_200k": {"input": 9}},
                {"input": 1, "tiers": [{"above": 32_000, "input": 2}]},
            ),
            ("a tier of another kind", {"input": 1, "tiers": [{"input": 2, "tier": BY_TIME}]}, {"input": 1}),
            ("bent tiers", {"input": 1, "tiers": [None, {}, {"tier": 5}, {"tier": BENT}]}, {"input": 1}),
        )
        for name, cost, price in cases:
            with self.subTest(name):
                self.assertEqual(modelsdev.model({"cost": cost}).get("price"), price)

    def test_each_fact_alone_may_be_missing_or_bent(self) -> None:
        for name in FULL:
            for bent in (None, 5, "x", [], {}, [None], {"input": 5}):
                with self.subTest(name=name, bent=bent):
                    found = modelsdev.model({**FULL, name: bent})
                    self.assertLessEqual(set(found), set(FACTS) | {"status"})

    def test_providers(self) -> None:
        body = json.dumps(
            {
                "anthropic": {"id": "anthropic", "name": "Anthropic", "models": {"a": FULL, "b": 5}},
                "zai": {"api": "https://api.z.ai/api/paas/v4", "models": {}},
                "bent": {"models": 5},
                "none": None,
            }
        ).encode()
        found = modelsdev.read(body)
        self.assertEqual(list(found), ["anthropic", "zai"])
        self.assertEqual(found["anthropic"], {"name": "Anthropic", "models": {"a": FACTS}})
        self.assertEqual(found["zai"]["base"], "https://api.z.ai/api/paas/v4")

    def test_something_else(self) -> None:
        for body in (b"", b"<html>", b"[]", b"{}", b'{"a": 5}', b'"x"', b"\xff", b"[" * 100_000):
            with self.subTest(body[:20]), self.assertRaises(Problem) as caught:
                modelsdev.read(body)
            self.assertEqual(caught.exception.status, 502)
