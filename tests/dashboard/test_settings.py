import unittest

from metrics.dashboard import settings
from tests.dashboard.api import ApiCase


class Settings(ApiCase):
    routes = settings.HANDLERS

    def test_show_and_save(self) -> None:
        self.assertEqual(self.get("/api/settings")["settings"]["max_calls"], 5)
        reply = self.post("/api/settings", {"max_calls": 6, "bodies": "errors"})
        self.assertEqual((reply["settings"]["max_calls"], reply["settings"]["bodies"]), (6, "errors"))
        self.assertEqual(set(reply["about"]), set(reply["settings"]))

    def test_defaults_stay_what_they_are(self) -> None:
        usual = self.get("/api/settings")["defaults"]
        self.post("/api/settings", {"body_days": usual["body_days"] + 1})
        said = self.get("/api/settings")
        self.assertEqual(said["defaults"], usual)
        self.assertEqual(said["settings"], {**usual, "body_days": usual["body_days"] + 1})

    def test_nonsense(self) -> None:
        for body, words in (
            (b"[]", "must be a JSON object"),
            ({"max_calls": "6"}, "whole number"),
            ({"nothing": 1}, "is not a field here"),
        ):
            with self.subTest(body=body):
                self.assertIn(words, self.refused("/api/settings", body))

    def test_a_broken_file(self) -> None:
        self.write("settings.json", "{nope}")
        self.assertIn("settings.json, line 1", self.refused("/api/settings", {"max_calls": 6}, 503))


if __name__ == "__main__":
    unittest.main()
