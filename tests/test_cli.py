import itertools
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import cli
from metrics.version import VERSION
from tests.commands.stage import Reply, Stage, bench

ROOT = Path(cli.__file__).resolve().parent
REPLY = {"id": "chatcmpl-1", "bench": {"panel": "p1", "seats": [{"call": "p1.member1", "status": "ok"}]}}
COLLECTIONS = {"ok": True, "collections": [{"name": "core", "members": [], "explorers": 1, "reply": "all"}]}


class Orders(unittest.TestCase):
    """Fault 22: global options and a command's own options stand anywhere."""

    def test_ask_in_every_order(self) -> None:
        parts = [["core"], ["a question"], ["--json"], ["--system", "be brief"], ["-q"]]
        with Stage({"POST /v1/chat/completions": REPLY}) as stage:
            for order in itertools.permutations(parts):
                if order.index(["core"]) > order.index(["a question"]):
                    continue
                line = ["ask", *itertools.chain(*order)]
                with self.subTest(" ".join(line)):
                    played = stage.bench(*line)
                    self.assertEqual((played.code, played.err), (0, ""))
                    self.assertEqual(played.document, REPLY)
                    self.assertEqual(stage.last.body["model"], "core")
                    self.assertEqual(stage.last.body["messages"][1]["content"], "a question")

    def test_globals_before_between_and_after(self) -> None:
        with Stage({"POST /v1/chat/completions": REPLY}) as stage:
            url = ["--url", stage.url]
            lines = [
                [*url, "--json", "ask", "core", "q"],
                ["ask", *url, "core", "--json", "q"],
                ["ask", "core", "--json", "q", *url],
                ["ask", "core", "q", "--json", f"--url={stage.url}"],
                ["--json", "ask", "core", "--with", "kimi", "q", *url],
                ["ask", "--deadline", "3", "core", "--json", *url, "q"],
                ["ask", "core", *url, "--json", "--", "q"],
            ]
            for line in lines:
                with self.subTest(" ".join(line)):
                    played = bench(*line)
                    self.assertEqual((played.code, played.err), (0, ""))
                    self.assertEqual(stage.last.body["messages"][0]["content"], "q")

    def test_after_two_dashes_nothing_is_an_option(self) -> None:
        with Stage({"POST /v1/chat/completions": REPLY}) as stage:
            for line in (
                ["ask", "--json", "core", "--", "--json"],
                ["ask", "--json", "--", "core", "--json"],
            ):
                with self.subTest(" ".join(line)):
                    self.assertEqual(stage.bench(*line).code, 0)
                    self.assertEqual(stage.last.body["messages"][0]["content"], "--json")

    def test_two_word_commands(self) -> None:
        with Stage({"GET /api/collections": COLLECTIONS}) as stage:
            for line in (["collection", "--json", "show", "core"], ["collection", "show", "--json", "core"]):
                with self.subTest(" ".join(line)):
                    self.assertEqual(stage.bench(*line).document["collection"]["name"], "core")


