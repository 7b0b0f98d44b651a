from metrics.client import limit_rows
from metrics.limits import caps, quota
from metrics.limits.caps import Caps
from metrics.store.stamps import stamp
from tests.limits.test_gate import NOW, Gate

ROW = limit_rows.ROWS["api.mistral.ai"]


class QuotaTest(Gate):
    def force(self, known, caps=caps.NONE, now=NOW):
        limits, until = quota.in_force({"limits": known}, caps, ROW, now)
        return {f"{one.metric}/{one.window}": (one.amount, one.kind, one.source) for one in limits}, until

    def test_the_first_source_that_knows_a_window_decides_it(self):
        minute = {"learned": [5, "", NOW], "error": [4, "", NOW], "headers": [9, "bucket", NOW]}
        for taken, expected in (
            ((), (9, "bucket", "headers")),
            (("headers",), (4, "fixed", "error")),
            (("headers", "error"), (5, "fixed", "learned")),
        ):
            with self.subTest(taken):
                known = {source: said for source, said in minute.items() if source not in taken}
                self.assertEqual(self.force({"requests/minute": known})[0], {"requests/minute": expected})
        found, _ = self.force({"requests/minute": minute}, Caps({"rpm": 50, "tpd": 7}, stamp(NOW)))
        self.assertEqual(found["requests/minute"], (50, "fixed", "set"))
        self.assertEqual(found["tokens/day"], (7, "rolling", "set"))

    def test_what_grew_old_no_longer_counts(self):
        known = {"requests/minute": {"error": [4, "", NOW]}, "concurrency/": {"learned": [2, "", NOW - 1000]}}
        found, until = self.force(known)
        self.assertEqual((len(found), until), (2, NOW - 1000 + quota.AGES["learned"]))
        self.assertEqual(len(self.force(known, now=until)[0]), 1)
        self.assertEqual(self.force(known, now=NOW + quota.AGES["error"])[0], {})

    def test_windows_that_cannot_be_counted_are_no_limits(self):
        for key, count in (
            ("requests/unknown", 0),
            ("requests/300s", 1),
            ("requests/172800s", 0),
            ("requests/month", 1),
            ("concurrency/", 1),
        ):
            with self.subTest(key):
                self.assertEqual(len(self.force({key: {"headers": [4, "", NOW]}})[0]), count)

    def test_statements_are_kept_and_only_news_are_written(self):
        known = {}
        self.assertTrue(quota.state(known, "requests/minute", "headers", 9, "", NOW))
        self.assertFalse(quota.state(known, "requests/minute", "headers", 9, "", NOW + 5))
        self.assertTrue(quota.state(known, "requests/minute", "headers", 8, "", NOW + 6))
        self.assertTrue(quota.state(known, "requests/minute", "headers", 8, "", NOW + 6 + quota.KEEP_AGE + 1))
        quota.note("groq", "", NOW, key="requests/minute", source="headers", limit=9, kind="")
        quota.note("groq", "groq:m", NOW, until=NOW + 60, cause="window")
        self.restart()
        kept = quota.remembered("groq")
        self.assertEqual(kept[""]["limits"], {"requests/minute": {"headers": [9, "", NOW]}})
        self.assertEqual(kept["groq:m"]["hold"], [NOW + 60, "window", NOW])
        self.assertEqual(quota.connections(), ["groq"])

    def test_in_words(self):
        found, _ = quota.in_force({}, Caps({"usd_day": 2.5, "rpm": 1, "concurrency": 3}, ""), ROW, NOW)
        self.assertEqual(
            sorted(one.words() for one in found), ["1 request a minute", "2.5 USD a day", "3 calls at once"]
        )
