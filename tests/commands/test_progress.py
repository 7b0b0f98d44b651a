import unittest

from metrics.commands.output import Console
from metrics.commands.progress import Progress
from metrics.commands.seats import Seats
from tests.commands.stage import Keyboard, Screen


class Drawing(unittest.TestCase):
    def setUp(self) -> None:
        self.now = 100.0
        self.seats = Seats()
        rows = [
            {"call": "c1", "alias": "kimi", "builtin": True},
            {"call": "c2", "alias": "glm", "seat": "explorer"},
        ]
        self.seats.hear({"event": "panel.started", "panel": "p1", "seats": rows})

    def progress(self, tty: bool, quiet: bool = False) -> tuple[Progress, Screen]:
        screen = Screen(tty)
        console = Console("bench", {"TERM": "xterm"}, Keyboard(tty=tty), Screen(tty), screen, quiet=quiet)
        return Progress(console, self.seats, lambda: self.now), screen

    def finish(self, call: str) -> None:
        self.seats.hear({"event": "seat.done", "call": call, "status": "ok", "seconds": 3.04})

    def test_a_block_in_place(self) -> None:
        progress, screen = self.progress(tty=True)
        progress.draw()
        self.assertEqual(screen.getvalue(), "")  # too soon after the start
        self.now += 3
        progress.draw()
        self.assertEqual(screen.getvalue(), "⠙ kimi  3 s\n⠙ glm  3 s\n")
        self.finish("c1")
        progress.draw(force=True)
        self.assertTrue(screen.getvalue().endswith("\x1b[2A\x1b[J⠹ glm  3 s\n"))
        progress.clear()
        progress.clear()
        self.assertTrue(screen.getvalue().endswith("glm  3 s\n\x1b[1A\x1b[J"))
        self.assertEqual(progress.tick, 1.0)

    def test_lines_elsewhere(self) -> None:
        progress, screen = self.progress(tty=False)
        progress.started_line("core")
        self.now += 3
        progress.draw(force=True)
        self.finish("c1")
        progress.done_line(self.seats.chairs["c1"])
        wanted = "core: asking kimi (practice program), glm (explorer)\nkimi: ok after 3.0 s\n"
        self.assertEqual(screen.getvalue(), wanted)
        self.assertIsNone(progress.tick)

    def test_quiet(self) -> None:
        for tty in (True, False):
            with self.subTest(tty=tty):
                progress, screen = self.progress(tty, quiet=True)
                progress.started_line("core")
                self.now += 3
                progress.draw(force=True)
                self.assertEqual(screen.getvalue(), "")


if __name__ == "__main__":
    unittest.main()
