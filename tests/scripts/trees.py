"""Small source trees in temporary folders, for checks to find fault with."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from scripts.checks.tree import Check, Tree


@contextmanager
def tree(files: Mapping[str, str | bytes]) -> Iterator[Tree]:
    """A Tree of these files, path -> content."""
    with tempfile.TemporaryDirectory() as folder:
        for path, content in files.items():
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        yield Tree(Path(folder))


def broken(checks: Iterable[Check]) -> dict[str, str]:
    """Name -> problems, of the checks that found any."""
    return {check.name: "\n".join(check.problems) for check in checks if check.problems}
