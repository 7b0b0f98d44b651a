"""What an explorer found that no member did: its real claims, less those that a member of its panel makes.

A member makes a claim when it was marked in its answer, whatever was decided there, or when its answer holds
the same words, if they are enough to say something. Whether anybody judged the member does not matter.
"""

import re

from metrics.evidence import claims, offloads, panels
from metrics.evidence.cells import seat_of
from metrics.store import bodies

ENOUGH = 3  # words that stand in another answer too by more than chance


def of(call: str) -> int | None:
    """How many real claims of the call are new; None when none of its claims is decided."""
    decided = claims.of(call)
    if not decided:
        return None
    real = {_plain(claim["quote"]) for claim in decided if claim["decision"] == "real"}
    panel_id = offloads.panel_of(call) or ""
    members = [other for other, seat in _seats(panel_id) if seat == "member" and other != call]
    marked = {_plain(claim["quote"]) for member in members for claim in claims.of(member)}
    answers = (bodies.read(panel_id) or {}).get("answers") or {}
    said = [_plain(str(answers.get(member) or "")) for member in members]
    return sum(not any(_says(answer, quote) for answer in said) for quote in real - marked)


def touched(call: str) -> list[str]:
    """The explorers whose count a claim of this call may change: itself, or all beside a member."""
    seats = _seats(offloads.panel_of(call) or "")
    offload = offloads.find(call) or {"call": call}
    if seat_of(offload) == "explorer":
        return [call]
    return [other for other, seat in seats if seat == "explorer"] if seat_of(offload) == "member" else []


def _seats(panel_id: str) -> list[tuple[str, str]]:
    """(call, seat) of everybody in the panel that answered."""
    row = panels.find(panel_id) or {}
    return [
        (seat["call"], seat_of(seat))
        for seat in row.get("seats", ())
        if "call" in seat and seat.get("status") in panels.ANSWERED
    ]


def _says(answer: str, quote: str) -> bool:
    return len(quote.split()) >= ENOUGH and f" {quote} " in f" {answer} "


def _plain(text: str) -> str:
    """Text as it is compared: words, without case and what stands between them; or, for want of words, as it
    is."""
    return " ".join(re.findall(r"\w+", text.casefold())) or text.strip()
