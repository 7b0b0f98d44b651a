import unittest
from typing import Any

from metrics.bench import endpoints
from metrics.bench.endpoints import Endpoint
from metrics.evidence import reliability, rests
from metrics.limits import gate, states, told
from metrics.store.stamps import stamp
from tests.limits.test_gate import CHAT, NOW, OTHER, Gate, refused


class States(Gate):
    def states(self) -> dict[str, Any]:
        listed = states.connections(self.now, told.quotas(self.now))
        return {one["connection"]: one for one in listed}

    def state(self) -> tuple[Any, ...]:
        one = self.states()["groq"]
        self.assertEqual(
            one["held"], one["state"] == "resting" and not str(one["why"]).startswith("1 request")
        )
        return one["state"], one["next_at"], one["why"]

    def test_free_until_something_is_known(self) -> None:
        self.assertEqual(self.state(), ("free", None, None))

    def test_pacing_says_the_next_slot(self) -> None:
        self.limit(rpm=1)
        self.words(1)
        word, at, why = self.state()
        self.assertEqual((word, why), ("pacing", "1 request a minute"))
        self.assertLessEqual(at, stamp(NOW + 61))

    def test_one_model_that_may_go_makes_it_free(self) -> None:
        self.limit("aa", rpd=1)
        self.words(1)
        self.assertEqual(self.state()[0], "free")
        self.limit("bb", rpd=1)
        self.words(1, OTHER)
        self.assertEqual(self.state()[0], "resting")

    def test_a_refusal_of_all_is_resting_until_then(self) -> None:
        for target in (CHAT, OTHER):
            with self.entry(target) as entry:
                entry.ask(0)
                entry.refused(refused("window", NOW + 30))
        self.assertEqual(
            self.state(), ("resting", stamp(NOW + 30), "its provider said that a limit is used up")
        )
        self.assertEqual(self.states()["groq"]["refused"]["hours"][-1], 2)

    def test_who_rests_for_what_its_calls_came_to(self) -> None:
        for target in (CHAT, OTHER):
            reliability.note(target.model_id, "error", NOW, "overloaded", 120.0)
        self.assertEqual(self.state(), ("resting", stamp(NOW + 120), "it rests: overloaded"))

    def test_in_use_and_waiting(self) -> None:
        self.limit(concurrency=1)
        with self.entry() as first, self.entry() as second:
            first.ask(0)
            second.ask(60)
            one = self.states()["groq"]
            self.assertEqual((one["state"], one["in_use"], one["waiting"]), ("pacing", 1, 1))
        one = self.states()["groq"]
        self.assertEqual((one["state"], one["in_use"], one["waiting"]), ("free", 0, 0))

    def test_the_worst_comes_first(self) -> None:
        for name in ("calm", "half"):
            endpoints.save(Endpoint(name, "http://127.0.0.1:9/v1"), "test")
        self.limit("half", rpm=2)
        self.limit("groq", rpm=1)
        self.words(1)
        self.assertEqual(list(self.states()), ["groq", "half", "calm"])

    def test_a_user_lets_it_rest_and_wakes_it(self) -> None:
        connection = gate.connection("groq", self.now)
        connection.rest("", NOW + 3600, self.now)
        self.assertEqual(self.state(), ("resting", stamp(NOW + 3600), "somebody let it rest"))
        self.assertEqual(self.words(1), ["refuse"])
        connection.release(CHAT.model_id, self.now)  # a model alone does not end what was asked of all
        self.assertEqual(self.words(1), ["refuse"])
        self.restart()
        self.assertEqual(self.words(1), ["refuse"])
        gate.connection("groq", self.now).release("", self.now)
        self.assertEqual(self.words(1), ["go"])
        self.restart()
        self.assertEqual(self.words(1), ["go"])

    def test_waking_a_model_frees_it_of_what_its_provider_said(self) -> None:
        with self.entry() as entry:
            entry.ask(0)
            entry.refused(refused("window", NOW + 600, scope="connection"))
        self.assertEqual(self.words(1), ["refuse"])
        gate.connection("groq", self.now).release(CHAT.model_id, self.now)
        self.assertEqual(self.words(1), ["go"])

    def test_prices(self) -> None:
        self.assertIsNone(self.states()["groq"]["price"])

    def test_a_rest_of_its_own_is_no_limit(self) -> None:
        rests.rest(CHAT.model_id, NOW + 60, "test", NOW)
        self.assertEqual(self.state()[0], "free")  # the other one may go


if __name__ == "__main__":
    unittest.main()
