import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

from metrics.store import home
from tests.commands.stage import Reply, Stage, bench

NOTHING = {"port": "http://127.0.0.1:9"}
STATUS = {"GET /api/status": {"ok": True, "home": "/data"}}


def disk(**more: Any) -> dict[str, Any]:
    row = {
        "kind": "bodies",
        "what": "prompts",
        "files": 2,
        "bytes": 3 << 20,
        "oldest": "2026-11-01",
        "bound": "30 days",
    }
    return {
        "ok": True,
        "home": "/data",
        "bytes": 3 << 20,
        "free": 5 << 30,
        "kinds": [{**row, "setting": "body_days"}, {**row, "kind": "changes", "files": 0, "setting": None}],
        "other": [],
        **more,
    }


def pruned(dry_run: bool = False, judged: int = 0, keep: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "ok": True,
        "dry_run": dry_run,
        "bodies": {"days": 30, "before": "2026-10-31", "panels": 3, "owed": 1, "judged_kept": 2, "bytes": 5},
        "months": {
            "keep": keep,
            "before": "2026-09",
            "files": {"panels": ["a", "b"]},
            "judged": judged,
            "owed": 4,
        },
        "leftovers": {"files": 1, "bytes": 2},
        "bytes": 2048,
        **more,
    }


class WithServer(unittest.TestCase):
    def test_disk(self) -> None:
        with Stage({**STATUS, "GET /api/disk": disk(other=["mine.txt"])}) as stage:
            played = stage.bench("disk")
        self.assertEqual(played.code, 0, played.err)
        self.assertIn("bodies      2  3.0 MiB  2026-11-01  30 days", played.out)
        self.assertNotIn("changes", played.out)  # nothing there, and nothing to set
        self.assertIn("3.0 MiB in /data, 5.0 GiB free on its disk", played.out)
        self.assertIn("mine.txt", played.err)

    def test_free_space_that_nobody_knows(self) -> None:
        with Stage({**STATUS, "GET /api/disk": disk(free=None)}) as stage:
            self.assertIn("unknown free on its disk", stage.bench("disk").out)

    def test_prune_says_what_somebody_may_miss(self) -> None:
        with Stage({**STATUS, "POST /api/prune": pruned(judged=2, keep=2)}) as stage:
            played = stage.bench("prune", "--log-months", "2", "--judged-too", "--body-days", "30")
        self.assertEqual(played.code, 0, played.err)
        self.assertEqual(
            stage.last.body, {"body_days": 30, "log_months": 2, "judged_too": True, "dry_run": False}
        )
        for words in (
            "those of 3 panels went, 1 of them still owed a verdict; those of 2 judged panels stay",
            "2 files went, 4 of them still owed",
            "2 judged panels among them: the answers went with them; verdicts, claims",
            "1 file of killed writers went",
            "2.0 KiB are free again",
        ):
            self.assertIn(words, played.out)

    def test_a_person_is_told_and_asked(self) -> None:
        for answer, sent, code in ((b"n\n", 1, 1), (b"y\n", 2, 0)):
            with self.subTest(answer), Stage({**STATUS, "POST /api/prune": pruned(dry_run=True)}) as stage:
                played = stage.bench("prune", stdin=answer, tty=True)
                asked = [one.body["dry_run"] for one in stage.sent if one.path == "/api/prune"]
                self.assertEqual((asked, played.code > 0), ([True, False][:sent], bool(code)), played.err)
                self.assertIn("those of 3 panels would go", played.err)
                self.assertIn("no bound is set", played.err)

    def test_what_the_server_refuses(self) -> None:
        error = {"message": "judged: 1. `bench prune --judged-too`", "kind": "judged"}
        refusal = Reply({"ok": False, "errors": [error["message"]], "error": error}, 409)
        with Stage({**STATUS, "POST /api/prune": refusal}) as stage:
            played = stage.bench("prune", "--json")
        self.assertEqual((played.code, played.document["error"]["kind"]), (1, "judged"))
        self.assertEqual(played.document["error"]["hint"], "bench prune --judged-too")


class WithoutServer(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="bench-test-"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.addCleanup(home.close)

    def bench(self, *words: str):
        return bench(*words, "--home", str(self.home))

    def test_it_is_looked_at_where_it_lies(self) -> None:
        (self.home / "notes.txt").write_text("mine", encoding="utf-8")
        said = self.bench("disk", "--json").document
        self.assertEqual((said["home"], said["other"]), (str(self.home), ["notes.txt"]))

    def test_prune_owns_the_folder_meanwhile(self) -> None:
        played = self.bench("prune", "--json")
        self.assertEqual((played.code, played.document["bodies"]["panels"]), (0, 0), played.out)
        self.assertIsNone(home.owner())

    def test_a_folder_that_a_server_has_is_asked_of_it(self) -> None:
        home.use(self.home)
        with Stage({"GET /api/disk": disk(), "POST /api/prune": pruned()}) as stage, home.own() as owner:
            owner.listening(int(stage.url.rpartition(":")[2]))
            for words in ("disk", "prune"):
                self.assertEqual(self.bench(words).code, 0)
            self.assertEqual([one.path for one in stage.sent], ["/api/disk", "/api/prune"])

    def test_the_gateway_alone_has_it(self) -> None:
        home.use(self.home)
        with Stage() as stage, home.own() as owner:
            owner.listening(int(stage.url.rpartition(":")[2]))
            self.assertEqual(self.bench("disk", "--json").document["home"], str(self.home))
            refused = self.bench("prune", "--json")
            self.assertEqual((refused.code, refused.document["error"]["kind"]), (1, "in_use"))

    def test_looking_changes_nothing(self) -> None:
        (self.home / "sub").mkdir()
        for name in (".mine.draft", ".models.json.draft"):
            (self.home / name).write_text("x", encoding="utf-8")
        self.home.chmod(0o755)
        before = sorted(self.home.rglob("*"))
        for word in ("disk", "doctor"):
            self.bench(word)
        self.assertEqual(sorted(self.home.rglob("*")), before)
        self.assertEqual(self.home.stat().st_mode & 0o777, 0o755)

    def test_no_such_folder(self) -> None:
        for words in ("disk", "prune"):
            played = bench(words, "--home", str(self.home / "absent"), "--json")
            self.assertEqual(played.document["error"]["kind"], "not_found")
            self.assertFalse((self.home / "absent").exists())
