"""Routes: the conversations of route mode, a row for each turn, and who plays those that still go on.

The log's counters hold the live conversations by their key (see play/sticky), so a restart forgets none. What
is known of one: its id, the models that were asked in it, in order, those that have answered, which of them
plays now, which of them failed its caller in the turn before, how many turns it has had, and when the last of
them was.
"""

from collections.abc import Mapping
from typing import Any

from metrics.evidence import reliability
from metrics.store import lines, stamps
from metrics.store.log import JsonLog
from metrics.values import dataclass

Row = dict[str, Any]
# Never changed, only replaced: it is saved while turns go on.
# {"id", "models": [model_id], "worked": [model_id], "now": model_id, "turns": int, "at": epoch s,
#  "broke": model_id | None, "over": True once somebody ended it}
Live = dict[str, Any]

LAPSE = 3600.0  # seconds without a turn after which a conversation is over
MOST = 50_000  # live conversations,
SWEPT = 256  # of which so many may come before it is looked which are over
ANSWERED = ("ok", "cut", "refused")
LEFT = frozenset({"caller_left", "hangup", "loop"})  # the caller's own doing


@dataclass(frozen=True, slots=True)
class Place:
    """A turn's place: in which conversation, as which turn of it (from 1), and who played the one before."""

    conversation: str
    turn: int
    model_id: str | None


def find(key: str, now: float) -> str | None:
    """The model_id of who plays the live conversation of that key; None when there is none."""
    live = LOG.counted(lambda state: _live(state, key, now))
    return live["now"] if live else None


def broke(key: str, now: float) -> str | None:
    """The model_id of who failed the caller in the latest turn of the live conversation of that key: it broke
    off, or failed last of all. None when that turn went well, or when it was the caller who ended it."""
    live = LOG.counted(lambda state: _live(state, key, now))
    return live.get("broke") if live else None


def begin(key: str, now: float, fresh: str, model_id: str, anew: bool = False) -> Place:
    """Take the next turn of the conversation of that key, or with `anew`, or where none is live, the first of
    one with the id `fresh`, which `model_id` will play. Turns that come at the same moment get one each."""

    def take(state: dict[str, Live]) -> Place:
        live = None if anew else _live(state, key, now)
        if live is None:
            _put(state, key, _fresh(fresh, model_id, now, turns=1), now)
            return Place(fresh, 1, None)
        turn = live["turns"] + 1
        _put(state, key, live | {"turns": turn, "at": max(now, live["at"])}, now)
        return Place(live["id"], turn, live["now"])

    return LOG.counted(take)


def end(key: str, conversation: str) -> bool:
    """Have the next turn of that key begin another conversation, which anybody may play; whether this one was
    live."""

    def mark(state: dict[str, Live]) -> bool:
        live = state.get(key)
        if live is None or live["id"] != conversation or live.get("over"):
            return False
        state[key] = live | {"over": True}
        return True

    return LOG.counted(mark)


def number(key: str, conversation: str, model_id: str) -> int:
    """The number of a model in a conversation, from 1: which of its players it is."""

    def count(state: dict[str, Live]) -> int:
        live = state.get(key)
        if live is None or live["id"] != conversation:  # it lapsed, or began anew, while this turn was played
            return 1
        models = _with(live["models"], [model_id])
        if models is not live["models"]:
            state[key] = live | {"models": models}
        return models.index(model_id) + 1

    return LOG.counted(count)


def first_work(key: str, conversation: str, model_id: str) -> bool:
    """Whether the model has just answered for the first time in this conversation."""

    def note(state: dict[str, Live]) -> bool:
        live = state.get(key)
        if live is None or live["id"] != conversation:
            return True
        worked = _with(live["worked"], [model_id])
        if worked is not live["worked"]:
            state[key] = live | {"worked": worked}
        return worked is not live["worked"]

    return LOG.counted(note)


def record(row: Row) -> None:
    """Record a turn that is over. {at, conversation, turn, call, sticky (the key), model, model_id, status,
    players (as `number` counted them), ...}"""
    LOG.submit(row)


def recent(
    limit: int, before: str | None = None, collection: str | None = None
) -> tuple[list[Row], str | None]:
    """The latest conversations (of a collection) by their latest turns, newest first, and the cursor of the
    next page."""
    if collection is None:
        return LOG.recent(limit, before)
    return LOG.recent(
        limit, before, lambda row: row.get("collection") == collection, lines.with_text(collection)
    )


def turns(conversation: str, since: str = "") -> list[Row]:
    """All turns of a conversation, newest first."""
    return LOG.find_all(conversation, since)


def retain(oldest: str) -> int:
    """Remove the files of months before `oldest` ("2026-05"); how many there were."""
    return LOG.retain(oldest)


def _live(state: dict[str, Live], key: str, now: float) -> Live | None:
    """The conversation of that key that goes on at `now`."""
    live = state.get(key)
    return live if live and now - live["at"] <= LAPSE and not live.get("over") else None


def _fresh(conversation: str, model_id: str, at: float, turns: int = 0) -> Live:
    """A conversation that so many turns have begun of: who plays it is asked in the first."""
    asked = [model_id] if turns else []
    return {"id": conversation, "models": asked, "worked": [], "now": model_id, "turns": turns, "at": at}


def _put(state: dict[str, Live], key: str, live: Live, now: float) -> None:
    """Keep `live` as the latest. For a moment it is not there: whoever looks does so by `LOG.counted`."""
    if state.pop(key, None) is None and len(state) % SWEPT == 0:
        _sweep(state, now)
    state[key] = live


def _sweep(state: dict[str, Live], now: float) -> None:
    """Drop what has lapsed, and the oldest of too many: they come first. A dict that has lost many of its
    first keys takes long to find the next, so they go together."""
    spare = len(state) - MOST
    gone: list[str] = []
    for key, live in state.items():
        if len(gone) >= spare and now - live["at"] <= LAPSE:
            break
        gone.append(key)
    for key in gone:
        del state[key]


def _fold(state: dict[str, Live], row: Mapping[str, Any]) -> None:
    """Take a turn as its row tells it. Rows come in the order in which turns end."""
    key, at = row["sticky"], stamps.epoch(row["at"])
    live = state.get(key)
    if live is None or (live["id"] != row["conversation"] and live["at"] <= at):
        live = _fresh(row["conversation"], row["model_id"], at)
    if live["id"] != row["conversation"]:
        return
    ended, answered = at + (row.get("seconds") or 0.0), row["status"] in ANSWERED
    _put(
        state,
        key,
        live
        | {
            "models": _with(live["models"], row["players"]),
            "worked": _with(live["worked"], [row["model_id"]]) if answered else live["worked"],
            "now": row["model_id"] if answered else live["now"],
            "broke": row["model_id"] if _failed(row) else None,
            "turns": max(live["turns"], row["turn"]),
            "at": max(live["at"], ended),
        },
        ended,
    )


def _failed(row: Mapping[str, Any]) -> bool:
    """Whether the member is to blame that the turn came to nothing, or to half an answer."""
    error = row.get("error")
    return row["status"] not in ("ok", "refused") and error not in LEFT and error not in reliability.CALLERS


def _with(models: list[str], more: list[str]) -> list[str]:
    for model_id in more:
        if model_id not in models:
            models = [*models, model_id]
    return models


LOG = JsonLog("routes", key="conversation", partition="month", fold=_fold, empty=dict, replaced=True)
