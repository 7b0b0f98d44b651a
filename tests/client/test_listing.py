"""Listings of models as different servers write them."""

import json
import unittest
from collections.abc import Sequence
from typing import Any

from metrics.client import chat
from metrics.records import Problem
from tests.client.arrivals import Arrived

# name, the body, what it says
LISTINGS: list[tuple[str, Any, list[dict[str, Any]]]] = [
    (
        "openai",
        {
            "object": "list",
            "data": [{"id": "a", "object": "model", "owned_by": "x"}, {"id": "b"}, {"id": "a"}],
        },
        [{"served": "a"}, {"served": "b"}],
    ),
    (
        "openrouter",
        {
            "data": [
                {
                    "id": "x/y",
                    "name": "X: Y",
                    "context_length": 1000,
                    "architecture": {"input_modalities": ["text", "image"]},
                    "pricing": {"prompt": "0.00000125", "completion": "0.00001", "input_cache_read": "0"},
                    "top_provider": {"context_length": 900, "max_completion_tokens": 100},
                    "supported_parameters": ["tools", "reasoning"],
                },
                {"id": "x/auto", "pricing": {"prompt": "-1", "completion": "-1"}, "supported_parameters": []},
                {"id": "x/z:free", "pricing": {"prompt": "0", "completion": "0"}, "top_provider": None},
            ]
        },
        [
            {
                "served": "x/y",
                "context": 900,
                "max_output": 100,
                "vision": True,
                "tools": True,
                "reasoning": True,
                "price": {"input": 1.25, "output": 10.0, "cache_read": 0.0},
                "name": "X: Y",
            },
            {"served": "x/auto", "tools": False},
            {"served": "x/z:free", "price": {"input": 0.0, "output": 0.0}},
        ],
    ),
    (
        "together: a bare list",
        [{"id": "t", "context_length": 8192, "pricing": {"input": 0.18, "output": 0.59, "base": 0}}],
        [{"served": "t", "context": 8192, "price": {"input": 0.18, "output": 0.59}}],
    ),
    ("ollama", {"models": [{"name": "q:4b", "model": "q:4b"}]}, [{"served": "q:4b", "name": "q:4b"}]),
    (
        "ollama, of today",
        {
            "models": [
                {
                    "name": "q:4b",
                    "model": "q:4b",
                    "capabilities": ["completion", "tools"],
                    "details": {"context_length": 4096},
                }
            ]
        },
        [
            {
                "served": "q:4b",
                "context": 4096,
                "vision": False,
                "tools": True,
                "reasoning": False,
                "name": "q:4b",
            }
        ],
    ),
    (
        "gemini's own, of today",
        {"models": [{"name": "models/g", "displayName": "G", "thinking": True}]},
        [{"served": "g", "reasoning": True, "name": "G"}],
    ),
    (
        "gemini's own",
        {"models": [{"name": "models/g", "inputTokenLimit": 9, "outputTokenLimit": 3}]},
        [{"served": "g", "context": 9, "max_output": 3, "name": "models/g"}],
    ),
    ("gemini as openai", {"data": [{"id": "models/g", "display_name": "G"}]}, [{"served": "g", "name": "G"}]),
    (
        "mistral",
        {
            "data": [
                {
                    "id": "m",
                    "max_context_length": 7,
                    "capabilities": {"vision": False, "function_calling": True},
                }
            ]
        },
        [{"served": "m", "context": 7, "vision": False, "tools": True}],
    ),
    (
        "groq",
        {"data": [{"id": "g", "context_window": 131072, "max_completion_tokens": 8192}]},
        [{"served": "g", "context": 131072, "max_output": 8192}],
    ),
    ("vllm", {"data": [{"id": "v", "max_model_len": 4096}]}, [{"served": "v", "context": 4096}]),
    (
        "llama.cpp",
        {"models": [{"name": "l"}], "data": [{"id": "l", "meta": {"n_ctx_train": 40960, "n_ctx": 2048}}]},
        [{"served": "l", "context": 2048}],
    ),
    (
        "hugging face",
        {
            "data": [
                {
                    "id": "h",
                    "providers": [{"context_length": 5, "supports_tools": True, "pricing": {"input": 1}}],
                }
            ]
        },
        [{"served": "h", "context": 5, "tools": True, "price": {"input": 1.0}}],
    ),
    ("strings", {"data": ["a", 5, None, {"object": "model"}]}, [{"served": "a"}]),
    (
        "odd shapes",
        {
            "data": [
                {
                    "id": "a",
                    "context_length": "big",
                    "max_tokens": float("inf"),
                    "pricing": [],
                    "architecture": 5,
                    "name": 7,
                }
            ]
        },
        [{"served": "a"}],
    ),
    ("nothing", {"data": []}, []),
]


class Wire:
    """A transport that gives one answer and notes what was asked."""

    def __init__(self, body: bytes, status: int = 200) -> None:
        self.answer = Arrived([body], status)
        self.asked: tuple[str, str, dict[str, str]] | None = None

    def open(self, method: str, url: str, headers: Sequence[tuple[str, str]] = ()) -> Arrived:
        self.asked = (method, url, dict(headers))
        return self.answer


class ListModels(unittest.TestCase):
    def test_listings(self) -> None:
        for name, body, expected in LISTINGS:
            with self.subTest(name):
                wire = Wire(json.dumps(body).encode())
                self.assertEqual(chat.list_models(wire, "http://h/v1", None, ""), expected)

    def test_asks(self) -> None:
        for base, profile, expected in [
            (
                "http://h",
                "",
                ("GET", "http://h/v1/models", {"Accept": "application/json", "Authorization": "Bearer k"}),
            ),
            (
                "http://h/v1",
                "api.anthropic.com",
                (
                    "GET",
                    "http://h/v1/models?limit=1000",
                    {"Accept": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01"},
                ),
            ),
        ]:
            with self.subTest(base):
                wire = Wire(b'{"data":[]}')
                chat.list_models(wire, base, "k", profile)
                self.assertEqual(wire.asked, expected)

    def test_problems(self) -> None:
        for name, status, body, expected in [
            ("refused", 401, b'{"error":{"message":"bad key k-secret"}}', (401, "auth")),
            ("no such path", 404, b"404 page not found", (404, "not_found")),
            ("a page", 200, b"<html>", (502, "garbage")),
            ("no list", 200, b'{"object":"list"}', (502, "garbage")),
            ("deep", 200, b"[" * 100_000, (502, "garbage")),
        ]:
            with self.subTest(name), self.assertRaises(Problem) as caught:
                chat.list_models(Wire(body, status), "http://h/v1", "k-secret", "")
            self.assertEqual((caught.exception.status, caught.exception.kind), expected)
            self.assertNotIn("k-secret", caught.exception.message)


if __name__ == "__main__":
    unittest.main()
