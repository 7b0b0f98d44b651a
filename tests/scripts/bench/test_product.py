import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from scripts.bench import product


class SlowProduct(unittest.TestCase):
    def test_measures_a_server_and_ends_it(self):
        with tempfile.TemporaryDirectory() as folder, product.mock() as provider:
            home = Path(folder, "home")
            with product.server(home) as server:
                server.seat(provider)
                self.assertIn("lazy dog.", json.dumps(server.ask("five")))
                for stream in (False, True):
                    for target in (provider, server.target("panel of 1", "one")):
                        counted = product.load(target.job(stream=stream, connections=2, seconds=0.1))
                        with self.subTest(target.name, stream=stream):
                            self.assertGreater(counted["ok"], 0)
                            self.assertEqual(counted["errors"], 0)
                if sys.platform == "linux":
                    self.assertGreater(product.memory(server.pid), 1.0)
                    self.assertGreater(product.cpu(server.pid), 0.0)
            self.assertEqual(server.process.returncode, 0)

    def test_a_load_is_watched_and_weighed(self):
        watched = []
        with product.mock() as provider:
            body = json.dumps({"model": "mock-g20-c30", "stream": True})
            job = product.Job(provider.port, product.CHAT, body, seconds=0.1, warm=0.0, chunks=30)
            self.assertEqual(product.load(job, lambda: watched.append(1))["errors"], 0)
            counted = product.visit(job, os.getpid(), weigh=True)
        self.assertGreater(len(watched), 0)
        self.assertEqual((counted["ok"], counted["errors"]), (1, 0))
        if sys.platform == "linux":
            self.assertGreater(counted["rss_mb"], 1.0)
            self.assertIn("cpu_us", counted)

    def test_a_server_that_does_not_start_says_why(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "home").write_text("no folder", encoding="utf-8")
            with self.assertRaisesRegex(RuntimeError, "did not start"):
                product.Server(Path(folder, "home"))

    def test_nothing_tells_of_a_process_that_is_not_there(self):
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        self.assertIsNone(product.memory(gone.pid))
        self.assertIsNone(product.cpu(gone.pid))

    @unittest.skipIf(os.name == "nt", "signals are sent otherwise there")
    def test_what_was_started_ends_with_an_interrupt(self):
        """Ctrl-C in the middle of a measurement leaves no process behind."""
        program = (
            "import signal, sys; sys.path[:1] = [sys.argv[1]]\n"
            # Whoever runs the tests in the background has an interrupt ignored, and so would this process.
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "from scripts.bench import product\n"
            "with product.mock() as provider:\n"
            "    print(provider.port, flush=True)\n"
            "    sys.stdin.read()\n"
        )
        line = [sys.executable, "-c", program, str(product.ROOT)]
        with subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as ours:
            port = int(ours.stdout.readline())
            ours.send_signal(signal.SIGINT)
            ours.wait(60)
        with self.assertRaises(ConnectionError):
            socket.create_connection(("127.0.0.1", port), timeout=5)
