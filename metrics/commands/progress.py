"""What a person sees on stderr while a panel plays: who is done, who is still writing, for how long.

On a terminal that can be steered, a block of one line a waiting seat is redrawn in place and taken away
before anything else is written. Elsewhere there is one line when the panel starts and one as each seat ends:
a log, not an animation.
"""

import time
from collections.abc import Callable

from metrics.commands.output import Console, width
from metrics.commands.seats import Chair, Seats
from metrics.commands.tables import cut, harmless, seconds

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
REDRAW = 0.1  # seconds between two drawings


class Progress:
    """Follows `seats`. `clock` gives seconds; nothing is written under --quiet."""

    def __init__(self, console: Console, seats: Seats, clock: Callable[[], float] = time.monotonic):
        self.console, self.seats, self.clock = console, seats, clock
        self.live = console.steerable(console.stderr) and not console.quiet
        self.started = self.drawn_at = clock()
        self.lines = self.frame = 0

    def started_line(self, collection: str) -> None:
        names = ", ".join(f"{chair.alias}{mark(chair)}" for chair in self.seats.chairs.values())
        self.clear()
        self.console.note(f"{collection}: asking {names}")
        for one in self.seats.skipped:
            self.console.note(f"skipped {one.get('alias')}: {one.get('why')}")

    def done_line(self, chair: Chair) -> None:
        """A seat ended. On a live terminal its section or the table will say so."""
        self.clear()
        if not self.live:
            took = seconds((chair.done or {}).get("seconds"))
            self.console.note(f"{chair.alias}: {chair.status} after {took} s")

    def draw(self, force: bool = False) -> None:
        """Draws the waiting seats anew, at most every REDRAW seconds unless `force`."""
        now = self.clock()
        if not self.live or not (force or now - self.drawn_at >= REDRAW):
            return
        self.clear()
        self.drawn_at, self.frame = now, self.frame + 1
        self.lines = len(self.seats.waiting)
        wide = (width(self.console.stderr) or 80) - 1
        text = "".join(f"{cut(harmless(self.line(chair, now)), wide)}\n" for chair in self.seats.waiting)
        self.write(text)

    def line(self, chair: Chair, now: float) -> str:
        written = f", {chair.written:,} characters" if chair.written else ""
        return f"{FRAMES[self.frame % len(FRAMES)]} {chair.alias}  {int(now - self.started)} s{written}"

    def clear(self) -> None:
        """Takes the block away, so that what follows stands where it was."""
        if self.lines:
            self.write(f"\x1b[{self.lines}A\x1b[J")
            self.lines = 0

    def write(self, text: str) -> None:
        self.console.tell(text)

    @property
    def tick(self) -> float | None:
        """How often a quiet stream should be looked up from, in seconds."""
        return 1.0 if self.live else None


def mark(chair: Chair) -> str:
    """What is worth knowing of a seat before it speaks."""
    kinds = [str(chair.who["seat"])] if chair.who.get("seat") not in (None, "member") else []
    kinds += ["practice program"] if chair.who.get("builtin") else []
    return f" ({', '.join(kinds)})" if kinds else ""
