"""The mould of a stream: chunks of nothing but text differ in that text alone, so it can be cut out of the
bytes.

The idea: a chunk that was decoded and meant exactly one piece of text is kept as what stood before and behind
it. A chunk that fits the same mould says its text the same way, at a twentieth of what decoding costs.
Whatever does not fit (escapes, a finish, another field) is decoded, and is the next mould if it is plain.
"""

import json

_KEY = b'"content":'
_read = json.JSONDecoder().raw_decode


class Mould:
    """Made by `learn`, used by `text`; one for each stream."""

    def __init__(self) -> None:
        self._before = self._behind = b""

    def text(self, data: bytes) -> str:
        """The text of a chunk that fits; "" when it does not, or holds what must be decoded."""
        before, behind = self._before, self._behind
        if not behind or not data.startswith(before) or not data.endswith(behind):
            return ""
        inner = data[len(before) : len(data) - len(behind)]
        if b'"' in inner or b"\\" in inner:
            return ""
        try:
            return inner.decode()
        except UnicodeDecodeError:
            return ""

    def learn(self, data: bytes, text: str) -> None:
        """`data` is a chunk that means `text` and nothing else."""
        at = data.find(_KEY)
        start = data.find(b'"', at + len(_KEY)) + 1
        # In ASCII a place in the text is the same place in the bytes.
        if at < 0 or not start or data.find(_KEY, start) >= 0 or not data.isascii():
            return
        try:
            found, end = _read(data.decode("ascii"), start - 1)
        except ValueError:
            return
        if found == text and not data[at + len(_KEY) : start - 1].strip():
            self._before, self._behind = data[:start], data[end - 1 :]
