import os
from typing import Any

from metrics.bench.catalog import book, kept
from metrics.bench.endpoints import Endpoint
from metrics.records import Price
from tests.bench.bench import BenchCase

PROVIDERS = {
    "openai": {"name": "OpenAI", "models": {"gpt": {"context": 9, "tools": True, "price": {"input": 2}}}},
    "openrouter": {"base": "https://openrouter.ai/api/v1", "models": {"openai/gpt": {"price": {"input": 3}}}},
    "zai": {"base": "https://api.z.ai/api/paas/v4", "models": {"glm": {"price": {"input": 1}}}},
    "zai-coding-plan": {
        "base": "https://api.z.ai/api/coding/paas/v4",
        "models": {"glm": {"price": {"input": 0}}},
    },
    "mini": {"base": "https://api.mini.io/v1", "models": {"m": {"price": {"input": 1}}}},
    "mini-plan": {"base": "https://api.mini.io/v1", "models": {"m": {"price": {"input": 0}}}},
    "lmstudio": {"base": "http://127.0.0.1:1234/v1", "models": {"gpt": {"price": {"input": 0}}}},
    "templated": {"base": "https://${HOST}/v1", "models": {}},
}
ROUTED = {
    "openai/gpt": {"context": 7, "tools": False, "vision": True, "released": "2025-08", "price": {"input": 4}}
}


def at(base: str, profile: str = "", name: str = "box") -> Endpoint:
    return Endpoint(name, base, profile=profile)


class Book(BenchCase):
    def setUp(self) -> None:
        super().setUp()
        kept.save(kept.MODELS_DEV, PROVIDERS, 0.0)
        kept.save(kept.OPENROUTER, ROUTED, 0.0)

    def known(self, endpoint: Endpoint, served: str) -> book.Known:
        return book.book().of(endpoint, served)

    def test_who_answers_at_an_address(self) -> None:
        cases = (
            (at("https://api.openai.com/v1"), "openai"),
            (at("http://127.0.0.1:9/v1", "api.openai.com"), "openai"),
            (at("https://openrouter.ai/api/v1"), "openrouter"),
            (at("https://api.z.ai/api/paas/v4"), "zai"),
            (at("https://api.z.ai/api/coding/paas/v4/"), "zai-coding-plan"),
            (at("https://api.z.ai/api/anthropic"), None),
            (at("https://api.mini.io/v1"), "mini"),
            (at("https://api.mini.io/v1beta"), None),
            (at("http://10.0.0.5/v1", "api.mini.io"), "mini"),
            (at("http://127.0.0.1:1234/v1"), None),
            (at("https://api.openai.com.evil.example/v1"), None),
            (at("https://example.com/v1"), None),
        )
        for endpoint, provider in cases:
            with self.subTest(endpoint):
                self.assertEqual(book.book().provider(endpoint), provider)

    def test_the_listing_comes_first_and_each_fact_by_itself(self) -> None:
        endpoint = at("https://api.openai.com/v1")
        kept.keep_listing(endpoint, [{"served": "gpt", "context": 5}], 0.0)
        known = self.known(endpoint, "gpt")
        self.assertEqual((known.facts["context"], known.sources["context"]), (5, "listing"))
        self.assertEqual((known.facts["tools"], known.sources["tools"]), (True, "models.dev"))
        self.assertEqual((known.facts["vision"], known.sources["vision"]), (True, "openrouter"))
        self.assertEqual(known.price, Price(2, source="models.dev"))
        self.assertEqual(list(known.said), ["listing", "models.dev", "openrouter"])

    def test_a_listing_of_another_address_is_not_this_one(self) -> None:
        kept.keep_listing(at("https://old.example/v1"), [{"served": "gpt", "context": 5}], 0.0)
        self.assertEqual(self.known(at("https://api.openai.com/v1"), "gpt").facts["context"], 9)

    def test_offers_are_never_taken_from_another_provider(self) -> None:
        known = self.known(at("https://example.com/v1"), "gpt")
        self.assertEqual(known.facts, {"vision": True, "released": "2025-08"})
        self.assertIsNone(known.price)
        self.assertEqual(self.known(at("https://example.com/v1"), "openai/gpt").facts, known.facts)

    def test_openrouter_of_itself(self) -> None:
        known = self.known(at("https://openrouter.ai/api/v1"), "openai/gpt")
        self.assertEqual((known.price, known.facts["context"]), (Price(3, source="models.dev"), 7))

    def test_a_price_is_taken_whole(self) -> None:
        endpoint = at("https://api.openai.com/v1")
        kept.keep_listing(endpoint, [{"served": "gpt", "price": {"output": 8}}], 0.0)
        self.assertEqual(self.known(endpoint, "gpt").price, Price(None, 8, source="listing"))

    def test_a_model_that_nobody_knows(self) -> None:
        known = self.known(at("https://api.openai.com/v1"), "mine")
        self.assertEqual((known.facts, known.price), ({}, None))

    def test_the_book_is_the_same_while_the_files_are(self) -> None:
        for file in (self.folder / "catalog").glob("*.json"):
            os.utime(file, (0, 0))  # one that was written this moment is looked at again
        first = book.book()
        self.assertIs(book.book(), first)
        kept.save(kept.OPENROUTER, {"x": {}}, 0.0)
        self.assertIsNot(book.book(), first)

    def test_find(self) -> None:
        def found(text: str) -> list[tuple[str, str]]:
            return [(one["provider"], one["served"]) for one in book.book().find(text)]

        self.assertEqual(found("gpt"), [("openai", "gpt"), ("openrouter", "openai/gpt"), ("lmstudio", "gpt")])
        self.assertEqual(found("openai/gpt"), [("openrouter", "openai/gpt")])
        self.assertEqual(found("GL"), [("zai-coding-plan", "glm")])
        self.assertEqual(found("glmm"), [("zai-coding-plan", "glm")])
        self.assertEqual(found("nothing like it"), [])

    def test_bent_content_is_passed_over(self) -> None:
        bent: dict[str, Any] = {"openai": {"models": {"gpt": 5}}}
        kept.save(kept.MODELS_DEV, bent, 0.0)
        self.write("catalog/listings.json", '{"box": 5}')
        self.assertEqual(self.known(at("https://api.openai.com/v1"), "gpt").facts["vision"], True)
