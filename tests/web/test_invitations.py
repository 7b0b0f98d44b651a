import json
import unittest

from metrics.bench import changes
from metrics.records import Problem
from metrics.web import invitations, roles
from tests.bench.bench import BY, BenchCase

TOKEN = "a token of some length"
NOW = 1_796_000_000.0
DAY = 86_400.0


class InvitationsTest(BenchCase):
    def invite(self, name="anna", role=roles.JUDGE, lasts=DAY, token=TOKEN):
        return invitations.invite(name, role, NOW + lasts, token, BY, NOW)

    def refused(self, act, *given, **named):
        with self.assertRaises(Problem) as told:
            act(*given, **named)
        return told.exception.status

    def test_it_is_good_once(self):
        secret = self.invite()
        self.assertEqual(invitations.accept(secret, TOKEN, NOW), roles.Person("anna", roles.JUDGE))
        self.assertIsNone(invitations.accept(secret, TOKEN, NOW))
        self.assertEqual(invitations.all(TOKEN, NOW), [])

    def test_what_lets_nobody_in(self):
        cases = [
            ("another", self.invite("anna") + "x", TOKEN, NOW),
            ("over", self.invite("bert"), TOKEN, NOW + DAY),
            ("another token", self.invite("cleo"), TOKEN + "x", NOW),
            ("nothing", "", TOKEN, NOW),
            ("a lone surrogate", "\ud800", TOKEN, NOW),
        ]
        for name, secret, token, at in cases:
            with self.subTest(name):
                self.assertIsNone(invitations.accept(secret, token, at))

    def test_neither_secret_nor_token_is_kept(self):
        secret = self.invite()
        for name in ("invitations.json", "changes.jsonl"):
            self.assertNotIn(secret, self.text(name))
            self.assertNotIn(TOKEN, self.text(name))

    def test_what_cannot_be(self):
        cases = [
            ({"name": "local"}, 400),
            ({"name": "admin"}, 400),
            ({"name": "a b"}, 400),
            ({"name": "<b>"}, 400),
            ({"role": "owner"}, 400),
            ({"role": ""}, 400),
            ({"lasts": 0.0}, 400),
            ({"lasts": invitations.LONGEST + 1}, 400),
        ]
        for given, status in cases:
            with self.subTest(given):
                self.assertEqual(self.refused(self.invite, **given), status)
        self.invite("twice")
        self.assertEqual(self.refused(self.invite, "twice"), 409)

    def test_there_are_never_too_many(self):
        self.invite("first")
        entry = next(iter(invitations.FILE.read().values()))
        with invitations.FILE.edit() as saved:
            saved |= {f"{n:064x}": {**entry, "name": f"n{n}"} for n in range(invitations.MOST - 1)}
        self.assertEqual(self.refused(self.invite, "last"), 409)

    def test_it_is_withdrawn_by_name(self):
        secret = self.invite()
        self.assertEqual([one.person.name for one in invitations.all(TOKEN, NOW)], ["anna"])
        invitations.withdraw("anna", BY)
        self.assertIsNone(invitations.accept(secret, TOKEN, NOW))
        self.assertEqual(self.refused(invitations.withdraw, "anna", BY), 404)
        told = [(row["what"], row["new"]) for row in changes.recent(5)[0]]
        self.assertEqual(told, [("invitation anna", "withdrawn"), ("invitation anna", "judge")])

    def test_what_a_hand_wrote_lets_nobody_in(self):
        secret = self.invite()
        saved = json.loads(self.text("invitations.json"))
        name = next(name for name in saved if len(name) == 64)
        good = saved[name]
        for entry in (None, [], {}, "x", good | {"role": "owner"}, good | {"name": 5}, good | {"made": "x"}):
            with self.subTest(entry):
                self.write("invitations.json", json.dumps({name: entry}))
                self.assertEqual(invitations.all(TOKEN, NOW), [])
                self.assertIsNone(invitations.accept(secret, TOKEN, NOW))


if __name__ == "__main__":
    unittest.main()
