"""`bench backup` and `bench restore` as their users run them; one copy is taken while hundreds ask."""

import http.client
import json
import shutil
import tempfile
import threading
import time
import unittest
import zipfile
from pathlib import Path

from metrics.limits import ledger
from metrics.store import home
from tests.commands.stage import Reply, Stage, bench
from tests.provider import USAGE, Provider, text
from tests.running import Running
from tests.test_chaos import rows

RATE = 200  # requests a second that are asked for, by all callers together
CALLERS = 8
JSON = {"Content-Type": "application/json"}
SECONDS = 6


class BackupCase(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bench-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(home.close)
        self.home = self.folder / "home"
        self.home.mkdir()
        self.file = self.folder / "copy.zip"
        self.env = {"BENCHWARMERS_HOME": str(self.home), "BENCHWARMERS_URL": "http://127.0.0.1:9"}

    def bench(self, *words: object, **env: str):
        """`bench WORDS` where nobody serves, unless told otherwise."""
        return bench(*map(str, words), env={**self.env, **env})


class WithoutServer(BackupCase):
    """Here BENCHWARMERS_URL is left out, so that the port everybody uses is tried: --home skips that."""

    def setUp(self) -> None:
        super().setUp()
        (self.home / "models.json").write_text('{"models": {}}', "utf-8")
        (self.home / "credentials.json").write_text('{"openai": "sk-secret"}', "utf-8")

    def test_a_round(self) -> None:
        played = self.bench("backup", self.file, "--home", self.home, "--json")
        self.assertEqual(played.code, 0, played.err)
        self.assertEqual(
            [played.document[name] for name in ("action", "files", "secrets", "left_out")],
            ["backup", 1, [], ["credentials.json"]],
        )
        self.assertIn("--with-secrets takes them along", played.err)
        self.assertNotIn("not of the data folder", played.err, "what it leaves out for its sake is its own")
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        self.assertEqual([path.name for path in self.folder.iterdir() if "copy" in path.name], ["copy.zip"])
        self.assertEqual(self.bench("restore", self.file, "--check", "--json").document["action"], "check")
        played = self.bench("restore", self.file, "--into", self.folder / "new", "--json")
        self.assertEqual((played.code, played.document["set_aside"]), (0, None))
        self.assertIn("no provider's key was in it", played.err)
        self.assertEqual((self.folder / "new" / "models.json").read_text("utf-8"), '{"models": {}}')

    def test_what_is_not_its_own_is_left_out_by_name(self) -> None:
        (self.home / "holiday.jpg").write_bytes(b"sea")
        played = self.bench("backup", self.file, "--home", self.home)
        self.assertIn("not of the data folder, and left out: holiday.jpg\n", played.err)

    def test_secrets_when_they_are_wanted(self) -> None:
        played = self.bench("backup", self.file, "--home", self.home, "--with-secrets", "--json")
        self.assertEqual((played.code, played.document["secrets"]), (0, ["credentials.json"]))
        self.bench("restore", self.file, "--into", self.folder / "new")
        self.assertEqual(
            (self.folder / "new" / "credentials.json").read_text("utf-8"), '{"openai": "sk-secret"}'
        )

    def test_refusals_say_what_to_do(self) -> None:
        self.file.write_text("mine", "utf-8")
        broken = self.folder / "broken.zip"
        broken.write_bytes(b"PK")
        good = self.folder / "good.zip"
        self.bench("backup", good, "--home", self.home)
        for words, code, kind, hint in (
            (("backup", self.file, "--home", self.home), 2, "usage", "a name that is not"),
            (("backup", self.folder / "no" / "x.zip", "--home", self.home), 2, "usage", "make it first"),
            (("backup", self.folder / "x.zip"), 3, "no_server", "start one"),
            (("backup", self.folder / "x.zip", "--home", self.folder / "none"), 1, "not_found", "bench init"),
            (("restore", broken), 1, "backup", "another backup"),
            (("restore", self.folder / "none.zip"), 1, "not_found", "bench"),
            (("restore", good), 1, "conflict", "--into FOLDER.*--replace"),
        ):
            with self.subTest(words):
                played = self.bench(*words, "--json")
                self.assertEqual(played.code, code, played.out)
                error = played.document["error"]
                self.assertRegex(error["kind"], kind)
                self.assertRegex(error["hint"], hint)
        self.assertEqual(self.file.read_text("utf-8"), "mine")
        self.assertEqual(list(self.folder.glob(".*.part")), [])

    def test_a_folder_that_a_server_has(self) -> None:
        self.bench("backup", self.file, "--home", self.home)
        home.use(self.home)
        with home.own():  # another process, as far as a lock can tell
            played = self.bench("restore", self.file, "--replace", "--json")
        self.assertEqual((played.code, played.document["error"]["kind"]), (1, "in_use"))
        self.assertIn("stop the server", played.document["error"]["hint"])

    def test_the_gateway_alone_has_no_copy_to_give(self) -> None:
        home.use(self.home)
        with Stage() as stage, home.own() as owner:
            owner.listening(int(stage.url.rpartition(":")[2]))
            played = self.bench("backup", self.file, "--home", self.home, "--json")
        self.assertEqual((played.code, played.document["files"]), (0, 1), played.out)
        self.assertEqual(stage.last.path, "/api/backup")
        self.assertIn("the gateway runs without the dashboard", played.err)

    def test_a_copy_that_breaks_off_is_none(self) -> None:
        status = {"ok": True, "home": str(self.home), "pid": 1}
        for title, reply in (
            ("cut", Reply(b"PK\x03\x04half", headers={"Content-Length": "9999", "Connection": "close"})),
            ("no zip", Reply(b"hello")),
            ("refused", Reply({"ok": False, "errors": ["no"], "error": {"message": "no"}}, 403)),
        ):
            with self.subTest(title), Stage({"GET /api/status": status, "GET /api/backup": reply}) as stage:
                played = stage.bench("backup", str(self.file), env={"BENCHWARMERS_HOME": str(self.home)})
                self.assertNotEqual(played.code, 0)
                self.assertEqual([path.name for path in self.folder.iterdir()], ["home"])

    def test_secrets_stay_on_their_computer(self) -> None:
        with Stage({"GET /api/status": {"ok": True, "home": str(self.home), "pid": 1}}) as stage:
            played = stage.bench("backup", str(self.file), "--with-secrets", "--json")
        self.assertEqual((played.code, played.document["error"]["kind"]), (4, "forbidden"))


class Asking:
    """Callers that ask at RATE until told to stop; `asked` and `failed` count."""

    def __init__(self, port: int):
        self.port, self.stop = port, threading.Event()
        self.asked, self.failed = 0, []
        self.threads = [threading.Thread(target=self.ask, args=(n,), daemon=True) for n in range(CALLERS)]

    def __enter__(self) -> "Asking":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *trouble: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join(60)

    def ask(self, number: int) -> None:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        due = time.monotonic() + number / RATE
        while not self.stop.wait(max(0.0, due - time.monotonic())):
            due += CALLERS / RATE
            model = "bench/load" if self.asked % 10 == 0 else "bench/load:route"
            body = {"model": model, "messages": [{"role": "user", "content": f"question {self.asked}"}]}
            line.request(
                "POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"}
            )
            answer = line.getresponse()
            answer.read()
            self.asked += 1
            if answer.status != 200:
                self.failed.append(answer.status)
        line.close()


