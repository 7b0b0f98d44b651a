"""Waits that are given up, sessions that end, reminders that come once."""

import unittest
from unittest import mock

from metrics.mcp import waits


class WaitsTest(unittest.TestCase):
    def setUp(self):
        self.session = waits.minted()

    def test_a_wait_is_given_up_by_its_own_session_alone(self):
        with waits.waiting("me", self.session, 1) as stopped:
            for key, session, request in (
                ("you", self.session, 1),
                ("me", "other", 1),
                ("me", self.session, 2),
                ("me", None, 1),
                ("me", self.session, []),
            ):
                self.assertFalse(waits.cancel(key, session, request))
            self.assertFalse(stopped.is_set())
            self.assertTrue(waits.cancel("me", self.session, 1))
            self.assertTrue(stopped.is_set())
        self.assertFalse(waits.cancel("me", self.session, 1))

    def test_without_a_session_nobody_can_say_so(self):
        with waits.waiting("me", None, 1) as stopped:
            self.assertFalse(waits.cancel("me", None, 1))
            self.assertFalse(stopped.is_set())

    def test_an_ended_session_ends_its_waits(self):
        with waits.waiting("me", self.session, 1) as stopped:
            waits.end("me", self.session)
            self.assertTrue(stopped.is_set())
        self.assertTrue(waits.ended("me", self.session))
        self.assertFalse(waits.ended("you", self.session))

    def test_what_was_asked(self):
        waits.asked("me", self.session, "p1")
        waits.asked("me", None, "p2")
        self.assertEqual(waits.panels("me", self.session), ["p1"])
        self.assertEqual(waits.panels("you", self.session), [])
        self.assertEqual(waits.panels("me", None), [])

    def test_a_reminder_comes_once(self):
        self.assertEqual(waits.unmentioned("me", self.session, ["a", "b"]), ["a", "b"])
        self.assertEqual(waits.unmentioned("me", self.session, ["b", "c"]), ["c"])
        self.assertEqual(waits.unmentioned("me", "other", ["b"]), ["b"])

    def test_it_is_bounded(self):
        with mock.patch.object(waits, "KEPT", 3), mock.patch.object(waits, "PANELS", 2):
            for number in range(6):
                waits.asked("me", f"bounded-{number}", "p")
                for panel in ("q", "r"):
                    waits.asked("me", f"bounded-{number}", panel)
        self.assertEqual(waits.panels("me", "bounded-5"), ["q", "r"])
        self.assertEqual(waits.panels("me", "bounded-1"), [])

    def test_the_form_of_an_id(self):
        self.assertTrue(waits.well_formed(self.session))
        for bad in ("", "short", "x" * 200, "with space in it, long"):
            self.assertFalse(waits.well_formed(bad))


if __name__ == "__main__":
    unittest.main()
