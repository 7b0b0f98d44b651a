"""How long an address must wait after it has tried wrong keys or wrong words to sign in.

A few slips are free; from then on each doubles the wait, up to a minute. Held in memory, for the addresses
that failed last.
"""

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache

FREE = 5  # failures without a wait
LONGEST = 60.0  # seconds
FORGOTTEN = 900.0  # seconds without a failure, after which an address begins anew
KEPT = 4096  # addresses


class Backoff:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()  # how many, and when the last was

    def wait(self, address: str) -> float:
        """Seconds until the address may try again; 0: now."""
        with self._lock:
            count, last = self._failures.get(network(address), (0, 0.0))
            return max(0.0, last + _pause(count) - self._clock()) if count else 0.0

    def failed(self, address: str) -> None:
        name, now = network(address), self._clock()
        with self._lock:
            count, last = self._failures.pop(name, (0, now))
            self._failures[name] = (1 if now - last > FORGOTTEN else count + 1, now)
            if len(self._failures) > KEPT:
                self._failures.popitem(last=False)

    def all(self) -> list[tuple[str, int, float, float]]:
        """(address or network, failures, seconds since the last, seconds to wait) of those that failed of
        late."""
        now = self._clock()
        with self._lock:
            return [
                (name, count, now - last, max(0.0, last + _pause(count) - now))
                for name, (count, last) in self._failures.items()
                if now - last <= FORGOTTEN
            ]

    def succeeded(self, address: str) -> None:
        with self._lock:
            self._failures.pop(network(address), None)


def _pause(count: int) -> float:
    return 0.0 if count < FREE else min(LONGEST, 2.0 ** min(count - FREE, 10))


@lru_cache(maxsize=KEPT)
def network(address: str) -> str:
    """What one attacker has: an address, of IPv6 the /64 that every household gets."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False))
