import json
import unittest
from typing import Any

from metrics.bench.catalog import openrouter
from metrics.records import Problem

# An entry as OpenRouter's documentation shows one.
ENTRY: dict[str, Any] = {
    "id": "openai/gpt-5",
    "name": "OpenAI: GPT-5",
    "created": 1754587413,
    "hugging_face_id": "",
    "context_length": 400000,
    "architecture": {"input_modalities": ["text", "image", "file"], "output_modalities": ["text"]},
    "pricing": {"prompt": "0.00000125", "completion": "0.00001", "input_cache_read": "0.000000125"},
    "top_provider": {"context_length": 400000, "max_completion_tokens": 128000},
    "supported_parameters": ["tools", "structured_outputs", "reasoning"],
    "knowledge_cutoff": "2024-10-01",
}
FACTS = {
    "name": "OpenAI: GPT-5",
    "context": 400_000,
    "max_output": 128_000,
    "tools": True,
    "vision": True,
    "reasoning": True,
    "structured_output": True,
    "input": ["text", "image", "file"],
    "output": ["text"],
    "knowledge": "2024-10-01",
    "released": "2025-08-07",
    "price": {"input": 1.25, "output": 10.0, "cache_read": 0.125},
}


def read(*entries: Any) -> dict[str, Any]:
    return openrouter.read(json.dumps({"data": list(entries)}).encode())


class Read(unittest.TestCase):
    def test_an_entry(self) -> None:
        self.assertEqual(read(ENTRY), {"openai/gpt-5": FACTS})

    def test_a_router_has_no_price(self) -> None:
        auto = ENTRY | {"id": "openrouter/auto", "pricing": {"prompt": "-1", "completion": "-1"}}
        self.assertNotIn("price", read(auto)["openrouter/auto"])

    def test_open_weights(self) -> None:
        self.assertTrue(read(ENTRY | {"hugging_face_id": "org/x"})["openai/gpt-5"]["open_weights"])

    def test_bent_entries(self) -> None:
        for name in ENTRY:
            for bent in (None, 5, -5, "x", [], {}, True, 10**15):
                with self.subTest(name=name, bent=bent):
                    self.assertLessEqual(len(read({**ENTRY, name: bent})), 1)
        self.assertEqual(read(None, 5, {"name": 5}), {})

    def test_something_else(self) -> None:
        for body in (b"", b"<html>", b"{}", b'{"data": 5}'):
            with self.subTest(body), self.assertRaises(Problem):
                openrouter.read(body)
