import unittest

from metrics.bench import changes, credentials
from metrics.records import Problem
from tests.bench.bench import BY, BenchCase

KEY = "key-of-a-test-7f3a"


class Credentials(BenchCase):
    def test_saved_shown_and_removed(self) -> None:
        self.assertIsNone(credentials.key("my-box", {}))
        credentials.save("my-box", f" {KEY}\n", BY)
        self.assertEqual(credentials.key("my-box", {}), KEY)
        self.assertEqual((credentials.source("my-box", {}), credentials.hint("my-box", {})), ("file", "7f3a"))
        credentials.remove("my-box", BY)
        self.assertEqual((credentials.key("my-box", {}), credentials.source("my-box", {})), (None, None))

    def test_the_environment_wins(self) -> None:
        credentials.save("my-box", KEY, BY)
        env = {"BENCHWARMERS_KEY_MY_BOX": "from-the-environment"}
        self.assertEqual(credentials.key("my-box", env), "from-the-environment")
        self.assertEqual(
            (credentials.source("my-box", env), credentials.hint("my-box", env)), ("env", "ment")
        )
        self.assertEqual(credentials.key("my-box", {"BENCHWARMERS_KEY_MY_BOX": ""}), KEY)

    def test_a_short_key_shows_nothing(self) -> None:
        credentials.save("my-box", "secret", BY)
        self.assertIsNone(credentials.hint("my-box", {}))

    def test_changes_never_hold_a_key(self) -> None:
        credentials.save("my-box", KEY, BY)
        credentials.save("my-box", KEY + "2", BY)
        credentials.save("my-box", KEY + "2", BY)
        credentials.save("my-box", "", BY)
        credentials.remove("my-box", BY)
        noted = [(row["old"], row["new"]) for row in changes.recent(10)[0]]
        self.assertEqual(noted, [("set", None), ("set", "replaced"), (None, "set")])
        self.assertNotIn(KEY, self.text("changes.jsonl"))

    def test_what_no_header_can_carry(self) -> None:
        for value in ("two words", "line\nbreak", "schlüssel", "k" * 9000, 5, ["k"], {"key": KEY}):
            with self.subTest(value=value), self.assertRaises(Problem) as refusal:
                credentials.save("my-box", value, BY)  # type: ignore[arg-type]
            self.assertNotIn(str(value)[:9], refusal.exception.message.replace("not 5", ""))

    def test_broken_file(self) -> None:
        self.write("credentials.json", "{")
        with self.assertRaises(Problem) as refusal:
            credentials.key("my-box", {})
        self.assertIn("credentials.json, line 1", refusal.exception.message)


if __name__ == "__main__":
    unittest.main()
