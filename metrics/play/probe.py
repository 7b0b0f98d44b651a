"""One small question to one model, to see whether it answers now: for whoever does not want to wait until the
next caller finds out.

It goes the way of every call, through limits and budgets into the ledger (purpose "probe"); only what a
refusal held back is let go for it. A model that answers is awake again.
"""

import secrets

from metrics.bench import roster
from metrics.client.chat import Conversation
from metrics.client.transport import Hangup
from metrics.evidence import reliability
from metrics.limits import gate
from metrics.play import calls, ids
from metrics.play.calls import REAL, Clocks, Filing
from metrics.records import Answer, Seat

DEADLINE = 30.0  # seconds: somebody is waiting for it
QUESTION = [{"role": "user", "content": "Reply with the word ready."}]
ROOM = 64  # tokens of its answer: some think before a word
REACHED = ("out_of_budget", "refused", "content_filter")  # it did answer, be it not with a word


def ask(alias: str, by: str, clocks: Clocks = REAL) -> tuple[Answer, bool]:
    """Ask the model now; its Answer, and whether it answered. Problem 404 for a model that is not there."""
    target, now = roster.target(alias), clocks.now()
    gate.connection(target.connection, now).release(target.model_id, now)
    call = f"{ids.panel(now, secrets.token_hex(4))}.probe"
    answer = calls.unheard(
        calls.place(
            Seat(call, "probe", target, "probe"),
            Conversation(QUESTION),
            {"max_tokens": ROOM},
            Filing("probe"),
            deadline=DEADLINE,
            hangup=Hangup(),
            clocks=clocks,
            attempts=1,
            patience=1.0,
        )
    )
    reached = answer.answered or answer.error in REACHED
    if reached:
        reliability.wake(target.model_id, by, clocks.now())
    return answer, reached
