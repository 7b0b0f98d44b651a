"""What providers seal and want back: thought signatures, signed thinking, encrypted reasoning.

Some callers' formats have no place for a seal, so what a model sealed before a tool call is kept here under
the call's id, and put back when the conversation returns with that call. Only the model that sealed a thing
may have it again: another refuses it. Kept in memory, the latest ones: a restart loses them, and every
dialect says how it asks without.
"""

import threading
from collections import OrderedDict
from typing import Any

MOST = 20_000  # calls

_lock = threading.Lock()
_kept: OrderedDict[tuple[str, str], Any] = OrderedDict()


def keep(model_id: str, call_id: str, seal: Any) -> None:
    """Remember what `model_id` sealed for its tool call `call_id`. The shape of a seal is its dialect's."""
    with _lock:
        _kept[model_id, call_id] = seal
        _kept.move_to_end((model_id, call_id))
        while len(_kept) > MOST:
            _kept.popitem(last=False)


def find(model_id: str, call_id: str) -> Any:
    """The seal of that call; None when this model sealed nothing for it, or too long ago."""
    with _lock:
        found = _kept.get((model_id, call_id))
        if found is not None:
            _kept.move_to_end((model_id, call_id))
        return found


def forget() -> None:
    """Drop everything."""
    with _lock:
        _kept.clear()
