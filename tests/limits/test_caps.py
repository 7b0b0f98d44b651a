from metrics.limits import caps
from metrics.records import Problem
from metrics.store.stamps import stamp
from tests.limits.test_gate import CHAT, Gate


class CapsTest(Gate):
    def save(self, name, limits):
        return caps.save(name, limits, "test", stamp(self.now))

    def test_of_a_connection_or_a_model(self):
        self.assertEqual(self.save("groq", {"rpm": 20, "tpd": 100_000})[:2], ("connections", "groq"))
        self.assertEqual(self.save("aa", {"concurrency": 2})[:2], ("models", CHAT.model_id))
        self.assertEqual(caps.of_connection("groq"), ({"rpm": 20, "tpd": 100_000}, stamp(self.now)))
        self.assertEqual(caps.of_model(CHAT.model_id).values, {"concurrency": 2})
        self.assertEqual(caps.of_model("groq:other"), caps.NONE)

    def test_others_stay_and_null_takes_one_away(self):
        self.save("groq", {"rpm": 20, "tpd": 100})
        self.assertEqual(
            self.save("groq", {"rpm": None, "usd_day": 2.5})[2].values, {"tpd": 100, "usd_day": 2.5}
        )
        self.save("groq", {"tpd": "", "usd_day": None})
        self.assertEqual(caps.of_connection("groq"), caps.NONE)
        self.assertEqual(caps.FILE.read()["connections"], {})

    def test_what_cannot_be_a_limit(self):
        for name, limits, status, word in (
            ("nobody", {"rpm": 1}, 404, "nobody"),
            ("groq", {"rpm": 0}, 400, "rpm"),
            ("groq", {"rpm": 1.5}, 400, "rpm"),
            ("groq", {"rpm": True}, 400, "rpm"),
            ("groq", {"usd_day": -1}, 400, "usd_day"),
            ("groq", {"rpx": 5}, 400, "rpx"),
            ("groq", {}, 400, "nothing to change"),
        ):
            with self.subTest(limits):
                with self.assertRaises(Problem) as caught:
                    self.save(name, limits)
                self.assertEqual(caught.exception.status, status)
                self.assertIn(word, caught.exception.message)

    def test_what_a_hand_got_wrong_is_named_and_never_written_over(self):
        (self.folder / "limits.json").write_text(
            '{"connections": {"groq": {"rpm": "many"}}}', encoding="utf-8"
        )
        caps.forget()
        self.assertIn("groq", caps.problems()[0])
        with self.assertRaises(Problem) as caught:
            self.save("groq", {"tpm": 5})
        self.assertEqual(caught.exception.status, 503)
        self.assertIn("many", (self.folder / "limits.json").read_text(encoding="utf-8"))
