import unittest
from typing import Any

from tests.commands.stage import Stage

AGES = {"models.dev": "2026-08-18T08:14:34Z", "openrouter": None, "listings": {}}
TIERS = [{"above": 200_000, "input": 6, "output": 22.5}]
FACTS = {
    "context": {"value": 128_000, "source": "models.dev"},
    "tools": {"value": False, "source": "user"},
    "input": {"value": ["text", "image"], "source": "openrouter"},
    "price": {"value": {"input": 3, "output": 15, "tiers": TIERS}, "source": "listing"},
}
MODEL: dict[str, Any] = {"alias": "kimi", "model_id": "e:k", "provider": "p", "facts": FACTS, "said": {}}
OFFER = {"provider": "openai", "served": "gpt", "facts": {"context": 9, "tools": True, "price": {"input": 2}}}


def feed(name: str, ok: bool = True, models: int = 5, note: str = "") -> dict[str, Any]:
    return {"feed": name, "ok": ok, "models": models, "note": note}


class Show(unittest.TestCase):
    def show(self, **answer: Any) -> Any:
        with Stage(
            {"GET /api/catalog": {"ok": True, "model": None, "offers": [], "catalogs": AGES} | answer}
        ) as stage:
            return stage.bench("catalog", "show", "kimi")

    def test_facts_with_their_sources(self) -> None:
        played = self.show(model=MODEL)
        for words in (
            "128,000",
            "text, image",
            "input $3.00, output $15.00, above 200,000 input $6.00",
            "listing",
        ):
            self.assertIn(words, played.out)
        self.assertRegex(played.out, r"tools +no +user")
        self.assertIn("models.dev as of 2026-08-18T08:14:34Z, openrouter not read yet", played.err)

    def test_no_price_is_unknown(self) -> None:
        played = self.show(model={**MODEL, "facts": {"context": FACTS["context"]}})
        self.assertRegex(played.out, r"price +unknown")

    def test_offers(self) -> None:
        played = self.show(offers=[OFFER])
        self.assertRegex(played.out, r"gpt +openai +9 +yes +unknown +2.00 +unknown")


class Refresh(unittest.TestCase):
    def refresh(self, *feeds: dict[str, Any], words: tuple[str, ...] = ()) -> Any:
        told = {"ok": True, "feeds": list(feeds), "read": sum(one["ok"] for one in feeds)}
        with Stage({"POST /api/catalog/refresh": told}) as stage:
            self.played = stage.bench("catalog", "refresh", *words)
            return stage.last.body

    def test_what_became_of_each(self) -> None:
        self.refresh(feed("models.dev", False, 0, "it is down"), feed("listing:box"))
        self.assertEqual(self.played.code, 0)
        self.assertRegex(self.played.out, r"models.dev +failed +0 +it is down\n.*listing:box +read +5")

    def test_none_of_them(self) -> None:
        self.refresh(feed("models.dev", False, 0, "it is down"))
        self.assertEqual(self.played.code, 1)

    def test_only_one(self) -> None:
        self.assertEqual(
            self.refresh(feed("listing:box"), words=("--feed", "listings")), {"feeds": ["listings"]}
        )
        self.assertEqual(self.refresh(words=("--feed", "listings")), {"feeds": ["listings"]})
        self.assertIn("bench endpoint add", self.played.err)
