import os
import signal
import socket
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from metrics.commands import starting
from metrics.commands.failure import Failure
from metrics.commands.server import Server
from tests.commands.stage import Reply, Stage
from tests.running import clean_environment


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


class SlowStarting(unittest.TestCase):
    def setUp(self) -> None:
        folder = self.enterContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        self.home = Path(folder, "home")
        self.server = Server(f"http://127.0.0.1:{free_port()}")

    def test_one_is_there_afterwards_and_no_other_folder_matters(self) -> None:
        environment = clean_environment(BENCHWARMERS_HOME=str(self.home))
        self.assertFalse(starting.listens(self.server))
        pid = starting.start(self.server, environment)
        try:
            self.assertTrue(starting.listens(self.server))
            self.assertEqual(self.server.get("/api/status")["pid"], pid)
            if os.name != "nt":
                self.assertNotEqual(os.getsid(pid), os.getsid(0))
        finally:
            os.kill(pid, signal.SIGTERM)

    def test_one_that_does_not_start_says_why(self) -> None:
        environment = clean_environment(BENCHWARMERS_HOME=str(self.home), BENCH_BIND="192.0.2.1")
        with self.assertRaises(Failure) as failed:
            starting.start(self.server, environment)
        self.assertEqual(failed.exception.kind, "not_started")
        self.assertIn("BENCH_BIND=192.0.2.1 is refused", failed.exception.message)
        self.assertIn("bench serve --port", failed.exception.hint)

    def test_one_that_never_listens_is_given_up(self) -> None:
        waits = starting.RUN.replace(
            "import serve; sys.exit(serve.main())", "sys.stdin.read(); import time; time.sleep(99)"
        )
        with mock.patch.object(starting, "RUN", waits), mock.patch.object(starting, "PATIENCE", 0.0):
            with self.assertRaises(Failure) as failed:
                starting.start(self.server, clean_environment())
        self.assertIn("did not listen", failed.exception.message)

    def test_another_program_is_no_server(self) -> None:
        with Stage({"GET /health": Reply(b"hello")}) as stage, self.assertRaises(Failure) as failed:
            starting.listens(Server(stage.url))
        self.assertIn("another program answers there", failed.exception.message)


if __name__ == "__main__":
    unittest.main()
