"""What chat models thought before they called a tool, for those that want it back.

Some refuse a conversation in which an assistant's message calls tools and lacks its `reasoning_content`
(github.com/farion1231/cc-switch/issues/2365, github.com/decolua/9router/issues/1189), which many callers do
not keep, and other callers' formats have no place for. So it is kept with the seals, under the first call's
id; where it is lost, a word stands in its place, since an empty one is refused by some.
"""

from metrics.client import seals
from metrics.records import Message

FIELD = "reasoning_content"
LOST = "(not kept)"


def keep(model_id: str, call_id: str, text: str) -> None:
    """Remember what `model_id` thought before its call."""
    if text:
        seals.keep(_shelf(model_id), call_id, text)


def find(model_id: str, call_id: str) -> str | None:
    found = seals.find(_shelf(model_id), call_id)
    return found if isinstance(found, str) else None


def _shelf(model_id: str) -> str:
    return f"thoughts of {model_id}"


def put_back(message: Message, model_id: str) -> Message:
    """`message` with the thoughts that led to its calls, where it has calls and no thoughts."""
    calls = message.get("tool_calls")
    if not calls or message.get(FIELD):
        return message
    first = calls[0].get("id") if isinstance(calls[0], dict) else None
    return {**message, FIELD: find(model_id, str(first)) or LOST}
