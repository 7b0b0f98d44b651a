"""The one list of files that every package is made from, and what all of them are called, dated and allowed.

The application is what runs and what its users read; a source archive can also be checked and built. Nothing
else is in any package: a folder named here means all of it, but for LEFT_OUT and DEVELOPERS_OWN."""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.packages import documents

ROOT = Path(__file__).resolve().parents[2]
EPOCH = 1_767_225_600  # 2026-01-01, when nothing else is said
NAME = "benchwarmers"  # of the application's folder, in whatever package it lies

# What the application needs to run, and its users to read.
APPLICATION = (
    "cli.py",
    "serve.py",
    "gateway.py",
    "mcp_server.py",
    "metrics",
    "suite",
    "ui",
    "examples",
    ".claude-plugin",
    "plugin",
    "docs",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "NOTICE",
)
# Beside these, a source archive can be checked and built.
SOURCES = (
    *APPLICATION,
    "AGENTS.md",
    "Dockerfile",
    ".dockerignore",
    "compose.yaml",
    "deploy",
    "package.json",
    "package-lock.json",
    "pyproject.toml",
    "requirements-dev.txt",
    "scripts",
    "tests",
    ".ci",
    ".gitattributes",
    ".gitignore",
)
# What builds the application's folder, and what an image is built by.
CONTEXT = (
    *APPLICATION,
    "Dockerfile",
    ".dockerignore",
    "compose.yaml",
    "deploy",
    "pyproject.toml",
    "scripts/__init__.py",
    "scripts/package.py",
    "scripts/packages",
    "scripts/folder",
    "scripts/npm",
    "scripts/onefile",
)
ENTRY = "scripts/folder"  # what makes the application's folder a program and a package
LEFT_OUT = re.compile(
    r"(^|/)(__pycache__|\.[^/]*cache|\.DS_Store|node_modules|local-model)(/|$)|\.py[co]$|\.draft$|\.lock$"
)
# In the application's folders, but for those who work on it: the source archive has them.
DEVELOPERS_OWN = re.compile(r"^(ui/README\.md|docs/pictures/)")
PROGRAMS = re.compile(r"^(\.ci/run|(.*/)?bin/[^/]+\.js|deploy/.*\.sh)$")  # may be run as they are


def application() -> dict[str, bytes]:
    """The application's files by path: documents as `documents.shipped` leaves them."""
    held = {path: content for path, content in files(APPLICATION) if not DEVELOPERS_OWN.search(path)}
    return {
        path: documents.shipped(content.decode(), path, held).encode() if path.endswith(".md") else content
        for path, content in held.items()
    }


def folder() -> dict[str, bytes]:
    """The application's folder as it is installed: `python FOLDER` runs it, and it is a package."""
    entry = {Path(path).name: content for path, content in files([ENTRY])}
    return {f"{NAME}/{path}": content for path, content in sorted({**application(), **entry}.items())}


def files(names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
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
    """The one in metrics/version.py, read without importing it. ValueError unless it is three plain numbers,
    which all the registries read alike."""
    text = (ROOT / "metrics" / "version.py").read_text(encoding="utf-8")
    found = re.search(r'^VERSION = "((?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2})"$', text, re.MULTILINE)
    if not found:
        raise ValueError('metrics/version.py has no line VERSION = "MAJOR.MINOR.PATCH"')
    return found.group(1)


def project() -> Mapping[str, Any]:
    """The [project] table of pyproject.toml: name, description, licence, commands."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        table: dict[str, Any] = tomllib.load(file)["project"]
    return table


def stem() -> str:
    """What a package's file name begins with: "benchwarmers-0.1.0"."""
    return f"{project()['name']}-{version()}"


def moment() -> int:
    """Seconds since 1970 that every entry of an archive is dated with; zip knows nothing before 1980."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH)), 315_532_800)


def mode(path: str) -> int:
    """What an entry's permissions are, whatever those of the file here."""
    return 0o755 if PROGRAMS.search(path) else 0o644
