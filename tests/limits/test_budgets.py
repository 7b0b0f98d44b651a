import itertools
import random
import threading
import unittest
import unittest.mock

from metrics.bench import allowances, keys
from metrics.limits import budgets, cost, ledger
from metrics.records import Price, Problem, Target
from metrics.store.stamps import epoch, stamp
from tests.bench.bench import BY, BenchCase
from tests.effort import effort

NOW = epoch("2026-11-29T12:00:00Z")
USD = 10**12


def target(price=1.0, **more):
    """A model whose every token costs `price` USD per million."""
    known = None if price is None else Price(price, price)
    return Target("aa", "box:aa", "box", "box", "aa", "http://127.0.0.1:9", price=known, **more)


def spend(usd, key="app", collection="core", at=NOW, **more):
    row = {"at": stamp(at), "cost_usd": usd, "cost_status": "computed", "key": key, "collection": collection}
    ledger.add(row | more)


class Budgeted(BenchCase):
    def setUp(self):
        super().setUp()
        budgets._held.clear()
        self.addCleanup(budgets._held.clear)

    def key(self, budget, name="app", **more):
        keys.create(name, {"budget": budget, **more}, BY)

    def hold(self, tokens, key="app", collection="core", price=1.0, now=NOW):
        """Hold a call of so many tokens in and none out, a millionth of a dollar each."""
        return budgets.hold(key, collection, target(price), tokens, 0, now)

    def refused(self, *given, **more):
        with self.assertRaises(Problem) as caught:
            self.hold(*given, **more)
        self.assertEqual((caught.exception.status, caught.exception.code), (402, "budget_exceeded"))
        self.assertFalse(caught.exception.retryable)
        return caught.exception.message


