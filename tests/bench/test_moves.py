import json
import threading
import unittest
from dataclasses import replace
from typing import Any

from metrics.bench import changes, collections, credentials, endpoints, moves, roster, settings
from metrics.bench.endpoints import Endpoint
from metrics.bench.roster import Model
from metrics.records import Price, Problem
from tests.bench.bench import BY, BenchCase

NOW = 1_795_961_340.0  # 2026-11-29T14:09:00Z


class Adding(BenchCase):
    def test_an_alias_in_use_is_refused_and_another_proposed(self) -> None:
        self.seat_models("beta-2")
        self.seat_models(endpoint="anth")
        with self.assertRaises(Problem) as refusal:
            moves.add(Model("beta-2", "anth", "beta-2"), BY)
        self.assertEqual((refusal.exception.status, refusal.exception.kind), (409, "conflict"))
        self.assertIn('"beta-2" is taken: it names box:beta-2', refusal.exception.message)
        self.assertIn('"beta-2-anth"', refusal.exception.message)
        self.assertEqual(roster.get("beta-2").endpoint, "box")

    def test_the_proposal_is_free(self) -> None:
        self.seat_models("m1", endpoint="box")
        self.seat_models("m1-fox", endpoint="fox")
        self.assertEqual(moves.proposal("m1", "fox"), "m1-fox-2")

    def test_a_name_in_other_capitals_is_the_same_name(self) -> None:
        self.seat_squad("practice-lint")
        self.seat_models("t2", "other", "gone")
        moves.retire("gone", "", BY)
        for alias, twin in (("T2", "t2"), ("Gone", "gone"), ("Practice-Lint", "practice-lint")):
            with self.subTest(alias), self.assertRaises(Problem) as refusal:
                moves.add(Model(alias, "box", "x"), BY)
            self.assertEqual(refusal.exception.status, 409)
            self.assertIn(f'differs from "{twin}" only in capitals', refusal.exception.message)
            self.assertIn(f'"{alias}-box"', refusal.exception.message)
        with self.assertRaises(Problem):
            moves.rename("other", "T2", BY)
        self.assertEqual(moves.rename("t2", "T2", BY).alias, "T2")  # its own name in other capitals
        self.assertEqual(moves.rename("T2", "t2", BY).alias, "t2")

    def test_a_practice_players_name_is_in_use(self) -> None:
        self.seat_squad("practice-lint")
        self.seat_models("alpha")
        with self.assertRaises(Problem):
            moves.add(Model("practice-lint", "box", "x"), BY)

    def test_refused(self) -> None:
        self.seat_models("alpha")
        cases = [
            (Model("x", "box", "s"), "2 to 64"),
            (Model("model", "nowhere", "s"), "there is no endpoint"),
            (Model("model", "box", ""), "must not be empty"),
            (Model("model", "box", "s", role="boss"), "one of general"),
            (Model("model", "box", "s", context=0), "whole number"),
            (Model("model", "box", "s", max_output=1_000_001), "from 1 to 1000000"),
            (Model("model", "box", "s", price=Price(-1)), "a number from 0"),
        ]
        for model, words in cases:
            with self.subTest(words), self.assertRaises(Problem) as refusal:
                moves.add(model, BY)
            self.assertIn(words, refusal.exception.message)
        self.assertEqual(list(roster.all()), ["alpha"])

    def test_kept_as_given(self) -> None:
        self.seat_models("alpha")
        model = Model("full", "box", "org/full:free", "code", True, False, None, 8192, 512, Price(0, 0), True)
        moves.add(model, BY)
        self.assertEqual(roster.get("full"), model)
        self.assertEqual(changes.recent(1)[0][0]["field"], "added")


