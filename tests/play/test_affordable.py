from dataclasses import replace

from metrics.bench import keys
from metrics.limits import budgets, cost
from metrics.play import affordable, calls, candidates, merging, routing, seating
from metrics.play import panel as play
from metrics.records import Answer, Price, Problem, Seat, Target
from tests.play.house import BY, NOW, House, draw, request
from tests.provider import text

DOLLARS = {"free": 0, "cheap": 1000, "dear": 10_000, "dark": None}  # a million tokens said; None: unknown


class AffordableTest(House):
    def setUp(self):
        super().setUp()
        budgets._held.clear()
        for alias, usd in DOLLARS.items():
            self.provider.script(alias, text("said"))
            self.add(alias, **({} if usd is None else {"price": Price(0, usd, 0, 0)}))
        self.seat("core", *DOLLARS)
        self.seat("paid", "cheap", "dear")

    def asked(self, usd=None, collection="core", **more):
        budget = cost.units(usd)
        return request(collection, budget=budget, options={"max_tokens": 10}, **more)

    # what the request may cost in USD, who sits
    CASES = [
        (None, ["free", "cheap", "dear", "dark"]),
        (0, ["free"]),
        (0.01, ["free", "cheap"]),
        (0.1, ["free", "cheap"]),
        (0.11, ["free", "cheap", "dear"]),
        (5, ["free", "cheap", "dear"]),
    ]

    def test_who_fits_into_what_the_request_allows(self):
        for usd, seated in self.CASES:
            with self.subTest(usd):
                panel = affordable.fitted(seating.convene(self.asked(usd), draw()))
                self.assertEqual([seat.target.alias for seat in panel.seats], seated)
                self.assertEqual({skip.alias for skip in panel.skipped}, set(DOLLARS) - set(seated))

    def test_nobody_fits(self):
        panel = seating.convene(self.asked(0.001, "paid"), draw())
        with self.assertRaises(Problem) as caught:
            affordable.fitted(panel)
        self.assertEqual(caught.exception.status, 402)
        self.assertIn("cheap may cost $0.01, and this request has", caught.exception.message)
        with self.assertRaises(Problem) as caught:
            routing.begin(self.asked(0.001, "paid", reply="route"), NOW, "0" * 8, 1)
        self.assertEqual((caught.exception.status, caught.exception.code), (402, "budget_exceeded"))

    def test_a_turn_goes_to_whom_it_can_pay(self):
        fit, skipped = candidates.candidates(self.asked(0.05, reply="route"), NOW)
        self.assertEqual([one.alias for one in fit], ["free", "cheap"])
        self.assertEqual([skip.alias for skip in skipped], ["dear", "dark"])

    def test_members_come_before_explorers_in_a_keys_budget(self):
        keys.create("app", {"budget": "0.02usd/day"}, BY)
        panel = affordable.fitted(seating.convene(self.asked(key="app"), draw()))
        self.assertEqual([seat.target.alias for seat in panel.seats], ["free", "cheap"])

    def test_a_seat_that_lost_the_race_is_skipped_and_no_work(self):
        """Others may spend between the look and the call."""
        keys.create("app", {"budget": "0.02usd/day"}, BY)
        panel = affordable.fitted(seating.convene(self.asked(collection="paid", key="app"), draw()))
        hold = budgets.hold("app", "paid", panel.seats[0].target, 0, 20)
        answers = list(play.run(panel))[-1].answers
        self.assertEqual(
            [(one.status, one.error, one.http_status) for one in answers], [("skipped", "budget", 402)]
        )
        problem = play.failure(answers)
        self.assertEqual((problem.status, problem.code), (402, "budget_exceeded"))
        self.assertEqual(self.provider.requests, [])
        hold.settle(0, NOW)

    def test_a_turn_falls_to_the_next_when_the_first_cannot_be_paid(self):
        keys.create("app", {"budget": "0.02usd/day"}, BY)
        turn = routing.begin(self.asked(collection="paid", key="app", reply="route"), NOW, "0" * 8, 1)
        list(routing.play(turn))
        self.assertEqual(turn.seat.target.alias, "cheap")

    def test_a_merger_that_cannot_be_paid_merges_nothing(self):
        panel = seating.convene(self.asked(0.5, "paid", reply="merged"), draw())
        answers = [Answer(seat, "ok", "words", cost=cost.units(0.2)) for seat in panel.seats]
        self.assertIn("merging could cost more", merging.choose(panel, answers))
        richer = replace(panel, request=self.asked(9, "paid", reply="merged"))
        self.assertEqual(merging.choose(richer, answers).target.alias, "cheap")


class ScopedTest(House):
    def setUp(self):
        super().setUp()
        self.seat("core", "m1", "m2", explorers=2)
        self.add("e1", "e2")

    def test_only_models_of_the_key_sit_explore_take_turns_and_merge(self):
        asked = request(models=frozenset({"m1", "e2"}), reply="merged")
        panel = seating.convene(asked, draw())
        self.assertEqual([seat.target.alias for seat in panel.seats], ["m1", "e2"])
        whys = {skip.alias: skip.why for skip in panel.skipped}
        self.assertEqual(set(whys.values()), {seating.NOT_THEIRS})
        self.assertEqual(set(whys), {"m2", "e1"})
        fit, _ = candidates.candidates(asked, NOW)
        self.assertEqual([one.alias for one in fit], ["m1"])
        answers = [Answer(seat, "ok", "words") for seat in panel.seats]
        self.assertIn(merging.choose(replace(panel, merger="m2"), answers).target.alias, ("m1", "e2"))

    def test_a_turn_that_nobody_may_take_is_forbidden(self):
        with self.assertRaises(Problem) as caught:
            routing.begin(request(models=frozenset({"e1"}), reply="route"), NOW, "0" * 8, 1)
        self.assertEqual(caught.exception.status, 403)


class HeldTest(House):
    def test_a_row_says_what_was_held_for_a_cost_that_stayed_unknown(self):
        seat = Seat(
            "p20261129-142645-0a1b2c3d.member1", "member", Target("m", "e:m", "e", "e", "m", "http://h")
        )
        unknown = Answer(seat, "error", cost_status="unknown")
        known = replace(unknown, cost=1, cost_status="computed")
        for answer, units, held in (
            (unknown, 5 * 10**11, 0.5),
            (unknown, None, None),
            (known, 5 * 10**11, None),
        ):
            with self.subTest(answer.cost_status, units=units):
                row = calls.row(answer, calls.Filing("panel"), NOW, budgets.Hold("app", units))
                self.assertEqual(row["held_usd"], held)
        self.assertIsNone(calls.row(unknown, calls.Filing("panel"), NOW)["held_usd"])
