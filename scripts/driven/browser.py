"""Chromium, driven by the playwright-core that tests/browser/package.json pins: whether it is here, and what
has to be installed to drive it."""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

PACKAGES = Path(__file__).resolve().parent.parent.parent / "tests" / "browser" / "package.json"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NPM = ("install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")


def chromium() -> str | None:
    """The browser's program: CHROMIUM, or what is installed."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


def missing() -> str | None:
    """What is needed and not there; None when all is."""
    needed = {
        "no Chromium is installed": chromium(),
        "there is no Node": shutil.which("node"),
        "there is no npm": shutil.which("npm"),
    }
    return next((why for why, there in needed.items() if not there), None)


def promised() -> bool:
    """Whether this machine is one that must check (CI=true, as most such services say)."""
    return os.environ.get("CI", "").lower() in ("1", "true", "yes")


def install(where: Path, modules: Iterable[Path]) -> None:
    """Have `where` hold these modules and what they import."""
    where.mkdir(parents=True, exist_ok=True)
    for path in (PACKAGES, *modules):
        shutil.copy(path, where)
    subprocess.run(["npm", *NPM], cwd=where, check=True, stdout=subprocess.DEVNULL)
