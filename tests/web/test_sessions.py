import json
import unittest

from metrics.web import sessions
from tests.bench.bench import BenchCase

TOKEN = "a token of some length"
NOW = 1_796_000_000.0


class SessionsTest(BenchCase):
    def test_a_session_lasts_a_week_and_no_longer(self):
        secret = sessions.begin(TOKEN, "1.2.3.4", NOW)
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
                self.assertEqual(sessions.good(shown, token, at), good)

    def test_neither_secret_nor_token_is_kept(self):
        secret = sessions.begin(TOKEN, "1.2.3.4", NOW)
        self.assertNotIn(secret, self.text("sessions.json"))
        self.assertNotIn(TOKEN, self.text("sessions.json"))

    def test_a_session_is_ended(self):
        secret = sessions.begin(TOKEN, "", NOW)
        self.assertEqual([sessions.end(secret), sessions.end(secret)], [True, False])
        self.assertFalse(sessions.good(secret, TOKEN, NOW))

    def test_what_is_over_goes_and_there_are_never_too_many(self):
        sessions.begin(TOKEN, "", NOW - sessions.LASTS - 1)
        sessions.begin("another token of length", "", NOW)
        for number in range(sessions.MOST + 5):
            last = sessions.begin(TOKEN, "", NOW + number)
        kept = {name: each for name, each in json.loads(self.text("sessions.json")).items() if name[0] != "_"}
        self.assertEqual(len([each for each in kept.values() if isinstance(each, dict)]), sessions.MOST)
        self.assertTrue(sessions.good(last, TOKEN, NOW + 200))

    def test_what_a_hand_wrote_opens_nothing(self):
        secret = sessions.begin(TOKEN, "", NOW)
        name = next(name for name in json.loads(self.text("sessions.json")) if len(name) == 64)
        for entry in (None, [], {}, {"token": 5}, {"token": sessions._mark(TOKEN), "expires": "never"}, "x"):
            with self.subTest(entry):
                self.write("sessions.json", json.dumps({name: entry}))
                self.assertFalse(sessions.good(secret, TOKEN, NOW))


if __name__ == "__main__":
    unittest.main()