class Changing(BenchCase):
    def test_facts(self) -> None:
        self.seat_models("alpha")
        changed = moves.change(
            "alpha", BY, tools="yes", vision=False, context=4096, price={"input": 1}, role="code"
        )
        self.assertEqual(
            changed,
            replace(
                Model("alpha", "box", "alpha"),
                tools=True,
                vision=False,
                context=4096,
                price=Price(1),
                role="code",
            ),
        )
        self.assertEqual(moves.change("alpha", BY, tools=None, price=None).tools, None)
        self.assertIsNone(roster.get("alpha").price)

    def test_refused(self) -> None:
        self.seat_models("alpha")
        cases: list[tuple[dict[str, Any], str]] = [
            ({"tools": "maybe"}, "true, false or null"),
            ({"served": "other"}, '"served" is not a field here'),
            ({"price": "cheap"}, "must be an object"),
            ({"ad_hoc": "yes"}, "true or false"),
        ]
        for facts, words in cases:
            with self.subTest(facts=facts), self.assertRaises(Problem) as refusal:
                moves.change("alpha", BY, **facts)
            self.assertIn(words, refusal.exception.message)

    def test_a_member_keeps_a_role_that_sits(self) -> None:
        self.seat_models("alpha")
        collections.save("core", {"members": ["alpha"]}, BY)
        moves.change("alpha", BY, role="vision")
        with self.assertRaises(Problem) as refusal:
            moves.change("alpha", BY, role="image")
        self.assertIn("bench collection save core --remove alpha", refusal.exception.message)

    def test_what_a_hand_wrote_beside_it_stays(self) -> None:
        self.seat_models("alpha")
        self.write(
            "models.json", '{"models": {"alpha": {"endpoint": "box", "served": "alpha", "_why": "fast"}}}'
        )
        moves.change("alpha", BY, role="code")
        self.assertIn("_why", self.text("models.json"))


class Renaming(BenchCase):
    def test_collections_follow_and_the_id_stays(self) -> None:
        self.seat_models("alpha", "beta")
        collections.save("core", {"members": ["alpha", "beta"], "merger": "alpha", "reply": "merged"}, BY)
        moves.rename("alpha", "omega", BY)
        core = collections.get("core")
        self.assertEqual((core.members, core.merger), (("omega", "beta"), "omega"))
        self.assertEqual(roster.get("omega").model_id, "box:alpha")
        self.assertEqual(json.loads(self.text("models.json"))["names"], {"alpha": "omega"})

    def test_an_old_name_goes_to_nobody_else_but_may_return(self) -> None:
        self.seat_models("alpha", "beta")
        moves.rename("alpha", "omega", BY)
        for step in (
            lambda: moves.add(Model("alpha", "box", "other"), BY),
            lambda: moves.rename("beta", "alpha", BY),
            lambda: moves.rename("beta", "omega", BY),
            lambda: moves.rename("gone", "new", BY),
            lambda: moves.rename("beta", "no good", BY),
        ):
            with self.assertRaises(Problem):
                step()
        moves.rename("omega", "alpha", BY)
        self.assertEqual(roster.current("omega"), "alpha")
        self.assertEqual(set(roster.all()), {"alpha", "beta"})

    def test_a_kill_between_the_two_writes_loses_no_member(self) -> None:
        self.seat_models("alpha", "beta")
        collections.save("core", {"members": ["alpha", "beta"], "merger": "alpha"}, BY)
        before = self.text("collections.json")
        moves.rename("alpha", "omega", BY)
        self.write("collections.json", before)
        core = collections.get("core")
        self.assertEqual((core.members, core.merger), (("omega", "beta"), "omega"))

    def test_a_broken_collections_file_blocks_it_whole(self) -> None:
        self.seat_models("alpha")
        self.write("collections.json", "{")
        with self.assertRaises(Problem):
            moves.rename("alpha", "omega", BY)
        self.assertEqual((list(roster.all()), self.text("collections.json")), (["alpha"], "{"))


