"""Characters beyond U+FFFF that a server cut in two: the first half of a surrogate pair ends one chunk's
text, the second half begins the next one's.

The idea: JSON writes both halves as escapes, so the first is taken out of its chunk's bytes and put before
the second in the next, whatever field they stand in. A half that never finds its other is no character and
is left out.
"""

import re

# Behind an even number of backslashes, and before the end of a string.
_FIRST = re.compile(rb'(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2})"')
_SECOND = re.compile(rb'"(\\u[dD][c-fC-F][0-9a-fA-F]{2})')


class Halves:
    """Made for one stream; sees its chunks in order."""

    def __init__(self) -> None:
        self._held = b""

    def joined(self, data: bytes) -> bytes:
        """The chunk with the half that the last one left, and without the one that waits for the next."""
        if not self._held and b"\\u" not in data:
            return data
        held, self._held = self._held, b""
        if held:
            data = _SECOND.sub(lambda second: b'"' + held + second[1], data, count=1)
        first = _FIRST.search(data)
        if first:
            self._held = first[2]
            data = data[: first.start(2)] + data[first.end(2) :]
        return data