class SlowUnderLoad(BackupCase):
    def test_a_copy_taken_while_hundreds_ask_is_whole_and_agrees(self) -> None:
        with Running(self.home) as bench, Provider() as provider:
            provider.script("*", text("said", usage=USAGE))
            bench.seat("load", provider.base, "one", "two")
            with Asking(bench.port) as asking:
                asking.stop.wait(SECONDS / 2)
                before = asking.asked
                saved = bench.run("backup", str(self.file), "--json")
                during = asking.asked - before
                asking.stop.wait(SECONDS / 2)
            self.assertEqual(saved.returncode, 0, saved.stdout)
            self.assertEqual(asking.failed, [])
            self.assertGreater(during, 10)
            self.assertGreater(asking.asked, before + during)
        copy = self.folder / "restored"
        self.assertEqual(self.bench("restore", self.file, "--into", copy).code, 0)
        self.whole(copy)
        calls = self.agreeing(copy)
        self.restarted(copy, calls)

    def whole(self, copy: Path) -> None:
        """Every line of every log is a row, and ends."""
        files = list(copy.rglob("*.jsonl"))
        self.assertGreater(len(files), 3)
        for path in files:
            raw = path.read_bytes()
            self.assertTrue(raw.endswith(b"\n"), path)
            for line in raw.splitlines():
                self.assertIsInstance(json.loads(line), dict)

    def agreeing(self, copy: Path) -> set[str]:
        """The counters are what the rows add up to; whoever has a panel or a turn has its calls' rows."""
        found = rows(copy, "ledger")
        state = ledger._empty()
        for row in found:
            for fold in (ledger._fold, ledger._pay, ledger._sum_up):
                fold(state, row)
        counters = json.loads((copy / "ledger" / "counters").read_text("utf-8"))
        self.assertEqual(counters["state"], json.loads(json.dumps(state)))
        calls = {row["call"] for row in found}
        self.assertEqual(len(calls), len(found))
        panels, turns = rows(copy, "panels"), rows(copy, "routes")
        self.assertTrue(panels and turns)
        self.assertLessEqual({seat["call"] for panel in panels for seat in panel["seats"]}, calls)
        self.assertLessEqual({turn["call"] for turn in turns}, calls)
        with zipfile.ZipFile(self.file) as archive:
            self.assertIsNone(archive.testzip())
        return calls

    def restarted(self, copy: Path, calls: set[str]) -> None:
        """A server on the copy counts every row, and what was under way as interrupted."""
        underway = copy / "underway.json"
        going = json.loads(underway.read_text("utf-8")) if underway.exists() else []
        lost = {row["call"] for row in going} - calls
        with Running(copy) as bench:
            total = bench.get("/api/usage")[1]["total"]
        self.assertEqual(total["calls"], len(calls) + len(lost))
        self.assertEqual(total["interrupted"], len(lost))


if __name__ == "__main__":
    unittest.main()
