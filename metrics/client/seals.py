"""What providers seal and want back: thought signatures, signed thinking, encrypted reasoning.

Some callers' formats have no place for a seal, so what a model sealed before a tool call is kept here under
the call's id, and put back when the conversation returns with that call. Only the model that sealed a thing
may have it again: another refuses it. Kept in memory, the latest ones: a restart loses them, and every
dialect says how it asks without.

Some servers number the calls of each conversation anew, so an id is no proof of whose it is: where two things
come to one name, neither is given back, since it could be another user's.
"""

import threading
from collections import OrderedDict
from typing import Any

MOST = 64_000_000  # characters of all
LONGEST = 1_000_000  # of one
BESIDE = 300  # what each weighs beside its own
OWNER = "who sealed"  # the shelf that says whose a thing is, by the id of its call or by its digest

_TWO = object()  # stands where two things came to one name

_lock = threading.Lock()
_kept: OrderedDict[tuple[str, str], Any] = OrderedDict()
_size = 0


def keep(shelf: str, name: str, seal: Any) -> None:
    """Remember what a model, whose id is the `shelf`, sealed for its tool call of that name. The shape of a
    seal is its dialect's: text, or JSON. One that is far too long is not kept."""
    if _weight(seal) <= LONGEST:
        with _lock:
            held = _kept.get((shelf, name))
            _put(shelf, name, seal if held is None or held == seal else _TWO)


def note(shelf: str, name: str, fact: Any) -> None:
    """Remember what is known now of the thing that has this digest, whatever was known before."""
    with _lock:
        _put(shelf, name, fact)


def _put(shelf: str, name: str, seal: Any) -> None:
    global _size
    held = _kept.pop((shelf, name), None)
    _size += _weight(seal) - (0 if held is None else _weight(held))
    _kept[shelf, name] = seal
    while _size > MOST:
        _size -= _weight(_kept.popitem(last=False)[1])


def find(shelf: str, name: str) -> Any:
    """The seal of that call; None when this model sealed nothing for it, too long ago, or for two of that
    name."""
    with _lock:
        found = _kept.get((shelf, name))
        if found is not None:
            _kept.move_to_end((shelf, name))
        return None if found is _TWO else found


def forget() -> None:
    """Drop everything."""
    global _size
    with _lock:
        _kept.clear()
        _size = 0


def _weight(seal: Any) -> int:
    return BESIDE + _characters(seal)


def _characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(name) + _characters(one) for name, one in value.items())
    return sum(map(_characters, value)) if isinstance(value, list | tuple) else 0
