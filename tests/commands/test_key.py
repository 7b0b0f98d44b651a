import unittest
from typing import Any

from tests.commands.stage import Reply, Stage

APP: dict[str, Any] = {
    "name": "app",
    "prefix": "bwk_abcd…",
    "created": "2026-11-29T12:00:00.000Z",
    "enabled": True,
    "expired": False,
    "expires": None,
    "last_used": None,
    "collections": ["core"],
    "models": None,
    "modes": ["route"],
    "rpm": 60,
    "tpm": None,
    "budget": {"month": 5.0},
    "unknown_cost": "refuse",
    "spent": {"day_usd": 0.01, "month_usd": 0.5, "total_usd": 0.5, "unknown_calls": 2},
}
PURSE = {
    "whose": 'the key "app"',
    "period": "month",
    "limit_usd": 5.0,
    "spent_usd": 0.5,
    "held_usd": 0.25,
    "left_usd": 4.25,
    "renews": "2026-12-01T00:00:00.000Z",
    "unknown_cost": "refuse",
}
MADE = {"ok": True, "key": "bwk_secret", "about": APP}
ASKED = {
    "ok": True,
    "allowed": False,
    "status": 402,
    "why": "it is dear",
    "members": [{"alias": "aa", "why": "may cost $9", "status": 402}],
    "budgets": [PURSE],
}


class KeyCommands(unittest.TestCase):
    def test_create_prints_the_key_alone(self) -> None:
        with Stage({"POST /api/key/create": MADE}) as stage:
            played = stage.bench("key", "create", "app")
            self.assertEqual((played.code, played.out), (0, "bwk_secret\n"))
            self.assertIn("shown once", played.err)
            self.assertEqual(stage.last.body, {"name": "app"})
            self.assertEqual(stage.bench("key", "create", "app", "--json").document["key"], "bwk_secret")

    SENT: tuple[tuple[str, dict[str, Any]], ...] = (
        ("--collections a,b", {"collections": ["a", "b"]}),
        ("--models m --modes all,route", {"models": ["m"], "modes": ["all", "route"]}),
        ("--rpm 60 --tpm 100k", {"rpm": 60, "tpm": 100_000}),
        (
            "--budget 5usd/month --expires 90d --unknown-cost allow",
            {"budget": "5usd/month", "expires": "90d", "unknown_cost": "allow"},
        ),
    )

    def test_create_sends_what_was_named(self) -> None:
        with Stage({"POST /api/key/create": MADE}) as stage:
            for words, sent in self.SENT:
                with self.subTest(words):
                    stage.bench("key", "create", *words.split(), "app")
                    self.assertEqual(stage.last.body, {"name": "app", **sent})

    def test_list_and_show(self) -> None:
        with Stage({"GET /api/keys": {"ok": True, "keys": [APP]}}) as stage:
            line = stage.bench("keys").out.splitlines()[2]
            for word in ("app", "bwk_abcd…", "good", "core; modes route", "60 rpm, $5/month", "never"):
                self.assertIn(word, line)
            shown = stage.bench("key", "show", "app").out
            self.assertRegex(shown, r"spent, total +\$0.5, 2 calls of unknown cost")
            self.assertIn("name=app", stage.last.path)

    def test_the_rest_names_the_key(self) -> None:
        for word in ("rotate", "disable", "enable", "revoke"):
            with self.subTest(word), Stage({f"POST /api/key/{word}": MADE}) as stage:
                played = stage.bench("key", word, "app")
                self.assertEqual((played.code, stage.last.body), (0, {"name": "app"}))
                self.assertEqual(played.out == "bwk_secret\n", word == "rotate")

    def test_effective(self) -> None:
        with Stage({"GET /api/key/effective": ASKED}) as stage:
            played = stage.bench("key", "effective", "app", "--model", "bench/core:route")
            self.assertEqual(played.code, 1)
            for words in (
                "402, it is dear",
                "may cost $9",
                "$0.5 spent and $0.25 set aside of $5; renews 2026-12-01",
            ):
                self.assertIn(words, played.out)
            self.assertEqual(stage.bench("key", "effective", "app").code, 2)

    def test_a_refusal_is_told(self) -> None:
        refusal = Reply(
            {"ok": False, "errors": ["taken"], "error": {"message": "taken", "kind": "conflict"}}, 409
        )
        with Stage({"POST /api/key/create": refusal}) as stage:
            played = stage.bench("key", "create", "app")
            self.assertEqual((played.code, played.out), (1, ""))
            self.assertIn("choose another name", played.err)


if __name__ == "__main__":
    unittest.main()
