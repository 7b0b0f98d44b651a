"""What chat models thought before they called a tool, for those that want it back.

Some refuse a conversation in which an assistant's message calls tools and lacks its `reasoning_content`
(github.com/farion1231/cc-switch/issues/2365, github.com/decolua/9router/issues/1189), which many callers do
not keep, and other callers' formats have no place for. So it is kept here under the first call's id, the
latest thoughts only; where it is lost, a word stands in its place, since an empty one is refused by some.
"""

import threading
from collections import OrderedDict

from metrics.records import Message

FIELD = "reasoning_content"
LOST = "(not kept)"
MOST = 16_000_000  # characters of all
LONGEST = 400_000  # of one

_lock = threading.Lock()
_kept: OrderedDict[tuple[str, str], str] = OrderedDict()
_size = 0


def keep(model_id: str, call_id: str, text: str) -> None:
    """Remember what `model_id` thought before its call."""
    global _size
    if not text or len(text) > LONGEST:
        return
    with _lock:
        _size += len(text) - len(_kept.pop((model_id, call_id), ""))
        _kept[model_id, call_id] = text
        while _size > MOST:
            _size -= len(_kept.popitem(last=False)[1])


def find(model_id: str, call_id: str) -> str | None:
    with _lock:
        return _kept.get((model_id, call_id))


def forget() -> None:
    """Drop everything."""
    global _size
    with _lock:
        _kept.clear()
        _size = 0


def put_back(message: Message, model_id: str) -> Message:
    """`message` with the thoughts that led to its calls, where it has calls and no thoughts."""
    calls = message.get("tool_calls")
    if not calls or message.get(FIELD):
        return message
    first = calls[0].get("id") if isinstance(calls[0], dict) else None
    return {**message, FIELD: find(model_id, str(first)) or LOST}