class HoldTest(Budgeted):
    def test_what_fits_is_set_aside_and_settled(self):
        self.key("0.001usd/day")
        first = self.hold(600)
        self.assertIn("renews at 2026-11-30T00:00Z", self.refused(401))
        second = self.hold(400)
        self.refused(1)
        spend(0.0001)
        first.settle(0, NOW)
        first.settle(0, NOW)
        self.assertEqual(budgets.standing("app", None, NOW)[0]["left_usd"], 0.0005)
        self.refused(501)
        self.hold(500).settle(0, NOW)
        second.settle(0, NOW)
        self.assertEqual(budgets._held, {})

    def test_calls_that_cost_nothing_are_settled_beside_each_other_and_beside_others(self):
        self.key("1usd/day")
        for prices in itertools.product((0.0, 1.0), repeat=3):
            for order in itertools.permutations(range(3)):
                with self.subTest(prices, order=order):
                    held = [self.hold(100, price=price) for price in prices]
                    for one in order:
                        held[one].settle(7, NOW)
                    self.assertEqual(budgets._held, {})

    # budget, spent at, now, whether a call of 0.5 USD fits
    PERIODS = [
        ("1usd/day", "2026-11-29T00:00:00Z", "2026-11-29T23:59:59Z", False),
        ("1usd/day", "2026-11-29T00:00:00Z", "2026-11-30T00:00:00Z", True),
        ("1usd/month", "2026-11-01T00:00:00Z", "2026-11-30T23:59:59Z", False),
        ("1usd/month", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", True),
        ("1usd/total", "2025-01-01T00:00:00Z", "2026-12-01T00:00:00Z", False),
        ("5usd/day,1usd/month", "2026-11-29T00:00:00Z", "2026-11-30T00:00:00Z", False),
        ("5usd/total", "2026-11-29T00:00:00Z", "2026-11-30T00:00:00Z", True),
    ]

    def test_periods(self):
        for number, (budget, at, now, fits) in enumerate(self.PERIODS):
            name = f"k{number}"
            self.key(budget, name)
            spend(0.6, name, at=epoch(at))
            with self.subTest(budget, at=at, now=now):
                act = self.hold if fits else self.refused
                act(500_000, name, now=epoch(now))

    RENEWS = [
        ("day", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
        ("day", "2028-02-28T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("month", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("month", "2027-01-31T12:00:00Z", "2027-02-01T00:00:00Z"),
        ("total", "2026-12-01T00:00:00Z", None),
    ]

    def test_when_it_renews(self):
        for period, now, then in self.RENEWS:
            with self.subTest(period, now=now):
                self.assertEqual(budgets.renews(period, epoch(now)), then and epoch(then))

    def test_every_budget_that_applies_has_to_have_room(self):
        self.key("1usd/day")
        for whose, save, said in (
            ("core", lambda: allowances.save("core", {"budget": "0.1usd/day"}, BY), 'the collection "core"'),
            (None, lambda: allowances.save(None, {"budget": "0.05usd/day"}, BY), "the bench"),
        ):
            save()
            with self.subTest(whose):
                self.assertIn(said, self.refused(150_000 if whose else 80_000))
        self.refused(80_000, key="local", collection=None)
        self.hold(40_000, key="local").settle(0, NOW)

    def test_free_calls_and_keys_without_a_budget_always_fit(self):
        self.key("0usd/day")
        self.assertIn("$0.00 left of $0.00", self.refused(1))
        self.hold(10**6, price=0.0)
        self.hold(10**9, key="local")
        keys.create("open", {}, BY)
        self.assertFalse(budgets.limited("open") or budgets.limited("local"))
        self.assertTrue(budgets.limited("app"))
        self.hold(10**9, key="open")

    def test_what_cannot_be_told_fails_closed_unless_it_may(self):
        self.key("5usd/day")
        self.key("5usd/day", "easy", unknown_cost="allow")
        self.assertIn("no known price", self.refused(1, price=None))
        self.hold(1, key="easy", price=None).settle(0, NOW)
        allowances.save(None, {"budget": "5usd/day"}, BY)
        self.refused(1, key="easy", price=None)

    def test_a_call_whose_cost_stayed_unknown_counts_as_its_estimate(self):
        self.key("1usd/day")
        spend(None, cost_status="unknown", held_usd=0.7)
        self.refused(400_000)
        self.hold(300_000)

    # most, max_output, tokens out that are expected
    EXPECTED = [
        (None, None, budgets.OUT),
        (None, 500, 500),
        (None, 64_000, budgets.OUT),
        (9000, 500, 9000),
        (1, None, 1),
    ]

    def test_an_estimate(self):
        for most, max_output, out in self.EXPECTED:
            with self.subTest(most, max_output=max_output):
                expected = budgets.estimate(target(2.0, max_output=max_output), 100, most)
                self.assertEqual(expected, (100 + out) * 2 * 10**6)
        self.assertIsNone(budgets.estimate(target(None), 100, 5))

    def test_nothing_is_promised_while_the_sums_are_made_again(self):
        self.key("1usd/day")
        log = ledger.LOG.open()
        with unittest.mock.patch.object(type(log), "ready", False), self.assertRaises(Problem) as caught:
            self.hold(1)
        self.assertEqual(caught.exception.status, 503)

    def test_tokens_that_do_not_fit_hold_no_money(self):
        self.key("1usd/day", tpm=10)
        with self.assertRaises(Problem) as caught:
            self.hold(11)
        self.assertEqual((caught.exception.status, budgets._held), (429, {}))
        self.key("0usd/day", "poor", tpm=10)
        self.refused(5, key="poor")
        self.assertEqual(budgets.key_rates.state(keys.get("poor"), NOW)["tpm"]["used"], 0)


class CrowdTest(Budgeted):
    def test_128_threads_do_not_overspend(self):
        """Whatever the order, what is spent never exceeds the budget by more than calls cost above their
        estimate; here they cost no more."""
        self.key("0.01usd/day")
        allowances.save("core", {"budget": "0.008usd/month"}, BY)
        spent, lock, failed = [0], threading.Lock(), []

        def caller(seed):
            chance = random.Random(seed)
            for _ in range(6):
                size = chance.randint(1, 200)
                try:
                    held = self.hold(size)
                except Problem:
                    continue
                used = chance.randint(0, size)
                with lock:
                    spent[0] += used
                spend(used / 1e6)
                held.settle(used, NOW)
                if spent[0] > 8000:
                    failed.append(spent[0])

        threads = [threading.Thread(target=caller, args=(seed,)) for seed in range(128)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((failed, budgets._held), ([], {}))
        self.assertGreater(spent[0], 7000)
        self.assertEqual(ledger.spent(["key:app"], NOW)[0]["day"], spent[0] * 10**6)

    def test_thousands_of_schedules_against_a_plain_sum(self):
        """In virtual time: a budget is never exceeded by more than the estimate error of calls in flight."""
        self.key("0.001usd/day")
        key = "app"
        for seed in range(effort(200, 1500)):
            chance, flying, spent, errors = random.Random(seed), [], 0, 0
            now = NOW + seed * 86_400
            for _ in range(chance.randint(5, 25)):
                if flying and chance.random() < 0.5:
                    held, size = flying.pop(chance.randrange(len(flying)))
                    used = int(size * chance.choice((0, 0.5, 1, 1.5)))
                    spent, errors = spent + used, errors + max(0, used - size)
                    spend(used / 1e6, at=now)
                    held.settle(used, now)
                else:
                    size = chance.randint(1, 400)
                    fits = spent + sum(each for _, each in flying) + size <= 1000
                    try:
                        flying.append((self.hold(size, key, now=now), size))
                        self.assertTrue(fits, seed)
                    except Problem:
                        self.assertFalse(fits, seed)
                self.assertLessEqual(spent, 1000 + errors)
            for held, _ in flying:
                held.settle(0, now)
        self.assertEqual(budgets._held, {})


class ShownTest(Budgeted):
    def test_how_it_stands(self):
        self.key("1usd/day,5usd/total")
        spend(0.25)
        self.hold(500_000)
        told = budgets.standing("app", None, NOW)
        self.assertEqual([each["period"] for each in told], ["day", "total"])
        self.assertEqual(
            [told[0][name] for name in ("limit_usd", "spent_usd", "held_usd", "left_usd")],
            [1.0, 0.25, 0.5, 0.25],
        )
        self.assertEqual(told[1]["left_usd"], 4.25)

    USD = [
        (0, "$0.00"),
        (USD, "$1.00"),
        (USD // 10, "$0.10"),
        (USD // 100, "$0.01"),
        (1234 * 10**6, "$0.0012"),
    ]

    def test_amounts_for_people(self):
        for units, words in self.USD:
            self.assertEqual(budgets.usd(units), words)
        self.assertEqual(cost.units(0.25), USD // 4)


if __name__ == "__main__":
    unittest.main()
