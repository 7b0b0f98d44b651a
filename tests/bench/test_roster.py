import unittest

from metrics.bench import credentials, endpoints, moves, roster, settings
from metrics.bench.catalog import kept
from metrics.bench.endpoints import Endpoint
from metrics.bench.roster import Model
from metrics.records import Price, Problem, Tier
from tests.bench.bench import BY, BenchCase


class Reading(BenchCase):
    def test_target(self) -> None:
        endpoints.save(Endpoint("my-box", "http://127.0.0.1:9/v1", profile="api.groq.com"), BY)
        credentials.save("my-box", "key-of-a-test", BY)
        price = Price(0.5, 2)
        moves.add(Model("alpha", "my-box", "org/alpha:free", "code", True, None, None, 8192, 1024, price), BY)
        target = roster.target("alpha")
        self.assertEqual(target.model_id, "my-box:org/alpha:free")
        self.assertEqual(
            (target.connection, target.profile, target.key), ("my-box", "api.groq.com", "key-of-a-test")
        )
        self.assertEqual(
            (target.role, target.tools, target.vision, target.context), ("code", True, None, 8192)
        )
        self.assertEqual((target.price, target.price_version), (price, roster.price_version(price)))

    def test_the_profile_is_the_bases_host_otherwise(self) -> None:
        self.seat_models("alpha")
        target = roster.target("alpha")
        self.assertEqual(
            (target.profile, target.key, target.price, target.price_version), ("127.0.0.1", None, None, None)
        )

    def test_a_price_has_one_version(self) -> None:
        self.assertEqual(roster.price_version(Price(1, 2)), roster.price_version(Price(1.0, 2.0)))
        self.assertNotEqual(roster.price_version(Price(1, 2)), roster.price_version(Price(1, 2, 0)))

    def test_by_id_prefers_an_active_model(self) -> None:
        self.seat_models("alpha", "beta")
        moves.retire("beta", "", BY)
        self.assertEqual(roster.by_id("box:alpha").alias, "alpha")  # type: ignore[union-attr]
        self.assertEqual(roster.by_id("box:beta").retired["by"], BY)  # type: ignore[union-attr, index]
        self.assertIsNone(roster.by_id("box:gamma"))

    def test_absent(self) -> None:
        self.seat_models("alpha", "beta", "gamma")
        moves.retire("beta", "too slow", BY)
        moves.rename("gamma", "delta", BY)
        cases = [
            ("alpah", "did you mean alpha"),
            ("beta", "`bench model restore beta`"),
            ("gamma", 'is called "delta" now'),
            ("zeta-9", "`bench models`"),
        ]
        for alias, words in cases:
            with self.subTest(alias), self.assertRaises(Problem) as refusal:
                roster.get(alias)
            self.assertEqual(refusal.exception.status, 404)
            self.assertIn(words, refusal.exception.message)

    def test_an_edit_by_hand_is_seen(self) -> None:
        self.seat_models("alpha")
        self.write("models.json", '{"models": {"hand": {"endpoint": "box", "served": "x", "context": 10}}}')
        self.assertEqual(list(roster.all()), ["hand"])
        self.write(
            "models.json", '{"models": {"hand": {"endpoint": "box", "served": "x"}, "bad": {"served": "y"}}}'
        )
        self.assertEqual(list(roster.all()), ["hand"])
        self.assertIn('"endpoint" is missing', roster.SHELF.bad()["bad"])
        self.write("models.json", '{"models": []}')
        self.assertEqual(roster.all(), {})
        self.assertIn("must be an object", roster.SHELF.bad()["models"])

    def test_a_circle_of_names_ends(self) -> None:
        self.write("models.json", '{"names": {"a1": "b1", "b1": "a1"}}')
        self.assertIn(roster.current("a1"), ("a1", "b1"))


class Pool(BenchCase):
    def aliases(self) -> list[str]:
        return [model.alias for model in roster.pool()]

    def test_the_squad_explores_while_nobody_else_is_there(self) -> None:
        self.seat_squad("practice-lint", "practice-terse")
        self.assertEqual(self.aliases(), ["practice-lint", "practice-terse"])
        self.seat_models("alpha")
        self.assertEqual(self.aliases(), ["alpha"])
        settings.save({"practice_in_pool": True}, BY)
        self.assertEqual(self.aliases(), ["practice-lint", "practice-terse", "alpha"])

    def test_the_servers_option_keeps_it_in(self) -> None:
        self.seat_models("alpha")
        self.seat_squad("practice-lint", in_pool=True)
        self.assertEqual(self.aliases(), ["practice-lint", "alpha"])

    def test_who_never_explores(self) -> None:
        self.seat_models("alpha", "painter", "judge", "sees", "guest", "gone")
        moves.change("painter", BY, role="image")
        moves.change("judge", BY, role="decision")
        moves.change("sees", BY, role="vision")
        moves.change("guest", BY, ad_hoc=True)
        moves.retire("gone", "", BY)
        self.assertEqual(self.aliases(), ["alpha", "sees"])

    def test_a_model_whose_endpoint_is_gone_does_not_explore(self) -> None:
        self.seat_models("alpha")
        endpoints.remove("box", BY)
        self.assertEqual(self.aliases(), [])