class Failing(unittest.TestCase):
    USAGE: tuple[tuple[list[str], int, str], ...] = (
        ([], 0, ""),
        (["aks"], 2, "did you mean ask?"),
        (["endpoint"], 2, "endpoint add"),
        (["endpoint", "ad"], 2, "did you mean add?"),
        (["ask"], 2, "bench ask --help"),
        (["ask", "core", "--systm", "x", "q"], 2, "did you mean --system?"),
        (["ask", "core", "one", "two"], 2, "quote what belongs together"),
        (["ask", "core", "q", "--deadline", "soon"], 2, "'soon' is not a number above zero"),
        (["ask", "core", "q", "--merged", "--all"], 2, "not allowed with"),
        (["--strict", "ask"], 2, "come after its name"),
        (["status", "--url"], 2, "--url"),
        (["status", "--url", "ftp://x"], 2, "is not a server's address"),
        (["status", "--url", "http://x:notaport"], 2, "is not a server's address"),
        (["help", "exit-cods"], 2, "did you mean exit-codes?"),
        (["collection", "save", "core"], 2, "--members"),
        (["model", "add", "kimi"], 2, "--endpoint, --served are missing"),
        (["endpoint", "add"], 2, "NAME, --base are missing"),
        (["endpoint", "add", "--base", "http://x"], 2, "NAME is missing"),
        (["endpoint", "add", "x"], 2, "--base is missing"),
        (["models", "--role", "foo"], 2, "no role 'foo'; there are general, code"),
        (["model", "role", "kimi", "foo"], 2, "no role 'foo'"),
    )

    def test_usage_errors_exit_2_and_say_what_next(self) -> None:
        for line, code, words in self.USAGE:
            with self.subTest(" ".join(line)), Stage() as stage:
                played = stage.bench(*line)
                self.assertEqual(played.code, code)
                self.assertIn(words, played.err)
                self.assertEqual(played.out == "", code != 0)

    def test_under_json_a_failure_is_the_one_document(self) -> None:
        for line, code, words in self.USAGE[1:]:
            with self.subTest(" ".join(line)), Stage() as stage:
                played = stage.bench("--json", *line)
                error = played.document["error"]
                self.assertEqual((played.code, played.err, error["kind"]), (code, "", "usage"))
                self.assertIn(words, f"{error['message']} {error['hint']}")

    def test_a_bad_timeout_in_the_environment(self) -> None:
        played = bench("status", env={"BENCHWARMERS_TIMEOUT": "soon"})
        self.assertEqual(played.code, 2)
        self.assertIn("BENCHWARMERS_TIMEOUT=soon", played.err)

    def test_ctrl_c_is_130(self) -> None:
        for line, where in ((["status"], "err"), (["status", "--json"], "out")):
            with self.subTest(where), mock.patch("cli.status.front", side_effect=KeyboardInterrupt):
                with mock.patch("cli.named", side_effect=KeyboardInterrupt):
                    played = bench(*line)
                self.assertEqual(played.code, 130)
                self.assertIn("stopped", getattr(played, where))


class Alone(unittest.TestCase):
    def test_bench_alone_never_fails(self) -> None:
        status = {"ok": True, "counts": {"endpoints": 1, "models": 2, "collections": 1}, "practice": True}
        cases: list[tuple[str, dict[str, Reply | dict[str, Any]], str]] = [
            ("running", {"GET /api/status": status}, "running"),
            ("not ours", {"GET /api/status": Reply(b"<html>")}, "there is no Benchwarmers at"),
            (
                "locked",
                {"GET /api/status": Reply({"ok": False, "error": {"message": "no"}}, 401)},
                "not readable",
            ),
        ]
        for name, replies, words in cases:
            with self.subTest(name), Stage(replies) as stage:
                played = stage.bench()
                self.assertEqual((played.code, played.err), (0, ""))
                self.assertIn(words, played.out)
                self.assertIn("bench verdict CALL --useful", played.out)
                self.assertIsInstance(stage.bench("--json").document, dict)

    def test_without_a_server_it_says_how_to_start_one(self) -> None:
        with Stage() as stage:
            url = stage.url
        played = bench("--url", url)
        self.assertEqual(played.code, 0)
        self.assertIn("stopped", played.out)
        self.assertIn(f"bench serve --port {url.rpartition(':')[2]}", played.out)
        self.assertEqual(bench("--url", url, "--json").document["state"], "stopped")

    def test_serving_is_handed_on(self) -> None:
        cases = [
            ("bench", ["serve", "--port", "0", "--json"], "serve", ["--port", "0", "--json"]),
            ("bench", ["--json", "gateway", "-q"], "gateway", ["-q"]),
            ("bench", ["serve", "--help"], "serve", ["--help"]),
            ("bench", ["--help", "serve"], "serve", ["--help"]),
            ("bench", ["help", "gateway"], "gateway", ["--help"]),
            ("benchwarmers", [], "serve", []),
            ("benchwarmers", ["--port", "0"], "serve", ["--port", "0"]),
            ("benchwarmers", ["gateway"], "gateway", []),
        ]
        for program, line, word, words in cases:
            with (
                self.subTest(f"{program} {' '.join(line)}"),
                mock.patch("cli.serve.main", return_value=7) as main,
            ):
                self.assertEqual(bench(*line, program=program).code, 7)
                main.assert_called_once_with(word, words, mock.ANY)


