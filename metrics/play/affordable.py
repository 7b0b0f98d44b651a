"""Which seats of a panel the budgets leave room for: in the order of the seats, so that members come before
explorers.

This only looks. What is really set aside is set aside by each call as it goes out (`limits/budgets`), which
settles who is first where several requests come at once.
"""

from dataclasses import replace

from metrics.limits import budgets, tokens
from metrics.records import Panel, Seat, Skipped


def fitted(panel: Panel) -> Panel:
    """The panel without the seats that do not fit; they are named among the skipped. Problem 402 when none
    fits, with the figure and when it renews."""
    request = panel.request
    if request.budget is None and not budgets.limited(request.key):
        return panel
    room = budgets.room(request.key, request.collection, panel.at, request.budget)
    if not room.limits:
        return panel
    prompt, most = tokens.estimate(request.messages), request.options.get("max_tokens")
    seats: list[Seat] = []
    left_out: list[Skipped] = []
    for seat in panel.seats:
        why = room.take(budgets.estimate(seat.target, prompt, most))
        if why:
            left_out.append(Skipped(seat.seat, seat.target.alias, why))
        else:
            seats.append(seat)
    if not seats:
        told = "; ".join(f"{skip.alias} {skip.why}" for skip in left_out)
        raise budgets.refused(f"no seat can be paid for: {told}")
    return replace(panel, seats=tuple(seats), skipped=(*panel.skipped, *left_out))
