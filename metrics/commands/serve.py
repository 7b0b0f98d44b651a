"""`bench serve` and `bench gateway`: hand the line on to the mains of the same name.

They are imported only when they run, so that no other command pays for the whole server. What follows the
word is theirs, `--help` included.
"""

import importlib
from collections.abc import Callable

MAINS = {
    "serve": "the whole server: dashboard and gateway on one port",
    "gateway": "the gateway alone: what programs call, without the dashboard",
}


def main(word: str, words: list[str]) -> int:
    """Runs serve.py or gateway.py with `words`; their exit code."""
    run: Callable[[list[str]], int | None] = importlib.import_module(word).main
    return run(words) or 0
