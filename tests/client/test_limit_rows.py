import unittest

from metrics.client import limit_rows
from metrics.records import Target


class LimitRowsTest(unittest.TestCase):
    def test_a_host_is_found_by_its_suffix_and_a_profile_goes_first(self):
        for base, profile, expected in (
            ("https://api.groq.com/openai/v1", "", "api.groq.com"),
            ("https://eu.api.groq.com/v1", "", "api.groq.com"),
            ("http://127.0.0.1:9/v1", "API.Mistral.ai.", "api.mistral.ai"),
            ("https://notapi.groq.com.example/v1", "", None),
            ("https://xapi.groq.com/v1", "", None),
        ):
            with self.subTest(base, profile=profile):
                found = limit_rows.of(Target("a", "e:m", "e", "e", "m", base, profile=profile))
                self.assertEqual(found, limit_rows.ROWS[expected] if expected else limit_rows.UNKNOWN)

    def test_windows(self):
        for window, seconds in (
            ("minute", 60),
            ("day", 86_400),
            ("300s", 300),
            ("month", None),
            ("unknown", None),
            ("", None),
        ):
            with self.subTest(window):
                self.assertEqual(limit_rows.length(window), seconds)
        self.assertEqual([limit_rows.named(long) for long in (1, 60, 300)], ["second", "minute", "300s"])
        self.assertEqual(limit_rows.kind(limit_rows.UNKNOWN, "month"), "calendar")
        self.assertEqual(limit_rows.kind(limit_rows.UNKNOWN, "day"), "")


if __name__ == "__main__":
    unittest.main()
