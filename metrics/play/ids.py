"""Ids (decisions 2): a panel is `p<UTC yyyymmdd-hhmmss>-<8 hex>`, a conversation `r…` likewise; a call id
names its seat or its turn."""

import time
from functools import lru_cache


def panel(now: float, token: str) -> str:
    """A new panel's id. `token`: 8 hex digits of randomness."""
    return f"p{_stamped(now, token)}"


def conversation(now: float, token: str) -> str:
    """A new route conversation's id."""
    return f"r{_stamped(now, token)}"


def turn(conversation_id: str, number: int) -> str:
    return f"{conversation_id}.{number}"


def member(panel_id: str, number: int) -> str:
    return f"{panel_id}.member{number}"


def explorer(panel_id: str, number: int) -> str:
    """The first explorer carries no number, as the contract has it."""
    return f"{panel_id}.explorer{number if number > 1 else ''}"


def merger(panel_id: str) -> str:
    return f"{panel_id}.merger"


def _stamped(now: float, token: str) -> str:
    return f"{_second(int(now))}-{token}"


@lru_cache(maxsize=2)
def _second(now: int) -> str:
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