class Squad(BenchCase):
    def test_players_say_what_they_are(self) -> None:
        self.seat_squad("practice-lint")
        player = roster.get("practice-lint")
        self.assertTrue(player.builtin)
        self.assertEqual(player.description, "a program, not a model")
        self.assertTrue(roster.target("practice-lint").builtin)
        self.assertEqual(self.text("models.json"), "")

    def test_nothing_changes_a_player(self) -> None:
        self.seat_squad("practice-lint")
        steps = [
            lambda: moves.change("practice-lint", BY, role="code"),
            lambda: moves.rename("practice-lint", "lint", BY),
            lambda: moves.retire("practice-lint", "", BY),
            lambda: moves.add(Model("mine", "practice", "lint"), BY),
        ]
        for step in steps:
            with self.assertRaises(Problem) as refusal:
                step()
            self.assertIn("built", refusal.exception.message)

    def test_seating_again_replaces(self) -> None:
        self.seat_squad("practice-lint", "practice-terse")
        self.seat_squad("practice-lint")
        self.assertEqual(list(roster.all()), ["practice-lint"])


if __name__ == "__main__":
    unittest.main()


OFFER = {"context": 9, "tools": True, "vision": False, "max_output": 5, "price": {"input": 2, "output": 3}}


class Filled(BenchCase):
    """What the user did not say of a model is the catalog's."""

    def setUp(self) -> None:
        super().setUp()
        kept.save(kept.MODELS_DEV, {"openai": {"models": {"gpt": OFFER}}}, 0.0)
        endpoints.save(Endpoint("oai", "https://api.openai.com/v1"), BY)
        moves.add(Model("mine", "oai", "gpt", vision=True, price=Price(1, 1)), BY)
        moves.add(Model("bare", "oai", "gpt"), BY)
        moves.add(Model("other", "oai", "unheard-of"), BY)

    def test_the_catalog_says_what_the_user_did_not(self) -> None:
        bare, mine, other = (roster.target(alias) for alias in ("bare", "mine", "other"))
        self.assertEqual((bare.context, bare.max_output, bare.tools, bare.vision), (9, 5, True, False))
        self.assertEqual(bare.price, Price(2, 3, source="models.dev"))
        self.assertEqual(bare.price_version, roster.price_version(Price(2, 3)))
        self.assertEqual((mine.context, mine.vision, mine.price), (9, True, Price(1, 1)))
        self.assertEqual((other.context, other.tools, other.price), (None, None, None))
        self.assertEqual(roster.all()["bare"].context, 9)

    def test_an_edit_saves_the_users_word_alone(self) -> None:
        moves.change("bare", BY, role="code")
        saved = roster.FILE.read()["models"]["bare"]
        self.assertEqual(saved, {"endpoint": "oai", "served": "gpt", "role": "code"})
        moves.retire("bare", "", BY)
        moves.restore("bare", BY)
        self.assertNotIn("price", roster.FILE.read()["models"]["bare"])
        self.assertEqual(roster.get("bare").context, 9)

    def test_what_runs_on_the_users_own_machine_is_free_unless_somebody_says_otherwise(self) -> None:
        endpoints.save(Endpoint("box", "http://127.0.0.1:11434/v1", kind="local"), BY)
        moves.add(Model("small", "box", "qwen3"), BY)
        moves.add(Model("dear", "box", "qwen3", price=Price(1, 1)), BY)
        self.assertEqual(roster.target("small").price, Price(plan="free", source="local"))
        self.assertEqual(roster.target("dear").price, Price(1, 1))

    def test_a_newer_feed_counts_at_once(self) -> None:
        self.assertEqual(roster.get("bare").context, 9)
        kept.save(kept.MODELS_DEV, {"openai": {"models": {"gpt": {"context": 10}}}}, 0.0)
        self.assertEqual((roster.get("bare").context, roster.get("bare").price), (10, None))

    def test_a_broken_catalog_or_endpoint_file_takes_no_model_away(self) -> None:
        self.write("catalog/models.dev.json", "{")
        self.assertIn("bare", roster.all())
        self.write("endpoints.json", "{")
        self.assertEqual(roster.get("mine").price, Price(1, 1))


class Prices(BenchCase):
    def test_tiers_and_plans_are_kept_as_they_were_given(self) -> None:
        self.seat_models("alpha")
        for price in (
            {"input": 3, "output": 15, "tiers": [{"above": 200_000, "input": 6}]},
            {"plan": "flat"},
        ):
            with self.subTest(price):
                moves.change("alpha", BY, price=price)
                self.assertEqual(roster.FILE.read()["models"]["alpha"]["price"], price)
                self.assertEqual(roster.stored_price(roster.get("alpha").price or Price()), price)

    def test_each_price_has_its_version(self) -> None:
        tiers = (Tier(5, 1), Tier(5, 2), Tier(6, 1))
        prices = [Price(1), Price(1, plan="flat"), *(Price(1, tiers=(tier,)) for tier in tiers)]
        self.assertEqual(len({roster.price_version(price) for price in prices}), len(prices))
        self.assertEqual(roster.price_version(Price(1)), roster.price_version(Price(1, source="listing")))

    def test_what_is_no_price(self) -> None:
        self.seat_models("alpha")
        for wrong in (
            {"plan": "cheap"},
            {"tiers": 5},
            {"tiers": [5]},
            {"tiers": [{"input": 5}]},
            {"tiers": [{"above": 0}]},
            {"tiers": [{"above": 5, "in": 5}]},
            {"tiers": [{"above": 5}, {"above": 5}]},
            {"source": "listing"},
        ):
            with self.subTest(wrong), self.assertRaises(Problem):
                moves.change("alpha", BY, price=wrong)
