"""bench.pyz: one file that any Python from 3.11 runs, with the application's folder inside."""

from scripts.packages import manifest

MAIN = "scripts/onefile/__main__.py"
NAME = "bench.pyz"


def entries() -> dict[str, bytes]:
    """Every file of the archive by its path."""
    (_, main), *_ = manifest.files([MAIN])
    return {"__main__.py": main, **manifest.folder()}
