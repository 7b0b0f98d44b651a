"""Panel ids and call ids (decisions 2): `p<UTC yyyymmdd-hhmmss>-<8 hex>`, a seat's call id is `<panel>.<seat name>`."""

import time


def panel(now: float, token: str) -> str:
    """A new panel's id. `token`: 8 hex digits of randomness."""
    return f"p{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{token}"


def member(panel_id: str, number: int) -> str:
    return f"{panel_id}.member{number}"


def explorer(panel_id: str, number: int) -> str:
    """The first explorer carries no number, as the contract has it."""
    return f"{panel_id}.explorer{number if number > 1 else ''}"


def merger(panel_id: str) -> str:
    return f"{panel_id}.merger"
