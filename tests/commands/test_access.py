import unittest
from typing import Any

from tests.commands.stage import Stage

UNTIL = "2026-12-03T09:30:00.000Z"
ANNA: dict[str, Any] = {"name": "anna", "role": "judge", "made": UNTIL, "expires": UNTIL, "by": "admin"}
HERE: dict[str, Any] = {
    "id": "0a1b2c3d4e5f6a7b",
    "name": "anna",
    "role": "judge",
    "begun": UNTIL,
    "seen": UNTIL,
    "expires": UNTIL,
    "address": "192.0.2.7",
    "yours": False,
}
REFUSED = [
    {"what": "sign-in", "address": "192.0.2.9", "times": 6, "at": UNTIL, "wait_s": 1.6},
    {"what": "key", "address": "192.0.2.8", "times": 1, "at": UNTIL, "wait_s": 0},
]
LINK = "http://127.0.0.1:8122/login#invitation=bwi_secret"
REPLIES: dict[str, Any] = {
    "POST /api/invitation": {"ok": True, "link": LINK, **ANNA, "invitations": [ANNA]},
    "GET /api/invitations": {"ok": True, "invitations": [ANNA]},
    "POST /api/invitation/withdraw": {"ok": True, "withdrawn": "anna", "invitations": []},
    "GET /api/sessions": {"ok": True, "sessions": [HERE, {**HERE, "yours": True}], "refused": REFUSED},
    "POST /api/session/end": {"ok": True, "ended": "anna", "sessions": []},
}


class AccessCommands(unittest.TestCase):
    # words, body that is sent (None: nothing), what stdout says, what stderr says
    CASES = [
        ("invite anna", {"name": "anna"}, LINK + "\n", "read, and give verdicts"),
        (
            "invite anna --role admin --expires 1h",
            {"name": "anna", "role": "admin", "expires": "1h"},
            LINK,
            "",
        ),
        ("invitations", None, "2026-12-03 09:30Z", ""),
        ("invitation withdraw anna", {"name": "anna"}, "lets nobody in", ""),
        ("sessions", None, "0a1b2c3d4e5f6a7b", "6 wrong sign-in"),
        ("sessions", None, "anna (you)", "next is looked at in 2 s"),
        ("session end 0a1b2c3d4e5f6a7b", {"id": "0a1b2c3d4e5f6a7b"}, "signed out", ""),
    ]

    def test_what_is_sent_and_said(self) -> None:
        with Stage(REPLIES) as stage:
            for line, body, out, err in self.CASES:
                with self.subTest(line):
                    played = stage.bench(*line.split())
                    self.assertEqual(played.code, 0, played.err)
                    self.assertIn(out, played.out)
                    self.assertIn(err, played.err)
                    self.assertEqual(stage.last.body, body)

    def test_a_link_is_alone_on_stdout(self) -> None:
        with Stage(REPLIES) as stage:
            self.assertEqual(stage.bench("invite", "anna").out, LINK + "\n")
            self.assertEqual(stage.bench("invite", "anna", "--json").document["link"], LINK)

    def test_what_is_empty_is_said(self) -> None:
        empty = {
            "GET /api/sessions": {"ok": True, "sessions": [], "refused": []},
            "GET /api/invitations": {"ok": True, "invitations": []},
        }
        with Stage(empty) as stage:
            self.assertEqual(stage.bench("sessions").out, "nobody is signed in\n")
            self.assertEqual(stage.bench("invitations").out, "no invitation is open\n")

    def test_wrong_lines(self) -> None:
        with Stage(REPLIES) as stage:
            for line in ("invite", "invite anna --role owner", "session end", "invitation withdraw"):
                with self.subTest(line):
                    self.assertEqual(stage.bench(*line.split()).code, 2)


if __name__ == "__main__":
    unittest.main()
