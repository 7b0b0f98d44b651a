import json
import unittest

from metrics.records import Problem
from metrics.store.stamps import stamp
from metrics.web import roles, sessions
from metrics.web.roles import Person
from tests.bench.bench import BenchCase

TOKEN = "a token of some length"
NOW = 1_796_000_000.0


class SessionsTest(BenchCase):
    def test_a_session_lasts_a_week_and_no_longer(self):
        secret = sessions.begin(roles.OWNER, TOKEN, "1.2.3.4", NOW)
        cases = [
            (secret, TOKEN, NOW, True),
            (secret, TOKEN, NOW + sessions.LASTS - 1, True),
            (secret, TOKEN, NOW + sessions.LASTS + 1, False),
            (secret, TOKEN + "x", NOW, False),
            (secret + "x", TOKEN, NOW, False),
            ("", TOKEN, NOW, False),
            ("bws_", TOKEN, NOW, False),
            ("_v", TOKEN, NOW, False),
        ]
        for shown, token, at, good in cases:
            with self.subTest(shown=shown, at=at):
                self.assertEqual(sessions.find(shown, token, at) is not None, good)

    def test_neither_secret_nor_token_is_kept(self):
        secret = sessions.begin(roles.OWNER, TOKEN, "1.2.3.4", NOW)
        self.assertNotIn(secret, self.text("sessions.json"))
        self.assertNotIn(TOKEN, self.text("sessions.json"))

    def test_a_session_is_ended(self):
        secret = sessions.begin(roles.OWNER, TOKEN, "", NOW)
        self.assertEqual([sessions.end(secret), sessions.end(secret)], [True, False])
        self.assertFalse(sessions.find(secret, TOKEN, NOW))

    def test_whose_it_is_and_when_they_were_last_there(self):
        secret = sessions.begin(Person("anna", roles.JUDGE), TOKEN, "1.2.3.4", NOW)
        sessions.begin(roles.OWNER, TOKEN, "5.6.7.8", NOW + 1)
        found = sessions.find(secret, TOKEN, NOW + 60)
        self.assertEqual((found.name, found.role), ("anna", roles.JUDGE))
        anna, owner = sessions.all(TOKEN, NOW + 61)
        self.assertEqual((anna.person, owner.person.name), (found, roles.OWNER.name))
        self.assertEqual((anna.seen, anna.address), (stamp(NOW + 60), "1.2.3.4"))
        self.assertEqual((owner.seen, owner.begun), (stamp(NOW + 1), stamp(NOW + 1)))
        self.assertEqual(sessions.all(TOKEN + "x", NOW + 61), [])

    def test_it_is_written_down_now_and_then_that_a_session_is_used(self):
        secret = sessions.begin(roles.OWNER, TOKEN, "", NOW)
        for after, noted in ((1, False), (sessions.NOTED + 1, True), (sessions.NOTED + 2, True)):
            sessions.find(secret, TOKEN, NOW + after)
            with self.subTest(after):
                self.assertEqual(stamp(NOW + sessions.NOTED + 1) in self.text("sessions.json"), noted)

    def test_a_session_is_revoked_by_its_name_which_opens_nothing(self):
        secret = sessions.begin(Person("anna", roles.JUDGE), TOKEN, "", NOW)
        name = sessions.all(TOKEN, NOW)[0].person.session
        self.assertNotIn(name, secret)
        for shown in (name, sessions.PREFIX + name):
            self.assertIsNone(sessions.find(shown, TOKEN, NOW))
        self.assertEqual(sessions.revoke(name).name, "anna")
        self.assertIsNone(sessions.find(secret, TOKEN, NOW))
        for unknown in (name, "", "0"):
            with self.assertRaises(Problem) as refused:
                sessions.revoke(unknown)
            self.assertEqual(refused.exception.status, 404)

    def test_a_session_from_before_there_were_roles_is_an_admins_and_an_unknown_role_opens_nothing(self):
        secret = sessions.begin(roles.OWNER, TOKEN, "", NOW)
        saved = json.loads(self.text("sessions.json"))
        name = next(name for name in saved if len(name) == 64)
        for role, found in ((None, roles.ADMIN), ("judge", "judge"), ("owner", None), (5, None), ([], None)):
            saved[name].pop("role", None)
            saved[name] |= {} if role is None else {"role": role}
            with self.subTest(role):
                self.write("sessions.json", json.dumps(saved))
                got = sessions.find(secret, TOKEN, NOW)
                self.assertEqual(got and got.role, found)

    def test_what_is_over_goes_and_there_are_never_too_many(self):
        sessions.begin(roles.OWNER, TOKEN, "", NOW - sessions.LASTS - 1)
        sessions.begin(roles.OWNER, "another token of length", "", NOW)
        for number in range(sessions.MOST + 5):
            last = sessions.begin(roles.OWNER, TOKEN, "", NOW + number)
        kept = {name: each for name, each in json.loads(self.text("sessions.json")).items() if name[0] != "_"}
        self.assertEqual(len([each for each in kept.values() if isinstance(each, dict)]), sessions.MOST)
        self.assertTrue(sessions.find(last, TOKEN, NOW + 200))

    def test_what_a_hand_wrote_opens_nothing(self):
        secret = sessions.begin(roles.OWNER, TOKEN, "", NOW)
        name = next(name for name in json.loads(self.text("sessions.json")) if len(name) == 64)
        for entry in (None, [], {}, {"token": 5}, {"token": sessions._mark(TOKEN), "expires": "never"}, "x"):
            with self.subTest(entry):
                self.write("sessions.json", json.dumps({name: entry}))
                self.assertFalse(sessions.find(secret, TOKEN, NOW))


if __name__ == "__main__":
    unittest.main()