class Help(unittest.TestCase):
    def test_every_command_explains_itself_and_does_nothing(self) -> None:
        with Stage() as stage:
            for name, command in cli.COMMANDS.items():
                for line in (
                    [*name.split(), "--help"],
                    ["help", *name.split()],
                    ["-h", *name.split(), "--nonsense"],
                ):
                    with self.subTest(" ".join(line)):
                        played = stage.bench(*line)
                        self.assertEqual((played.code, played.err), (0, ""))
                        self.assertIn(command.summary, " ".join(played.out.split()))
                        self.assertIn("examples:", played.out)
                        self.assertIn("--json", played.out)
            self.assertEqual(stage.sent, [])

    def test_overview_groups_and_topics(self) -> None:
        cases = [
            (
                ["--help"],
                ["ask", "collection save", "endpoint add", "serve", "gateway", "version", "environment"],
            ),
            (["help"], ["exit-codes", "formatting", "agents"]),
            (["endpoint", "--help"], ["endpoint add", "endpoint rm"]),
            (["help", "collection"], ["collection save", "collection show"]),
            (["help", "environment"], ["BENCHWARMERS_URL", "BENCHWARMERS_KEY", "BENCHWARMERS_ADMIN_TOKEN"]),
            (["help", "exit-codes"], ["130", "no server answers"]),
            (["help", "formatting"], ["stdout", "stderr"]),
            (["help", "agents"], [".bench.seats[]"]),
        ]
        for line, words in cases:
            with self.subTest(" ".join(line)):
                played = bench(*line)
                self.assertEqual((played.code, played.err), (0, ""))
                for word in words:
                    self.assertIn(word, played.out)
                self.assertIn("help", bench(*line, "--json").document)

    def test_version(self) -> None:
        for line in (["--version"], ["version"], ["ask", "--version"]):
            with self.subTest(" ".join(line)):
                self.assertEqual(bench(*line).out, f"bench {VERSION}\n")
        self.assertEqual(bench("version", "--json").document, {"version": VERSION})

    def test_hints_name_the_program_as_it_was_called(self) -> None:
        env = {"BENCHWARMERS_URL": "http://127.0.0.1:1"}
        played = bench("status", env=env, program="python3 cli.py")
        self.assertIn("start one: python3 cli.py serve --port 1", played.err)
        for line in ("status --json", "--json", "help agents", "aks", "help ask --json"):
            with self.subTest(line):
                played = bench(*line.split(), env=env, program="python3 cli.py")
                self.assertIn("python3 cli.py ", played.out + played.err)
                self.assertNotRegex(played.out + played.err, r"\bbench (serve|ask|log|status|help)\b")


class SlowProcess(unittest.TestCase):
    """What only a real process shows."""

    def run_cli(self, *argv: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[bytes]":
        env = {**os.environ, "BENCHWARMERS_URL": "http://127.0.0.1:1", "PYTHONIOENCODING": "ascii"}
        line = [sys.executable, str(ROOT / "cli.py"), *argv]
        return subprocess.run(
            line, capture_output=True, stdin=subprocess.DEVNULL, env=env, timeout=60, cwd=cwd
        )

    def test_no_server_is_exit_3_on_stderr(self) -> None:
        played = self.run_cli("status", cwd=ROOT)
        self.assertEqual((played.returncode, played.stdout), (3, b""))
        self.assertIn(b"serve --port 1", played.stderr)

    @unittest.skipUnless(Path("/dev/full").exists(), "there is no full device here")
    def test_a_full_disk_is_one_sentence(self) -> None:
        for argv in (["help"], ["help", "--json"], ["nonsense", "--json"]):
            with self.subTest(argv), open("/dev/full", "wb") as full:
                line = [sys.executable, str(ROOT / "cli.py"), *argv]
                played = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
                self.assertEqual(played.returncode, 1)
                self.assertEqual(len(played.stderr.splitlines()), 2)
                self.assertIn(b"error: the output cannot be written", played.stderr)
        with open("/dev/full", "wb") as full:
            line = [sys.executable, str(ROOT / "cli.py"), "nonsense"]
            self.assertEqual(subprocess.run(line, stderr=full, timeout=60, check=False).returncode, 2)

    def test_text_leaves_as_utf_8(self) -> None:
        played = self.run_cli("--help")
        self.assertEqual(played.returncode, 0)
        self.assertIn("usage: python3", played.stdout.decode("utf-8"))

    @unittest.skipIf(os.name == "nt", "pipes end differently there")
    def test_a_reader_that_leaves_is_no_traceback(self) -> None:
        line = [sys.executable, str(ROOT / "cli.py"), "help"]
        with subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        ) as run:
            assert run.stdout and run.stderr
            run.stdout.close()
            self.assertEqual(run.stderr.read(), b"")
            self.assertEqual(run.wait(30), 141)


if __name__ == "__main__":
    unittest.main()
