"""How many tokens an answer may take: what was asked for, within what the model writes, with room to think.

A model that reasons spends its budget on thoughts first, so an answer of N tokens needs room for them: under
small budgets such models answer nothing at all.
"""

from typing import Any

from metrics.records import Target

LEAST, MOST = 4096, 16384


def budget(asked: Any, target: Target, reasons: bool) -> tuple[Any, str]:
    """The output limit to send, and how it differs from what was asked for, in words ("" when it does
    not)."""
    if not isinstance(asked, int):
        return asked, ""
    most = target.max_output or asked + MOST
    if asked >= most:
        return most, f"cut from {asked} to {most} (the most this model writes)" if asked > most else ""
    if not reasons:
        return asked, ""
    raised = min(asked + min(max(LEAST, asked), MOST), most)
    return raised, f"raised from {asked} to {raised} (room to reason)"
