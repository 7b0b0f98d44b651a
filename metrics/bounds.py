"""JSON that is legal and too much: nested so deep that Python's own readers and writers give up, or with a
number past all counting, which is read as infinite and cannot be written again."""

import math
from typing import Any

_HOLDERS = (dict, list)  # a tuple, since `dict | list` would be made anew for each value
DEEPEST = 100  # levels of arrays and objects; Python's own writers of JSON give up near a thousand


def shallow(value: Any, deepest: int = DEEPEST) -> bool:
    """Whether a JSON value is nested at most `deepest` levels deep."""
    layer = [value] if isinstance(value, _HOLDERS) else []
    for _ in range(deepest):
        if not layer:
            return True
        insides = (item.values() if isinstance(item, dict) else item for item in layer)
        layer = [inner for inside in insides for inner in inside if isinstance(inner, _HOLDERS)]
    return not layer


def finite(text: str) -> float:
    """A number of a JSON text, for `parse_float`. ValueError for one past all counting (1e999)."""
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large")
    return value
