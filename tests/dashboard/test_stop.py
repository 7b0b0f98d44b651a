import unittest
from unittest import mock

from metrics.dashboard import stop
from tests.dashboard.api import ApiCase


class Stop(ApiCase):
    routes = stop.HANDLERS

    def test_a_panel_and_a_seat(self) -> None:
        with mock.patch("metrics.play.panel.stop", return_value=["p1.member2"]) as ended:
            self.assertEqual(self.post("/api/panel/stop", {"panel": "p1"})["stopped"], ["p1.member2"])
            ended.assert_called_with("p1", None)
            self.post("/api/panel/stop", {"panel": "p1", "call": "p1.member2"})
            ended.assert_called_with("p1", "p1.member2")

    def test_a_panel_that_is_over(self) -> None:
        self.assertIn("being answered now", self.refused("/api/panel/stop", {"panel": "p1"}, 404))

    def test_nonsense(self) -> None:
        self.refuses_nonsense("/api/panel/stop")


if __name__ == "__main__":
    unittest.main()
