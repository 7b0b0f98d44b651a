"""The packages: wheel and source archive, built from one list of files. A PEP 517 backend; `pip` and `build`
call it.

The wheel holds the application's folder as `benchwarmers/`, unchanged, with scripts/folder/ beside it as what
runs it. Builds are reproducible: entries are sorted, and their time is SOURCE_DATE_EPOCH or a fixed one."""

import base64
import gzip
import hashlib
import io
import os
import re
import tarfile
import time
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EPOCH = 1_767_225_600  # 2026-01-01, when nothing else is said

# What the application needs to run; a folder means all of it.
APPLICATION = (
    "cli.py",
    "serve.py",
    "gateway.py",
    "mcp_server.py",
    "metrics",
    "suite",
    "ui",
    "examples",
    "README.md",
    "LICENSE",
    "NOTICE",
)
# A source archive can also be checked and built.
SOURCES = (
    *APPLICATION,
    "AGENTS.md",
    "docs",
    "pyproject.toml",
    "requirements-dev.txt",
    "scripts",
    "tests",
    ".ci",
)
FOLDER = "scripts/folder"
LEFT_OUT = re.compile(r"(^|/)(__pycache__|\.[^/]*cache|\.DS_Store|node_modules)(/|$)|\.py[co]$")

Settings = Mapping[str, Any] | None


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Writes the wheel into `wheel_directory`; its file name."""
    name = f"{_stem()}-py3-none-any.whl"
    entries = {f"benchwarmers/{path}": content for path, content in application()}
    entries |= {
        f"benchwarmers/{path.name}": path.read_bytes() for path in sorted((ROOT / FOLDER).glob("*.py"))
    }
    entries |= {f"{_stem()}.dist-info/{path}": content for path, content in _metadata().items()}
    record = f"{_stem()}.dist-info/RECORD"
    with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in sorted(entries.items(), key=_metadata_last):
            _put(wheel, path, content)
        _put(wheel, record, _record(entries, record))
    return name


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Writes the source archive into `sdist_directory`; its file name."""
    name = f"{_stem()}.tar.gz"
    entries = dict(files(SOURCES)) | {"PKG-INFO": _metadata()["METADATA"]}
    with (
        open(Path(sdist_directory, name), "wb") as raw,
        gzip.GzipFile("", "wb", mtime=moment(), fileobj=raw) as zipped,
    ):
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path, content in sorted(entries.items()):
                member = tarfile.TarInfo(f"{_stem()}/{path}")
                member.size, member.mtime, member.mode = len(content), moment(), _mode(path)
                archive.addfile(member, io.BytesIO(content))
    return name


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Writes the .dist-info folder alone; its name."""
    name = f"{_stem()}.dist-info"
    folder = Path(metadata_directory, name)
    folder.mkdir()
    for path, content in _metadata().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return name


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return []


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    return []


def application() -> Iterator[tuple[str, bytes]]:
    """(path, content) of every file that the application needs, by path."""
    return files(APPLICATION)


def files(names: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """(path, content) of the files and folders named, those that exist, sorted; caches and links left out."""
    found: set[Path] = set()
    for name in names:
        path = ROOT / name
        found.update(path.rglob("*") if path.is_dir() else [path] if path.is_file() else [])
    for path in sorted(found):
        relative = path.relative_to(ROOT).as_posix()
        if path.is_file() and not path.is_symlink() and not LEFT_OUT.search(relative):
            yield relative, path.read_bytes()


def version() -> str:
    """The one in metrics/version.py, read without importing it: a build has no sys.path of ours."""
    text = (ROOT / "metrics" / "version.py").read_text(encoding="utf-8")
    found = re.search(r'^VERSION = "([^"]+)"$', text, re.MULTILINE)
    if not found:
        raise ValueError('metrics/version.py has no line VERSION = "…"')
    return found.group(1)


def moment() -> int:
    """Seconds since 1970 that every entry of an archive is dated with; zip knows nothing before 1980."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH)), 315_532_800)


def _project() -> dict[str, Any]:
    with open(ROOT / "pyproject.toml", "rb") as file:
        project: dict[str, Any] = tomllib.load(file)["project"]
    return project


def _stem() -> str:
    return f"{_project()['name']}-{version()}"


def _metadata() -> dict[str, bytes]:
    """The files of .dist-info but RECORD, by path."""
    project = _project()
    scripts = "".join(f"{name} = {target}\n" for name, target in sorted(project["scripts"].items()))
    return {
        "METADATA": _core_metadata(project).encode(),
        "WHEEL": b"Wheel-Version: 1.0\nGenerator: benchwarmers\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": f"[console_scripts]\n{scripts}".encode(),
        "licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
        "licenses/NOTICE": (ROOT / "NOTICE").read_bytes(),
    }


def _core_metadata(project: Mapping[str, Any]) -> str:
    """PEP 643 metadata, version 2.4 for the licence expression (PEP 639)."""
    rows = [
        ("Metadata-Version", "2.4"),
        ("Name", project["name"]),
        ("Version", version()),
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
    return f"{head}\n{(ROOT / project['readme']).read_text(encoding='utf-8')}"


def _record(entries: Mapping[str, bytes], record: str) -> bytes:
    def row(path: str, content: bytes) -> str:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return f"{path},sha256={digest},{len(content)}\n"

    return "".join([*(row(path, entries[path]) for path in sorted(entries)), f"{record},,\n"]).encode()


def _put(wheel: zipfile.ZipFile, path: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(path, time.gmtime(moment())[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3  # the same bytes on every system
    entry.external_attr = (0o100000 | _mode(path)) << 16
    wheel.writestr(entry, content)


def _metadata_last(entry: tuple[str, bytes]) -> tuple[bool, str]:
    """The wheel format recommends .dist-info at the end of the archive."""
    return ".dist-info/" in entry[0], entry[0]


def _mode(path: str) -> int:
    return 0o755 if path.endswith(".ci/run") else 0o644
