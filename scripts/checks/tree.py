"""The source tree as the checks see it: every file read once, every module parsed once.

A part of check.py is a function from a Tree to a list of Checks, so a test can hand it a small tree made up
in a temporary folder. A module that does not parse has no syntax (None): the compile part reports it, the
others pass it by."""

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

# Folders that hold nothing of ours, wherever they stand. Other folders whose names begin with a dot are
# skipped too.
SKIPPED = {"__pycache__", "node_modules", "build", "dist", "venv"}
KEPT = {".ci", ".github"}
# Files that say where something of this machine is: a data folder, and what a worktree of git is of.
THEIRS = {".benchwarmers-home", ".git"}
TEXTS = {
    ".py",
    ".js",
    ".mjs",
    ".css",
    ".html",
    ".md",
    ".json",
    ".jsonl",
    ".toml",
    ".txt",
    ".sh",
    ".yml",
    ".yaml",
    "",
}


Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True, slots=True)
class Check:
    """One rule looked at: `problems` holds a sentence per breach, none when the rule is kept."""

    name: str
    problems: tuple[str, ...] = ()


class File:
    """One text file. `path` is relative to the root, with forward slashes; `text` None when it is not
    UTF-8."""

    def __init__(self, path: str, raw: bytes) -> None:
        self.path = path
        self.raw = raw

    @cached_property
    def text(self) -> str | None:
        try:
            return self.raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None

    @property
    def lines(self) -> list[str]:
        return (self.text or "").splitlines()


class Module(File):
    """A Python file. `name` is how it is imported: metrics/store/files.py is metrics.store.files."""

    @property
    def name(self) -> str:
        parts = self.path.removesuffix(".py").split("/")
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def syntax(self) -> ast.Module | None:
        try:
            return ast.parse(self.raw, self.path)
        except (SyntaxError, ValueError):
            return None

    @cached_property
    def by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        """Every node of the module under its class, each statement before what it holds."""
        found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in _within(self.syntax) if self.syntax else ():
            found.setdefault(type(node), []).append(node)
        return found

    def nodes(self, *kinds: type[Node]) -> Iterator[Node]:
        """The nodes of exactly these classes."""
        for kind in kinds:
            yield from self.by_kind.get(kind, ())  # type: ignore[misc]  # each stands under its own class


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it, as ast.walk has them, in a third of its time."""
    row = [node]
    while row:
        below: list[ast.AST] = []
        for one in row:
            yield one
            for name in one._fields:
                value = getattr(one, name, None)
                if type(value) is list:
                    below += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    below.append(value)
        row = below


class Tree:
    """All text files below `root`, by path, in order."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def files(self) -> dict[str, File]:
        return {file.path: file for file in self._read()}

    @cached_property
    def modules(self) -> dict[str, Module]:
        """By path; those under tests/ included."""
        return {path: file for path, file in self.files.items() if isinstance(file, Module)}

    @cached_property
    def names(self) -> set[str]:
        """The modules by the names they are imported under."""
        return {module.name for module in self.modules.values()}

    def below(self, *prefixes: str) -> list[Module]:
        """The modules whose path begins with one of `prefixes`."""
        return [module for path, module in self.modules.items() if path.startswith(prefixes)]

    def _read(self) -> Iterator[File]:
        for path in sorted(self._paths()):
            if path.suffix.lower() not in TEXTS:
                continue
            try:
                raw = path.read_bytes()
            except OSError:  # gone since it was listed: somebody is at work here
                continue
            name = path.relative_to(self.root).as_posix()
            yield Module(name, raw) if path.suffix == ".py" else File(name, raw)

    def _paths(self) -> Iterator[Path]:
        for folder, inner, names in os.walk(self.root):
            inner[:] = [name for name in inner if _ours(name)]
            yield from (Path(folder, name) for name in names if name not in THEIRS)


def _ours(folder: str) -> bool:
    if folder.startswith("."):
        return folder in KEPT
    return folder not in SKIPPED and not folder.endswith(".egg-info")
