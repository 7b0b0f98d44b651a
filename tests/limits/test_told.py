from metrics.limits import ledger, told
from metrics.store.stamps import stamp
from tests.limits.test_gate import CHAT, NOW, Gate, refused


class ToldTest(Gate):
    def quotas(self):
        return told.quotas(self.now)

    def test_every_limit_with_what_is_used_and_left(self):
        self.limit(rpm=20, usd_day=2.5)
        self.words(3)
        self.now += 10
        found = {(one["metric"], one["window"]): one for one in self.quotas()}
        minute = found["requests", "minute"]
        self.assertEqual(
            [
                minute[name]
                for name in ("connection", "model", "limit", "used", "remaining", "source", "age_s")
            ],
            ["groq", None, 20, 3, 17, "set", 10.0],
        )
        self.assertAlmostEqual(stamp_seconds(minute["reset_at"]) - NOW, 60, delta=1)
        self.assertEqual((found["usd", "day"]["limit"], found["usd", "day"]["kind"]), (2.5, "fixed"))

    def test_what_a_provider_said_is_left_when_it_is_less_than_we_know_of(self):
        with self.entry() as entry:
            entry.ask(0)
            headers = {
                "x-ratelimit-limit-requests-minute": "30",
                "x-ratelimit-remaining-requests-minute": "4",
            }
            entry.heard({**headers, "x-ratelimit-reset-requests-minute": "12"})
        (one,) = self.quotas()
        self.assertEqual((one["model"], one["limit"], one["used"], one["remaining"]), ("aa", 30, 1, 4))
        self.assertEqual((one["source"], stamp_seconds(one["reset_at"])), ("headers", NOW + 12))

    def test_a_refusal_without_a_window(self):
        with self.entry() as entry:
            entry.ask(0)
            entry.refused(refused("window", NOW + 60))
        (one,) = self.quotas()
        self.assertEqual(
            [one[name] for name in ("model", "window", "limit", "remaining", "reset_at", "source")],
            ["aa", "retry-after", None, 0, stamp(NOW + 60), "error"],
        )
        self.now += 61
        self.assertEqual(self.quotas(), [])

    def test_limits_of_what_was_never_called(self):
        self.limit("aa", rpd=9)
        row = {"at": stamp(NOW), "connection": "groq", "model_id": CHAT.model_id, "attempts": 2}
        ledger.add(row)
        self.restart()
        (one,) = self.quotas()
        self.assertEqual((one["model"], one["model_id"], one["used"]), ("aa", "groq:m", 2))


def stamp_seconds(text):
    from metrics.store.stamps import epoch

    return epoch(text)
