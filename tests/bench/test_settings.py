import unittest

from metrics.bench import changes, collections, settings
from metrics.records import Problem
from tests.bench.bench import BY, BenchCase


class Settings(BenchCase):
    def test_defaults(self) -> None:
        self.assertEqual(settings.get("max_calls"), 5)
        self.assertEqual(settings.all()["bodies"], "all")
        self.assertEqual(self.text("settings.json"), "")

    def test_saved_and_noted(self) -> None:
        saved = settings.save({"bodies": "none", "deadline": 12.5}, BY)
        self.assertEqual((saved["bodies"], settings.get("deadline")), ("none", 12.5))
        noted = {row["field"]: (row["by"], row["old"], row["new"]) for row in changes.recent(10)[0]}
        self.assertEqual(noted, {"bodies": (BY, "all", "none"), "deadline": (BY, 300, 12.5)})

    def test_refused(self) -> None:
        cases = [
            ({"bodies": "some"}, "one of all, errors, none"),
            ({"max_calls": 0}, "from 1 to 64"),
            ({"max_calls": "5"}, "whole number"),
            ({"deadline": 3601}, "from 1 to 3600"),
            ({"practice_in_pool": 1}, "true or false"),
            ({"max_cals": 5}, "max_calls"),
        ]
        for edits, words in cases:
            with self.subTest(edits=edits), self.assertRaises(Problem) as refusal:
                settings.save(edits, BY)
            self.assertIn(words, refusal.exception.message)
            self.assertEqual(refusal.exception.status, 400)
        self.assertEqual(self.text("settings.json"), "")

    def test_max_calls_below_a_collection(self) -> None:
        self.seat_models("m1", "m2", "m3")
        collections.save("core", {"members": ["m1", "m2", "m3"]}, BY)
        with self.assertRaises(Problem) as refusal:
            settings.save({"max_calls": 2}, BY)
        self.assertIn('"core" has 3 members', refusal.exception.message)
        settings.save({"max_calls": 3}, BY)
        self.assertEqual(collections.get("core").explorers, 0)

    def test_a_hand_wrote_something_else(self) -> None:
        self.write("settings.json", '{"bodies": "nothing", "max_calls": 7}')
        self.assertEqual(settings.get("max_calls"), 7)
        with self.assertRaises(Problem) as refusal:
            settings.get("bodies")
        self.assertEqual((refusal.exception.status, refusal.exception.kind), (503, "config"))
        self.assertIn("settings.json", refusal.exception.message)
        self.assertEqual(len(settings.problems()), 1)

    def test_a_name_that_a_hand_mistyped(self) -> None:
        self.write("settings.json", '{"bodys": "none", "colour": 3, "_why": "private"}')
        told = settings.problems()
        self.assertEqual(len(told), 2)
        self.assertIn('settings.json: "bodys" is an unknown setting', told[0])
        self.assertIn("did you mean bodies?", told[0])
        self.assertIn("there are bodies, body_days", told[1])

    def test_a_file_that_does_not_parse(self) -> None:
        self.write("settings.json", '{"bodies": "none",\n "max_calls": }')
        for step in (lambda: settings.get("max_calls"), lambda: settings.save({"max_calls": 6}, BY)):
            with self.assertRaises(Problem) as refusal:
                step()
            self.assertIn("settings.json, line 2", refusal.exception.message)
        self.assertEqual(len(settings.problems()), 1)
        self.assertIn('"none",\n', self.text("settings.json"))


if __name__ == "__main__":
    unittest.main()
