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
        inside = []
        for item in layer:
            for inner in item.values() if isinstance(item, dict) else item:
                if isinstance(inner, _HOLDERS):
                    inside.append(inner)
        layer = inside
    return not layer


def finite(text: str) -> float:
    """A number of a JSON text, for `parse_float`. ValueError for one past all counting (1e999)."""
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large")
    return value
