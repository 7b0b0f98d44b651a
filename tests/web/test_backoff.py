import unittest

from metrics.web import backoff
from metrics.web.backoff import Backoff


class BackoffTest(unittest.TestCase):
    def setUp(self):
        self.now = 100.0
        self.backoff = Backoff(lambda: self.now)

    def test_a_few_slips_are_free_and_then_waits_double(self):
        waits = []
        for _ in range(14):
            self.backoff.failed("1.2.3.4")
            waits.append(self.backoff.wait("1.2.3.4"))
            self.now += waits[-1]
        self.assertEqual(waits, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60])

    def test_a_wait_passes(self):
        for _ in range(6):
            self.backoff.failed("1.2.3.4")
        self.now += 1.5
        self.assertEqual(self.backoff.wait("1.2.3.4"), 0.5)
        self.now += 1
        self.assertEqual(self.backoff.wait("1.2.3.4"), 0)

    def test_others_do_not_wait_but_a_household_does(self):
        for _ in range(9):
            self.backoff.failed("1.2.3.4")
            self.backoff.failed("2001:db8:0:1::5")
        for address, waits in (
            ("1.2.3.5", False),
            ("1.2.3.4", True),
            ("2001:db8:0:1:ffff::1", True),
            ("2001:db8:0:2::5", False),
            ("", False),
        ):
            with self.subTest(address):
                self.assertEqual(self.backoff.wait(address) > 0, waits)

    def test_a_success_or_a_long_peace_begins_anew(self):
        for forget in (lambda: self.backoff.succeeded("a"), self.rest):
            for _ in range(5):
                self.backoff.failed("a")
            self.assertGreater(self.backoff.wait("a"), 0)
            forget()
            self.backoff.failed("a")
            self.assertEqual(self.backoff.wait("a"), 0)
            self.backoff.succeeded("a")

    def rest(self):
        self.now += backoff.FORGOTTEN + 1

    def test_who_failed_of_late(self):
        for _ in range(6):
            self.backoff.failed("1.2.3.4")
        self.now += 0.5
        self.backoff.failed("2001:db8:0:1::5")
        listed = [("1.2.3.4", 6, 0.5, 1.5), ("2001:db8:0:1::/64", 1, 0.0, 0.0)]
        self.assertEqual(self.backoff.all(), listed)
        self.rest()
        self.assertEqual(self.backoff.all(), [])

    def test_memory_is_bounded(self):
        for number in range(backoff.KEPT + 10):
            self.backoff.failed(str(number))
        self.assertEqual(len(self.backoff._failures), backoff.KEPT)


if __name__ == "__main__":
    unittest.main()
