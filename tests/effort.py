"""How much a test tries: little with `scripts/check.py --quick`, all of it otherwise."""

import os

QUICK = bool(os.environ.get("BENCH_QUICK"))


def effort(quick: int, full: int) -> int:
    """`quick` or `full`, whichever is asked for."""
    return quick if QUICK else full
