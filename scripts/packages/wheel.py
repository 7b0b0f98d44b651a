"""The wheel: the application's folder as `benchwarmers/`, unchanged, and .dist-info beside it (PEP 427, core
metadata 2.4)."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from scripts.packages import documents, manifest

INFO = b"Wheel-Version: 1.0\nGenerator: benchwarmers\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def name() -> str:
    return f"{manifest.stem()}-py3-none-any.whl"


def info_folder() -> str:
    return f"{manifest.stem()}.dist-info"


def entries() -> dict[str, bytes]:
    """Every file of the wheel by its path, RECORD included."""
    found = manifest.folder() | {f"{info_folder()}/{path}": content for path, content in metadata().items()}
    record = f"{info_folder()}/RECORD"
    return found | {record: _record(found, record)}


def order(path: str) -> tuple[bool, bool, str]:
    """The format recommends .dist-info at the end of the archive; RECORD is its last word."""
    return ".dist-info/" in path, path.endswith(".dist-info/RECORD"), path


def metadata() -> dict[str, bytes]:
    """The files of .dist-info but RECORD, by path."""
    project = manifest.project()
    scripts = "".join(f"{name} = {target}\n" for name, target in sorted(project["scripts"].items()))
    licences = {f"licenses/{name}": (manifest.ROOT / name).read_bytes() for name in project["license-files"]}
    return {
        "METADATA": core_metadata(project).encode(),
        "WHEEL": INFO,
        "entry_points.txt": f"[console_scripts]\n{scripts}".encode(),
        **licences,
    }


def core_metadata(project: Mapping[str, Any]) -> str:
    """PEP 643 metadata, version 2.4 for the licence expression (PEP 639). The README becomes a page of its
    own there, where no relative link leads anywhere."""
    rows = [
        ("Metadata-Version", "2.4"),
        ("Name", project["name"]),
        ("Version", manifest.version()),
        ("Summary", project["description"]),
        ("Author", ", ".join(author["name"] for author in project["authors"])),
        ("License-Expression", project["license"]),
        *(("License-File", name) for name in project["license-files"]),
        ("Keywords", ",".join(project["keywords"])),
        *(("Classifier", name) for name in project["classifiers"]),
        ("Requires-Python", project["requires-python"]),
        *(("Requires-Dist", need) for need in project["dependencies"]),
        ("Description-Content-Type", "text/markdown"),
    ]
    head = "".join(f"{name}: {value}\n" for name, value in rows)
    readme = (manifest.ROOT / project["readme"]).read_text(encoding="utf-8")
    return f"{head}\n{documents.shipped(readme, project['readme'], ())}"


def _record(found: Mapping[str, bytes], record: str) -> bytes:
    def row(path: str, content: bytes) -> str:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return f"{path},sha256={digest},{len(content)}\n"

    return "".join([*(row(path, found[path]) for path in sorted(found)), f"{record},,\n"]).encode()
