"""Benchwarmers, installed: this folder is the application, exactly as it stands in a checkout.

Its modules import each other as `metrics.…`, which holds when the folder itself is on sys.path. So the entry
points run the folder, as `python FOLDER` would, and never import its modules under a second name.
"""

import runpy
from pathlib import Path


def bench() -> None:
    """The `bench` command."""
    _run("bench")


def benchwarmers() -> None:
    """The `benchwarmers` command: `bench` under its long name; alone, it serves."""
    _run("benchwarmers")


def _run(program: str) -> None:
    runpy.run_path(str(Path(__file__).resolve().parent), {"PROGRAM": program}, "__main__")