class Retiring(BenchCase):
    def setUp(self) -> None:
        super().setUp()
        self.seat_models("alpha", "beta", "gamma")
        collections.save("core", {"members": ["alpha", "beta", "gamma"], "merger": "beta"}, BY)
        collections.save("side", {"members": ["beta", "alpha"]}, BY)

    def test_leaves_and_returns_where_it_was(self) -> None:
        gone = moves.retire("beta", "too slow", BY, now=NOW)
        self.assertEqual((gone.retired or {})["at"], "2026-11-29T14:09:00.000Z")
        self.assertEqual((gone.retired or {})["why"], "too slow")
        core = collections.get("core")
        self.assertEqual((core.members, core.merger), (("alpha", "gamma"), None))
        collections.remove("side", BY)
        model, back = moves.restore("beta", BY)
        self.assertEqual((model.retired, back), (None, ["core"]))
        core = collections.get("core")
        self.assertEqual((core.members, core.merger), (("alpha", "beta", "gamma"), "beta"))
        self.assertEqual(roster.retired(), {})

    def test_its_name_stays_its_own(self) -> None:
        moves.retire("beta", "", BY)
        for step in (
            lambda: moves.add(Model("beta", "box", "other"), BY),
            lambda: moves.rename("alpha", "beta", BY),
        ):
            with self.assertRaises(Problem) as refusal:
                step()
            self.assertIn("`bench model restore beta`", refusal.exception.message)

    def test_a_full_collection_is_left_as_it_is(self) -> None:
        moves.retire("beta", "", BY)
        settings.save({"max_calls": 2}, BY)
        self.assertEqual(moves.restore("beta", BY)[1], ["side"])
        self.assertEqual(collections.get("core").members, ("alpha", "gamma"))

    def test_refused(self) -> None:
        for step, words in (
            (lambda: moves.retire("nobody", "", BY), "there is no model"),
            (lambda: moves.retire("alpha", "x" * 301, BY), "301 characters"),
            (lambda: moves.restore("alpha", BY), "retired are: none"),
        ):
            with self.subTest(words), self.assertRaises(Problem) as refusal:
                step()
            self.assertIn(words, refusal.exception.message)

    def test_an_endpoint_leaves_with_its_models_only_if_told(self) -> None:
        credentials.save("box", "key-of-a-test", BY)
        with self.assertRaises(Problem) as refusal:
            moves.remove_endpoint("box", False, BY)
        self.assertIn("has models on the bench (alpha, beta, gamma)", refusal.exception.message)
        self.assertIn("bench endpoint rm box --with-models", refusal.exception.message)
        self.assertEqual(moves.remove_endpoint("box", True, BY), ["alpha", "beta", "gamma"])
        self.assertEqual((endpoints.all(), roster.all(), credentials.key("box", {})), ({}, {}, None))
        with self.assertRaises(Problem) as refusal:
            moves.restore("alpha", BY)
        self.assertIn('no endpoint "box"', refusal.exception.message)
        endpoints.save(Endpoint("box", "http://127.0.0.1:9/v1"), BY)
        self.assertEqual(moves.restore("alpha", BY)[1], ["core", "side"])


class ByHand(BenchCase):
    def test_sections_that_are_none(self) -> None:
        self.seat_models("alpha")
        entry = '"alpha": {"endpoint": "box", "served": "alpha"}'
        for text in (
            '{"models": []}',
            f'{{"models": {{{entry}}}, "retired": 5}}',
            f'{{"models": {{{entry}}}, "names": []}}',
        ):
            for step in (
                lambda: moves.add(Model("new", "box", "x"), BY),
                lambda: moves.rename("alpha", "omega", BY),
                lambda: moves.retire("alpha", "", BY),
                lambda: moves.remove_endpoint("box", True, BY),
            ):
                with self.subTest(text):
                    self.write("models.json", text)
                    try:
                        step()
                    except Problem:
                        pass

    def test_a_retirement_that_makes_no_sense_is_still_undone(self) -> None:
        self.seat_models("alpha")
        collections.save("core", {"members": ["alpha"]}, BY)
        for record in ("5", '{"collections": [5, {"name": "core"}, {"name": [], "at": "x"}]}'):
            gone = f'{{"endpoint": "box", "served": "x", "retired": {record}}}'
            self.write("models.json", f'{{"retired": {{"gone": {gone}}}, "models": {{}}}}')
            self.assertEqual(moves.restore("gone", BY)[1], [])
            self.assertEqual(roster.get("gone").served, "x")


class Together(BenchCase):
    def test_parallel_edits_all_count(self) -> None:
        self.seat_models(*(f"m{n}" for n in range(12)))
        collections.save("core", {"members": ["m0"]}, BY)
        failures: list[BaseException] = []

        def attempt(step: Any) -> None:
            try:
                step()
            except BaseException as failure:
                failures.append(failure)

        steps = [lambda n=n: moves.add(Model(f"n{n}", "box", f"n{n}"), BY) for n in range(8)]
        steps += [lambda n=n: moves.rename(f"m{n}", f"r{n}", BY) for n in range(6)]
        steps += [lambda n=n: moves.retire(f"m{n}", "", BY) for n in range(6, 12)]
        threads = [threading.Thread(target=attempt, args=(step,)) for step in steps]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(set(roster.all()), {f"n{n}" for n in range(8)} | {f"r{n}" for n in range(6)})
        self.assertEqual(set(roster.retired()), {f"m{n}" for n in range(6, 12)})
        self.assertEqual(collections.get("core").members, ("r0",))


if __name__ == "__main__":
    unittest.main()
