"""Encrypted reasoning of the Responses API, and whose it is.

Only the model that sealed a reasoning item can open it; another's, or one of another account, is refused
(`invalid_encrypted_content`: github.com/openai/codex/issues/8145). So each sealed item that comes is noted
with its model. An item that nobody here has seen (its caller is older than this process) is believed to be
the model's own, until the model refuses one: from then on only what it sealed since then is sent to it.
"""

import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metrics.client import seals

CONTENT = "encrypted_content"
KEPT = ("id", "summary", "content", CONTENT)  # what of a reasoning item is sent again

_lock = threading.Lock()
_refusals: dict[str, int] = {}  # model id -> how often it has refused a seal


def note(model_id: str, item: Mapping[str, Any]) -> None:
    """Remember who sealed this reasoning item."""
    seals.note(seals.OWNER, _name(item), (model_id, _refusals.get(model_id, 0)))


def keep(model_id: str, call_id: str, items: Sequence[Mapping[str, Any]]) -> None:
    """Remember the sealed items that stood before a call, for callers whose API has no place for them."""
    seals.keep(model_id, call_id, tuple(items))


def of_call(model_id: str, call_id: str) -> Sequence[Mapping[str, Any]]:
    """The items that `model_id` sealed before this call, as far as they are still known."""
    found = seals.find(model_id, call_id)
    return found if isinstance(found, tuple) else ()


def fit(model_id: str, items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Reasoning items to send to this model: its own, with their summaries; no others."""
    return [
        {
            "type": "reasoning",
            "summary": [],
            **{name: item[name] for name in KEPT if item.get(name) is not None},
        }
        for item in items
        if _own(model_id, item)
    ]


def distrust(model_id: str) -> None:
    """This model has refused a seal: what it is said to have sealed until now is not sent again."""
    with _lock:
        _refusals[model_id] = _refusals.get(model_id, 0) + 1


def forget() -> None:
    with _lock:
        _refusals.clear()


def _own(model_id: str, item: Mapping[str, Any]) -> bool:
    if not isinstance(item.get(CONTENT), str):
        return False
    owner = seals.find(seals.OWNER, _name(item))
    since = _refusals.get(model_id, 0)
    return owner == (model_id, since) if owner else not since


def _name(item: Mapping[str, Any]) -> str:
    return hashlib.sha256(str(item.get(CONTENT)).encode("utf-8", "replace")).hexdigest()
