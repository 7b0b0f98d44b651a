import unittest
from typing import Any
from unittest import mock

from metrics.bench import roster
from metrics.commands import models
from tests.commands.stage import Stage

KIMI: dict[str, Any] = {
    "alias": "kimi",
    "model_id": "hub:moon/kimi",
    "endpoint": "hub",
    "served": "moon/kimi",
    "role": "general",
    "tools": True,
    "vision": None,
    "context": 128000,
    "max_output": None,
    "price": {"input": 0.6, "output": None},
    "ad_hoc": False,
    "builtin": False,
    "in_pool": True,
    "resting_until": None,
    "failing": None,
    "record": {"useful": 2, "judged": 3},
}
LINT = KIMI | {
    "alias": "practice-lint",
    "endpoint": "practice",
    "role": "code",
    "builtin": True,
    "price": None,
}
SICK = KIMI | {"alias": "sick", "failing": "401 for an hour", "ad_hoc": True, "in_pool": False}
GONE = {
    "alias": "gone",
    "endpoint": "hub",
    "served": "moon/old",
    "role": "general",
    "retired": {"why": "too slow"},
}
LISTED = {"GET /api/models": {"ok": True, "models": [KIMI, LINT, SICK], "retired": [GONE]}}
EDITS = {f"POST /api/{path}": {"ok": True} for path in ("model/add", "model", "remove", "restore")}


class Models(unittest.TestCase):
    def test_the_roles_are_those_of_the_bench(self) -> None:
        self.assertEqual(models.ROLES, roster.ROLES)

    def test_no_row_wraps_on_a_narrow_terminal(self) -> None:
        sick = SICK | {"served": "accounts/somebody/models/" + "long-" * 10, "price": {"input": 12.5}}
        with Stage({"GET /api/models": {"ok": True, "models": [KIMI, LINT, sick], "retired": []}}) as stage:
            for columns in (30, 80, 100):
                with self.subTest(columns), mock.patch.dict("os.environ", {"COLUMNS": str(columns)}):
                    lines = stage.bench("models", tty=True).out.splitlines()
                    self.assertLessEqual(max(map(len, lines)), columns)
                    self.assertIn("practice-lint", lines[3])

    def test_list(self) -> None:
        with Stage(LISTED) as stage:
            rows = {line.split()[0]: line for line in stage.bench("models").out.splitlines()[2:]}
            self.assertEqual(list(rows), ["kimi", "practice-lint", "sick"])
            self.assertEqual(
                rows["kimi"].split()[4:],
                ["128,000", "yes", "unknown", "0.60", "unknown", "2/3", "may", "explore"],
            )
            self.assertIn("practice program", rows["practice-lint"])
            self.assertNotIn("$", rows["practice-lint"])
            self.assertIn("failing: 401 for an hour, only by name", rows["sick"])
            self.assertIn("retired: too slow", stage.bench("models", "--all").out)

    def test_filters_and_json(self) -> None:
        cases = [
            ([], ["kimi", "practice-lint", "sick"], ["gone"]),
            (["--find", "KIM"], ["kimi", "practice-lint", "sick"], []),
            (["--find", "practice"], ["practice-lint"], []),
            (["--role", "code"], ["practice-lint"], []),
            (["--find", "old"], [], ["gone"]),
        ]
        with Stage(LISTED) as stage:
            for options, active, retired in cases:
                with self.subTest(options):
                    document = stage.bench("models", *options, "--json").document
                    self.assertEqual([one["alias"] for one in document["models"]], active)
                    self.assertEqual([one["alias"] for one in document["retired"]], retired)

    def test_edits(self) -> None:
        facts = "--tools yes --vision no --context 200000 --max-output 8k --role code"
        facts += " --price in=0.6,out=2.5,cache_read=0.1,cache_write=0"
        price = {"input": 0.6, "output": 2.5, "cache_read": 0.1, "cache_write": 0.0}
        base = {"alias": "kimi", "endpoint": "hub", "served": "moon/kimi"}
        cases = [
            ("add kimi --endpoint hub --served moon/kimi", "/api/model/add", base),
            (
                f"add kimi --endpoint hub --served moon/kimi {facts}",
                "/api/model/add",
                base
                | {
                    "tools": True,
                    "vision": False,
                    "context": 200000,
                    "max_output": 8000,
                    "price": price,
                    "role": "code",
                },
            ),
            ("rename kimi kimi-k2", "/api/model", {"alias": "kimi", "rename": "kimi-k2"}),
            ("role kimi code", "/api/model", {"alias": "kimi", "role": "code"}),
            (
                "price kimi in=1,in>1k=2",
                "/api/model",
                {"alias": "kimi", "price": {"input": 1, "tiers": [{"above": 1000, "input": 2}]}},
            ),
            ("price kimi plan=flat", "/api/model", {"alias": "kimi", "price": {"plan": "flat"}}),
            ("price kimi none", "/api/model", {"alias": "kimi", "price": None}),
            ("retire kimi --reason slow", "/api/remove", {"alias": "kimi", "reason": "slow"}),
            ("retire kimi", "/api/remove", {"alias": "kimi", "reason": "retired from the command line"}),
            ("restore kimi", "/api/restore", {"alias": "kimi"}),
        ]
        with Stage(EDITS) as stage:
            for line, path, body in cases:
                with self.subTest(line):
                    played = stage.bench("model", *line.split())
                    self.assertEqual(played.code, 0, played.err)
                    self.assertEqual((stage.last.path, stage.last.body), (path, body))
                    self.assertEqual(stage.bench("model", *line.split(), "--json").document, {"ok": True})

    def test_a_price_that_is_wrong_is_named(self) -> None:
        cases = [
            (
                "inn=1",
                "'inn' is no price; there are in, out, cache_read, cache_write, plan. did you mean in?",
            ),
            ("in=cheap", "in=cheap is not an amount"),
            ("in=-1", "in=-1 is not an amount"),
            ("in=nan", "in=nan is not an amount"),
            ("in=1,out=inf", "out=inf is not an amount"),
            ("in", "in= is not an amount"),
            ("in=1,in=2", "in is given twice"),
            ("", "'' is no price"),
        ]
        for text, words in cases:
            with self.subTest(text), Stage(EDITS) as stage:
                played = stage.bench(
                    "model", "add", "a", "--endpoint", "e", "--served", "s", f"--price={text}"
                )
                self.assertEqual((played.code, stage.sent), (2, []))
                self.assertIn(words, played.err)

    def test_a_plan_is_shown_for_a_price(self) -> None:
        listed = [KIMI | {"price": {"input": None, "output": None, "plan": "flat"}}]
        with Stage({"GET /api/models": {"ok": True, "models": listed, "retired": []}}) as stage:
            self.assertRegex(stage.bench("models").out, r"flat +flat")

    def test_free_is_not_unknown(self) -> None:
        self.assertEqual([models.rate(0.0), models.rate(None), models.rate(3)], ["0", "unknown", "3.00"])


if __name__ == "__main__":
    unittest.main()
