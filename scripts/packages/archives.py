"""Archives whose bytes follow from their entries alone: sorted, one date, fixed modes, no name of anybody."""

import gzip
import io
import os
import tarfile
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scripts.packages import manifest

SHEBANG = b"#!/usr/bin/env python3\n"

Entries = Mapping[str, bytes]


def tar(path: Path, entries: Entries, top: str) -> None:
    """Write a .tar.gz of `entries` under the folder `top`."""
    with _whole(path) as raw:
        with gzip.GzipFile("", "wb", mtime=manifest.moment(), fileobj=raw) as zipped:
            with tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive:
                for name, content in sorted(entries.items()):
                    member = tarfile.TarInfo(f"{top}/{name}" if top else name)
                    member.size, member.mtime = len(content), manifest.moment()
                    member.mode = manifest.mode(name)
                    archive.addfile(member, io.BytesIO(content))


def zip(
    path: Path,
    entries: Entries,
    order: Callable[[str], Any] = str,
    program: bool = False,
) -> None:
    """Write a zip of `entries`, sorted by `order` of their names; a `program` begins with the line by which
    a shell finds its interpreter."""
    with _whole(path, 0o755 if program else 0o644) as raw:
        raw.write(SHEBANG if program else b"")
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(entries, key=order):
                entry = zipfile.ZipInfo(name, time.gmtime(manifest.moment())[:6])
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # the same bytes on every system
                entry.external_attr = (0o100000 | manifest.mode(name)) << 16
                archive.writestr(entry, entries[name])


class _whole:
    """A file to write, in its place only once it is whole."""

    def __init__(self, path: Path, mode: int = 0o644) -> None:
        self.path, self.mode = path, mode
        self.draft = path.with_name(f".{path.name}.draft")

    def __enter__(self) -> io.BufferedWriter:
        self.file = open(self.draft, "wb")
        return self.file

    def __exit__(self, kind: type | None, *trouble: object) -> None:
        self.file.close()
        if kind:
            self.draft.unlink()
            return
        self.draft.chmod(self.mode)
        os.replace(self.draft, self.path)
