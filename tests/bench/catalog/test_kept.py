import json

from metrics.bench.catalog import facts, kept
from metrics.bench.endpoints import Endpoint
from tests.bench.bench import BenchCase

BOX = Endpoint("box", "http://127.0.0.1:9/v1")


class Kept(BenchCase):
    def test_the_snapshot_says_what_it_is(self) -> None:
        shipped = kept.snapshot()
        self.assertRegex(shipped["at"], r"^20\d\d-\d\d-\d\dT")
        self.assertIn("MIT", shipped["licence"])
        providers = shipped["feeds"][kept.MODELS_DEV]
        for name in ("openai", "anthropic", "google", "groq", "mistral", "openrouter"):
            self.assertTrue(providers[name]["models"], name)
        for one in providers.values():
            for served, entry in one["models"].items():
                self.assertLessEqual(set(entry), set(facts.FACTS), served)
                if "price" in entry:
                    self.assertIsNotNone(facts.price(entry["price"], "x"), served)

    def test_a_feed_is_the_snapshot_until_it_was_read(self) -> None:
        at, content = kept.feed(kept.MODELS_DEV)
        self.assertEqual((at, content), (kept.snapshot()["at"], kept.snapshot()["feeds"][kept.MODELS_DEV]))
        self.assertEqual(kept.feed(kept.OPENROUTER)[1], {})
        kept.save(kept.MODELS_DEV, {"p": {"name": "P", "models": {}}}, 0.0)
        expected = ("1970-01-01T00:00:00.000Z", {"p": {"name": "P", "models": {}}})
        self.assertEqual(kept.feed(kept.MODELS_DEV), expected)

    def test_a_broken_file_falls_back(self) -> None:
        kept.save(kept.OPENROUTER, {"m": {"context": 5}}, 0.0)
        self.write("catalog/openrouter.json", "{")
        self.write("catalog/models.dev.json", json.dumps({"content": 5}))
        self.assertEqual(kept.feed(kept.OPENROUTER)[1], {})
        self.assertIn("openai", kept.feed(kept.MODELS_DEV)[1])
        self.assertIn("openrouter.json, line 1", kept.FILES[kept.OPENROUTER].problem or "")

    def test_listings(self) -> None:
        kept.keep_listing(BOX, [{"served": "m", "context": 5, "price": {"input": 0}}], 0.0)
        self.assertEqual(kept.listings()["box"]["models"], {"m": {"context": 5, "price": {"input": 0}}})
        kept.forget_listing("box")
        self.assertNotIn("box", kept.listings())

    def test_versions_change_with_the_files(self) -> None:
        before = kept.versions()
        self.assertTrue(all(a is b for a, b in zip(before, kept.versions(), strict=True)))
        kept.keep_listing(BOX, [], 0.0)
        self.assertFalse(all(a is b for a, b in zip(before, kept.versions(), strict=True)))
