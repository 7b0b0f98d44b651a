import os
import signal
import subprocess
import sys
import threading
import unittest
from unittest import mock

from metrics.commands import child
from metrics.commands.failure import Failure
from metrics.commands.output import Console
from tests.commands.stage import Keyboard, Screen

# Held back until it is waited for: one that comes between two instructions is never lost.
SAYS_WHEN_TOLD = (
    "import signal, sys\n"
    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.{name}])\n"
    "print('ready', flush=True)\n"
    "signal.sigwait([signal.{name}])\n"
    "sys.exit(7)\n"
)


def console() -> Console:
    return Console("bench", {}, Keyboard(), Screen(), Screen())


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


class Run(unittest.TestCase):
    def test_the_exit_code_is_the_programs(self) -> None:
        cases = (("pass", 0), ("raise SystemExit(3)", 3), ("raise SystemExit(255)", 255))
        for code, wanted in cases:
            with self.subTest(code):
                self.assertEqual(child.run(python(code), os.environ, console()), wanted)

    @unittest.skipIf(os.name == "nt", "Windows has no such signals")
    def test_ended_by_a_signal_is_128_and_its_number(self) -> None:
        code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
        self.assertEqual(child.run(python(code), os.environ, console()), 128 + signal.SIGKILL)

    def test_it_gets_words_and_variables_as_they_are(self) -> None:
        code = "import os, sys; sys.exit(sys.argv[1:] != ['--', 'a b', ''] or os.environ['X'] != 'it')"
        run = child.run([*python(code), "--", "a b", ""], {**os.environ, "X": "it"}, console())
        self.assertEqual(run, 0)

    def test_what_cannot_be_started_says_so(self) -> None:
        with self.assertRaises(Failure) as failed:
            child.run([os.path.join("no", "such", "program")], {}, console())
        self.assertEqual(failed.exception.kind, "not_started")


@unittest.skipIf(os.name == "nt", "Windows has no such signals")
class SlowSignals(unittest.TestCase):
    def tell(self, name: str, shared: bool = False) -> int:
        """Signal ourselves once the program is ready; its exit code."""
        number = getattr(signal, name)
        with subprocess.Popen(python(SAYS_WHEN_TOLD.format(name=name)), stdout=subprocess.PIPE) as process:
            assert process.stdout
            try:
                with child.passing_on(process, shared):
                    process.stdout.readline()
                    os.kill(os.getpid(), number)
                    if shared:
                        self.assertIsNone(process.poll())
                        process.kill()
                    return process.wait(30)
            finally:
                process.kill()

    def test_ours_go_on_to_the_program(self) -> None:
        for name in ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT", "SIGUSR1"):
            with self.subTest(name):
                before = signal.getsignal(getattr(signal, name))
                self.assertEqual(self.tell(name), 7)
                self.assertEqual(signal.getsignal(getattr(signal, name)), before)

    def test_a_terminals_ctrl_c_reaches_it_by_itself(self) -> None:
        self.assertEqual(self.tell("SIGINT", shared=True), -signal.SIGKILL)
        self.assertIs(threading.current_thread(), threading.main_thread())


class Windows(unittest.TestCase):
    def test_batch_files_get_no_word_that_they_would_read_again(self) -> None:
        cases: tuple[tuple[list[str], bool, bool], ...] = (
            (["a.cmd", "plain", "C:\\a b", "model=bench/core:route"], True, True),
            (["a.cmd", 'say "x"'], True, False),
            (["A.BAT", "50%"], True, False),
            (["a.cmd", "a\nb"], True, False),
            (["a.exe", 'say "x" & 50%'], True, True),
            (["a.cmd", 'say "x"'], False, True),
        )
        for words, windows, fine in cases:
            with self.subTest(words, windows=windows):
                if fine:
                    child.refuse_unsafe(words, windows)
                else:
                    self.assertRaises(Failure, child.refuse_unsafe, words, windows)

    def test_it_is_asked_on_windows_only(self) -> None:
        with mock.patch("os.name", "nt"), self.assertRaises(Failure) as failed:
            child.run(["a.cmd", "50%"], {}, console())
        self.assertEqual(failed.exception.kind, "usage")


if __name__ == "__main__":
    unittest.main()
