from metrics.dashboard import disk
from tests.dashboard.api import ApiCase


class Disk(ApiCase):
    routes = disk.HANDLERS

    def test_what_it_weighs(self) -> None:
        self.write("mine.txt", "mine")
        said = self.get("/api/disk")
        self.assertEqual(said["other"], ["mine.txt"])
        self.assertLessEqual({"kind", "files", "bytes", "oldest", "bound"}, set(said["kinds"][0]))

    def test_prune(self) -> None:
        told = self.post("/api/prune", {"dry_run": True, "body_days": 3, "log_months": None})
        self.assertEqual((told["dry_run"], told["bodies"]["days"], told["months"]["keep"]), (True, 3, 0))
        self.assertFalse(self.post("/api/prune", {})["dry_run"])

    def test_nonsense(self) -> None:
        for body, words in (
            (b"[]", "must be a JSON object"),
            ({"body_days": 0}, "whole number from 1"),
            ({"log_months": -1}, "whole number from 0"),
            ({"dry_run": "yes"}, "true or false"),
            ({"days": 1}, "is not a field here"),
        ):
            with self.subTest(body=body):
                self.assertIn(words, self.refused("/api/prune", body))
