"""The server's life: first run, a taken port, a second owner, an orderly end."""

import contextlib
import http.client
import io
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import serve
from tests.provider import Provider, gated, text
from tests.running import ROOT, Running, clean_environment

# The gateway with one daily job that is due as it starts, and leaves a file.
AT_ONCE = """
import sys
sys.path.insert(0, {!r})
import gateway
from metrics.care import scheduler
from metrics.store import home
scheduler.FIRST_S = 0.0
scheduler.JOBS = (scheduler.Job("file", scheduler.DAY, lambda now: home.path("done").touch()),)
sys.exit(gateway.main())
"""


def start(*words, **environment):
    """A server that must not start, in this process: (exit status, what it said)."""
    told = io.StringIO()
    with (
        mock.patch.dict(os.environ, clean_environment(**environment), clear=True),
        contextlib.redirect_stderr(told),
        contextlib.redirect_stdout(told),
    ):
        status = serve.main([*words])
    return status, told.getvalue()


def run(*words, program="serve.py", **environment):
    """The same in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(ROOT / program), *words],
        capture_output=True,
        text=True,
        timeout=60,
        env=clean_environment(**environment),
    )
    return done.returncode, done.stdout + done.stderr


class StartHome(unittest.TestCase):
    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory())) / "new" / "home"


class StartTest(StartHome):
    def test_first_run_makes_the_folder_and_keeps_it_private(self):
        with Running(self.home) as bench:
            self.assertEqual(len([line for line in bench.said if "http://" in line]), 1)
            bench.post(
                "/v1/chat/completions",
                {"model": "core", "messages": [{"role": "user", "content": "x == None"}]},
            )
            call = bench.get("/api/log")[1]["panels"][0]["seats"][0]["call"]
            bench.post("/bench/verdict", {"call": call, "useful": True})
            bench.save(
                "/api/endpoint", name="other", base="http://127.0.0.1:9/v1", key="sk-secret", test=False
            )
        self.assertTrue((self.home / "collections.json").is_file())
        if os.name == "posix":
            for path in [self.home, *self.home.rglob("*")]:
                wanted = 0o700 if path.is_dir() else 0o600
                self.assertEqual(oct(stat.S_IMODE(path.stat().st_mode)), oct(wanted), path)

    REFUSED = [
        ("beyond loopback without a login", {"BENCH_BIND": "0.0.0.0"}, (), "set BENCHWARMERS_ADMIN_TOKEN"),
        ("a token that can be guessed", {"BENCHWARMERS_ADMIN_TOKEN": "short"}, (), "has 5 characters"),
        (
            "beyond loopback without keys",
            {
                "BENCH_BIND": "0.0.0.0",
                "BENCHWARMERS_ADMIN_TOKEN": "a-token-of-some-length",
                "BENCHWARMERS_REQUIRE_KEYS": "0",
            },
            (),
            "keys are required",
        ),
        ("keys, perhaps", {"BENCHWARMERS_REQUIRE_KEYS": "maybe"}, (), "must be 1 or 0"),
        ("proxies that are none", {"BENCH_TRUSTED_PROXIES": "nginx"}, (), "BENCH_TRUSTED_PROXIES"),
        ("a port in words", {"BENCH_PORT": "http"}, (), "BENCH_PORT"),
        ("no such port", {}, ("--port", "70000"), "70000"),
    ]

    def test_what_cannot_be_guarded_is_not_opened(self):
        for name, environment, words, said in self.REFUSED:
            with self.subTest(name):
                status, told = start(*words, "--home", str(self.home), "--no-browser", **environment)
                self.assertEqual(status, 1)
                self.assertIn(said, told)
                self.assertNotIn("Traceback", told)

    def test_the_page_is_at_its_own_addresses_and_nowhere_else(self):
        with Running(self.home) as bench:
            front = bench.get("/", Accept="text/html")
            for path in serve.PAGES:
                self.assertEqual(bench.get(path, Accept="text/html"), front, path)
                self.assertIn("<main", bench.get(f"{path}?panel=p1")[1])
            for path in ("/owing", "/panels/p1", "/ui", "/index.html", "/Models"):
                status, said = bench.get(path, Accept="text/html")
                self.assertEqual((status, "error" in said), (404, True), path)


class SlowStartTest(StartHome):
    def test_what_was_acknowledged_survives_a_kill(self):
        with Running(self.home) as bench:
            bench.post(
                "/v1/chat/completions",
                {"model": "core", "messages": [{"role": "user", "content": "x == None"}]},
            )
            call = bench.get("/api/log")[1]["panels"][0]["seats"][0]["call"]
            bench.save("/bench/verdict", call=call, useful=True)
            bench.save("/api/collection", name="kept", members=["practice-lint"])
            bench.process.kill()
            bench.process.wait()
        with Running(self.home) as bench:
            self.assertEqual(bench.post("/bench/pending", {"calls": [call]})[1], {"pending": []})
            names = [entry["name"] for entry in bench.get("/api/collections")[1]["collections"]]
            self.assertIn("kept", names)

    def test_the_gateway_alone_has_no_dashboard_but_does_its_daily_jobs(self):
        program = self.home.parents[1] / "gateway_at_once.py"
        program.write_text(AT_ONCE.format(str(ROOT)), encoding="utf-8")
        with Running(self.home, str(program)) as bench:
            self.assertEqual(bench.get("/health")[0], 200)
            self.assertEqual(bench.get("/v1/models")[0], 200)
            self.assertEqual(bench.get("/api/status")[0], 404)
            self.assertTrue((self.home / "done").exists())

    def test_a_broken_file_is_named_and_the_rest_works(self):
        self.home.mkdir(parents=True)
        (self.home / "collections.json").write_text(
            '{"core": {"members": ["practice-lint"]\n', encoding="utf-8"
        )
        before = (self.home / "collections.json").read_bytes()
        with Running(self.home) as bench:
            self.assertIn("collections.json", json.dumps(bench.get("/api/status")[1]["problems"]))
            self.assertEqual(bench.get("/health")[0], 200)
            status, said = bench.post("/api/collection", {"name": "new", "members": ["practice-lint"]})
            self.assertGreaterEqual(status, 400)
            self.assertIn("collections.json", json.dumps(said))
            self.assertEqual((self.home / "collections.json").read_bytes(), before)
            (self.home / "collections.json").write_text(
                '{"mine": {"members": ["practice-lint"]}}', encoding="utf-8"
            )
            self.assertEqual([c["name"] for c in bench.get("/api/collections")[1]["collections"]], ["mine"])

    def test_a_second_owner_is_told_who_has_the_folder(self):
        bench = self.enterContext(Running(self.home))
        for program in ("serve.py", "gateway.py"):
            with self.subTest(program):
                status, said = run("--port", "0", "--home", str(self.home), "--no-browser", program=program)
                self.assertEqual(status, 1)
                self.assertIn(str(bench.process.pid), said)
                self.assertIn(str(bench.port), said)

    def test_help_does_nothing_else(self):
        for program in ("serve.py", "gateway.py", "cli.py"):
            with self.subTest(program):
                status, said = run("--help", program=program, BENCHWARMERS_HOME=str(self.home))
                self.assertEqual(status, 0)
                self.assertIn("usage", said.lower())
                self.assertFalse(self.home.exists())

    def test_a_taken_port_is_one_sentence(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            status, said = run("--port", str(port), "--home", str(self.home), "--no-browser")
        self.assertEqual(status, 1)
        self.assertIn(str(port), said)
        self.assertEqual(len(said.strip().splitlines()), 1, said)


class SlowEndTest(unittest.TestCase):
    def test_both_signals_end_it_in_order(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number), Running() as bench:
                self.assertEqual(bench.stop(number), 0, bench.said)

    def test_what_is_in_flight_is_finished_first(self):
        gate = threading.Event()
        with Provider() as provider, Running() as bench:
            provider.script("slow", gated(["the answer"], [gate]))
            bench.seat("slow", provider.base, "slow")
            connection = http.client.HTTPConnection("127.0.0.1", bench.port)
            body = json.dumps({"model": "slow", "messages": [{"role": "user", "content": "x"}]})
            connection.request("POST", "/v1/chat/completions", body)
            provider.wait_for(1)
            bench.process.send_signal(signal.SIGTERM)
            gate.set()
            reply = json.loads(connection.getresponse().read())
            connection.close()
            self.assertIn("the answer", reply["choices"][0]["message"]["content"])
            self.assertEqual(bench.process.wait(30), 0)
            rows = (next((bench.home / "ledger").glob("*.jsonl"))).read_text(encoding="utf-8").splitlines()
            self.assertEqual(json.loads(rows[-1])["model"], "slow")

    def test_a_signal_at_any_moment_ends_it(self):
        """A handler that takes a lock which the waiting thread may hold at that moment waits for itself for
        ever: a signal while the server begins to wait found that."""
        for number in range(6):
            with self.subTest(number), Running() as bench:
                self.assertEqual(bench.stop(), 0)


class LedgerTest(unittest.TestCase):
    def test_a_row_has_every_field_from_the_start(self):
        fields = (
            "at purpose model model_id endpoint connection served status attempts seconds first_token_s",
            "uncached_in cache_read cache_write out reasoning estimated usage_raw cost_usd cost_status",
            "price_version provider fingerprint call panel conversation collection key launch finish",
        )
        with Provider() as provider, Running() as bench:
            provider.script("mm", text("hello"))
            bench.seat("cc", provider.base, "mm")
            bench.save(
                "/api/model", alias="mm", price={"input": 2, "output": 10, "cache_read": 1, "cache_write": 1}
            )
            reply = bench.save(
                "/v1/chat/completions", model="cc", messages=[{"role": "user", "content": "x"}]
            )
            bench.stop()
            rows = (next((bench.home / "ledger").glob("*.jsonl"))).read_text(encoding="utf-8").splitlines()
        row = json.loads(rows[-1])
        self.assertLessEqual(set(" ".join(fields).split()), set(row))
        self.assertEqual((row["uncached_in"], row["out"], row["status"]), (11, 7, "ok"))
        self.assertEqual(row["cost_usd"], (11 * 2 + 7 * 10) / 1e6)
        self.assertEqual(reply["bench"]["seats"][0]["cost"], row["cost_usd"])


class SignalsTest(unittest.TestCase):
    """What a second signal means: at once, or, right after the first, the same Ctrl-C by another way."""

    def test_a_second_one_ends_at_once_unless_it_is_the_first_again(self):
        for pause, exits, left in [(0.0, 0, 1), (serve.SAME / 2, 0, 1), (serve.SAME * 2, 1, 1)]:
            handlers = {}
            with (
                self.subTest(pause),
                mock.patch.object(signal, "signal", handlers.__setitem__),
                mock.patch.object(serve.time, "monotonic", side_effect=[5.0, 5.0 + pause]),
                mock.patch.object(os, "_exit") as ended,
            ):
                told = serve._stop_signals()
                handlers[signal.SIGINT](signal.SIGINT, None)
                handlers[signal.SIGTERM](signal.SIGTERM, None)
                self.assertEqual((ended.call_count, told.qsize()), (exits, left))


if __name__ == "__main__":
    unittest.main()
