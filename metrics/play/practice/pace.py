"""The players that try the client's patience: one is slow, one refuses every other call. Neither says
anything useful.
"""

import re
from collections import OrderedDict
from threading import Lock

from metrics.play.practice.ask import Ask, Said
from metrics.records import Problem

USUAL, LONGEST = 20.0, 600.0  # seconds
REMEMBERED = 1000  # conversations
WORDS = (
    "I say these words slowly, one after the other, so that you can watch an answer arrive, try a"
    " deadline, hang up in the"
    " middle, or see what a panel does while one seat is still talking. There is nothing in them to judge."
)


def slow(ask: Ask) -> Said:
    """The same words, taking as many seconds as the newest message says after "slow"."""
    asked = re.search(r"\bslow(?:ly)?\b\D{0,12}?(\d{1,6}(?:\.\d{1,3})?)", ask.text, re.IGNORECASE)
    seconds = min(float(asked[1]), LONGEST) if asked else USUAL
    return Said(
        f"{WORDS} This took {seconds:g} seconds; ask with `slow 3` for three, up to {LONGEST:g}.",
        seconds=seconds,
    )


class Flaky:
    """Refuses the first, third, ... call with the same conversation, as a provider out of quota does,
    then answers."""

    def __init__(self) -> None:
        self._calls: OrderedDict[str, int] = OrderedDict()
        self._lock = Lock()

    def __call__(self, ask: Ask) -> Said:
        """Raises Problem(429) with one second to wait on every odd call of a conversation."""
        number = self._count(ask.digest())
        if number % 2:
            raise Problem(
                429,
                "practice-flaky refuses every other call of a conversation; the next one is"
                " answered. Try again in 1 s.",
                code="rate_limit_exceeded",
                retry_after=1.0,
            )
        return Said(
            f"This is call {number} of this conversation: I refused the one before and answer this one."
        )

    def _count(self, conversation: str) -> int:
        with self._lock:
            number = self._calls.pop(conversation, 0) + 1
            self._calls[conversation] = number
            if len(self._calls) > REMEMBERED:
                self._calls.popitem(last=False)
            return number
