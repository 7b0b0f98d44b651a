"""Compact JSON, written by an encoder that is made once: Python's own `JSONEncoder.encode` makes one anew for
each value, which of a small value takes longer than to write it."""

import json
from collections.abc import Callable
from json import encoder
from typing import Any


def writer(*, ascii_only: bool = False) -> Callable[[Any], str]:
    """What writes a value that holds no circle. NaN and infinities are a ValueError, what JSON has no word
    for is a TypeError, and what is nested without end a RecursionError."""
    plain = json.JSONEncoder(
        ensure_ascii=ascii_only, check_circular=False, allow_nan=False, separators=(",", ":")
    )
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:  # a Python that has none of it in C
        return plain.encode
    quoted = encoder.encode_basestring_ascii if ascii_only else encoder.encode_basestring
    # As JSONEncoder.iterencode asks for it. It keeps nothing of what it writes, so all threads share it.
    pieces = make(None, plain.default, quoted, None, ":", ",", False, False, False)

    def write(value: Any) -> str:
        return "".join(pieces(value, 0))

    return write
