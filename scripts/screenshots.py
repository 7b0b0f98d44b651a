#!/usr/bin/env python3
"""Pictures of every page: light and dark, 1440 and 390 pixels wide, from a bench with everything on it.

    python3 scripts/screenshots.py DIR           all of them, as DIR/<page>-<theme>-<width>.png
    python3 scripts/screenshots.py DIR --readme  and those that README shows, as docs/pictures/<name>.webp

They are the pictures that the checks of the pages take (`python3 -m tests.browser pages --shots DIR`), so a
page that has no row in tests/browser/pages.mjs has no picture. The bench says the same each time, in the same
time zone; the clock is the one thing that differs. Needs Node, npm and Chromium. Look at each.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:1] = [str(ROOT)]

from scripts.driven import browser  # noqa: E402

# What README shows: the picture there, and the page's picture that it is.
SHOWN: Mapping[str, str] = {
    "answers": "answers-light-1440",
    "owed": "owed-dark-1440",
    "usage": "usage-light-1440",
}
PACK = Path(__file__).resolve().parent / "driven" / "pack.mjs"
PICTURES = ROOT / "docs" / "pictures"
MOST = 150_000  # bytes of one
QUALITY = 0.82


def main(argv: list[str] | None = None) -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("dir", type=Path, help="the folder they are written into")
    words.add_argument("--readme", action="store_true", help="write those of README anew, too")
    words.add_argument("--install", type=Path, help="install what drives the browser here and keep it")
    given = words.parse_args(argv)
    if why := browser.missing():
        print(f"{why}: no picture was taken.")
        return 1
    with tempfile.TemporaryDirectory(prefix="bench-pictures-") as scratch:
        where = given.install or Path(scratch)
        failed = take(given.dir, where)
        if given.readme and not failed:
            show(given.dir, where)
    pictures = sorted(given.dir.glob("*.png"))
    print(f"{len(pictures)} pictures in {given.dir}{'; a page failed its checks' if failed else ''}")
    return 1 if failed or not pictures else 0


def take(folder: Path, where: Path) -> int:
    """Have the checks of the pages take their pictures; their exit status."""
    line = [
        sys.executable,
        "-m",
        "tests.browser",
        "pages",
        "--dir",
        str(where),
        "--shots",
        str(folder.resolve()),
    ]
    return subprocess.run(line, cwd=ROOT).returncode


def show(folder: Path, where: Path) -> None:
    """Write README's pictures as WebP, which the browser itself packs. RuntimeError for one that is too
    large."""
    PICTURES.mkdir(exist_ok=True)
    shutil.copy(PACK, where)
    for name, picture in SHOWN.items():
        target = PICTURES / f"{name}.webp"
        line = [
            "node",
            PACK.name,
            str(browser.chromium()),
            str((folder / f"{picture}.png").resolve()),
            str(target),
        ]
        subprocess.run([*line, str(QUALITY)], cwd=where, check=True)
        if (size := target.stat().st_size) > MOST:
            raise RuntimeError(f"{target.name} has {size:,} bytes; {MOST:,} are the most")


if __name__ == "__main__":
    sys.exit(main())
