"""Large blocks of memory, which should go back to the system when nobody uses them any more.

The C library of most Linux systems maps a large block by itself and unmaps it when it is free, but counts
every such block as a sign that more will come, and soon keeps them: each thread that has held a long prompt
then keeps the memory of one. Told once where the limit is, it leaves it there (mallopt(3)).
"""

import functools
import sys

LARGE = 524_288  # bytes of a block that is given back

_LIMITS = (-1, -3)  # M_TRIM_THRESHOLD, which the library raises with the other, and M_MMAP_THRESHOLD


@functools.cache
def give_back() -> None:
    """Have blocks of LARGE bytes given back from now on, where that takes asking."""
    if sys.platform == "linux":
        import ctypes  # here because few servers ever need it

        try:
            for limit in _LIMITS:
                ctypes.CDLL(None).mallopt(limit, LARGE)
        except (OSError, AttributeError):
            pass  # another C library
