import hashlib
import json
import unittest

from metrics.bench import changes, collections, keys
from metrics.records import Problem
from metrics.store.stamps import epoch
from tests.bench.bench import BY, BenchCase

NOW = 1_796_000_000.0


class KeysTest(BenchCase):
    def setUp(self):
        super().setUp()
        self.seat_models("aa")
        collections.save("core", {"members": ["aa"]}, BY)

    def test_a_key_is_shown_once_and_kept_as_its_digest(self):
        secret = keys.create("app", {"collections": ["core"], "rpm": 5}, BY)
        self.assertRegex(secret, r"\Abwk_[A-Za-z0-9_-]{43}\Z")
        saved = json.loads(self.text("keys.json"))["app"]
        self.assertEqual(saved["sha256"], hashlib.sha256(secret.encode()).hexdigest())
        self.assertEqual(saved["prefix"], secret[:8])
        told = json.dumps([keys.shown(keys.get("app")), *changes.recent(20)[0]])
        for text in (self.text("keys.json"), told, repr(keys.get("app"))):
            self.assertNotIn(secret, text)
        self.assertNotIn(saved["sha256"], told + repr(keys.get("app")))
        self.assertEqual(keys.find(secret), keys.get("app"))
        self.assertEqual(keys.get("app").scope.collections, ("core",))

    def test_a_wrong_key_finds_nothing(self):
        secret = keys.create("app", {}, BY)
        for wrong in (
            "",
            "bwk_",
            secret[:-1],
            secret + "x",
            secret.swapcase(),
            "\ud800",
            secret.encode().hex(),
        ):
            with self.subTest(wrong):
                self.assertIsNone(keys.find(wrong))

    def test_whether_it_can_be_used(self):
        for name, limits, enabled, at, said in (
            ("good", {}, True, NOW, None),
            ("off", {}, False, NOW, "disabled"),
            ("old", {"expires": "2026-11-29"}, True, epoch("2026-11-29"), "expired on 2026-11-29"),
            ("not-yet", {"expires": "2026-11-29"}, True, epoch("2026-11-29") - 1, None),
        ):
            with self.subTest(name):
                keys.create(name, {}, BY)
                keys.limit(name, limits, BY)
                key = keys.enable(name, enabled, BY)
                try:
                    keys.usable(key, at)
                    got = None
                except Problem as problem:
                    got = problem.message
                    self.assertEqual((problem.status, problem.headers[0][0]), (401, "WWW-Authenticate"))
                self.assertEqual(got is None, said is None)
                self.assertIn(said or "", got or "")
                self.assertEqual(keys.last_used(key), None if said else at)

    def test_a_key_is_rotated_disabled_limited_and_revoked(self):
        first = keys.create("app", {"rpm": 5}, BY)
        second = keys.rotate("app", BY)
        self.assertIsNone(keys.find(first))
        self.assertEqual(keys.find(second).rpm, 5)
        self.assertFalse(keys.enable("app", False, BY).enabled)
        self.assertEqual(keys.limit("app", {"rpm": None, "budget": "5usd/month"}, BY).budget, {"month": 5.0})
        self.assertIsNone(keys.get("app").rpm)
        keys.revoke("app", BY)
        self.assertIsNone(keys.find(second))
        noted = [(row["field"], row["new"]) for row in changes.recent(7)[0]]
        self.assertEqual(
            noted,
            [
                ("key", "revoked"),
                ("budget", {"month": 5.0}),
                ("rpm", None),
                ("enabled", False),
                ("key", "replaced"),
                ("rpm", 5),
                ("key", "created"),
            ],
        )

    REFUSED = [
        ("app", {}, 409),
        ("local", {}, 400),
        ("a b", {}, 400),
        ("", {}, 400),
        ("x1", {"collections": ["nope"]}, 400),
        ("x1", {"models": ["nope"]}, 404),
        ("x1", {"modes": ["shout"]}, 400),
        ("x1", {"rpm": 0}, 400),
        ("x1", {"tpm": "many"}, 400),
        ("x1", {"budget": "5"}, 400),
        ("x1", {"expires": "soon"}, 400),
        ("x1", {"expires": "2020-01-01"}, 400),
        ("x1", {"unknown_cost": "maybe"}, 400),
        ("x1", {"admin": True}, 400),
    ]

    def test_what_cannot_be_is_refused_and_nothing_is_kept(self):
        keys.create("app", {}, BY)
        for name, limits, status in self.REFUSED:
            with self.subTest(name, limits=limits), self.assertRaises(Problem) as caught:
                keys.create(name, limits, BY)
            self.assertEqual(caught.exception.status, status, caught.exception.message)
            self.assertNotIn(",,", caught.exception.message)
        self.assertEqual(list(keys.all()), ["app"])

    def test_unknown_names_are_a_404(self):
        for act in (keys.rotate, keys.revoke, lambda name, by: keys.enable(name, True, by)):
            with self.assertRaises(Problem) as caught:
                act("nobody", BY)
            self.assertEqual(caught.exception.status, 404)

    def test_an_entry_that_a_hand_broke_opens_nothing_and_the_others_do(self):
        secret = keys.create("good", {}, BY)
        saved = json.loads(self.text("keys.json"))
        broken = (
            {"sha256": "short"},
            {},
            [],
            {**saved["good"], "rpm": "x"},
            {**saved["good"], "expires": "90d"},
        )
        for entry in broken:
            with self.subTest(entry):
                self.write("keys.json", json.dumps({**saved, "bad": entry}))
                self.assertEqual((list(keys.all()), list(keys.SHELF.bad())), (["good"], ["bad"]))
                self.assertEqual(keys.find(secret).name, "good")
                with self.assertRaises(Problem) as caught:
                    keys.get("bad")
                self.assertEqual(caught.exception.status, 503)

    def test_an_edit_by_hand_holds_at_once(self):
        secret = keys.create("app", {}, BY)
        saved = json.loads(self.text("keys.json"))
        saved["app"]["enabled"] = False
        self.write("keys.json", json.dumps(saved))
        self.assertFalse(keys.find(secret).enabled)

    def test_spans_and_dates(self):
        for text in ("90d", "12h", "1y", "2w", "30m", "2027-01-31", "2027-01-31T12:00:00Z"):
            with self.subTest(text):
                self.assertRegex(keys.moment("expires", text), r"\A\d{4}-\d\d-\d\dT.*Z\Z")


if __name__ == "__main__":
    unittest.main()
