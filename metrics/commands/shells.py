"""Variables and files as lines that a shell can run: POSIX ones, or PowerShell's."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any


def script(document: Mapping[str, Any], windows: bool) -> str:
    """The lines that make a shell what `document` says: {env: {name: value}, unset: [names], files: {path:
    content}, links: {path: target}, command: [words]}. The command itself is the last line, as a comment."""
    lines = (powershell if windows else posix)(document)
    return "".join(f"{line}\n" for line in lines)


def posix(document: Mapping[str, Any]) -> Iterator[str]:
    for path, content in document["files"].items():
        yield f"mkdir -p -m 700 {shlex.quote(folder(PurePosixPath(path)))}"
        yield f"printf '%s\\n' {shlex.quote(content)} > {shlex.quote(path)}"
    for path, target in document["links"].items():
        yield f"ln -s {shlex.quote(target)} {shlex.quote(path)}"
    for name in document["unset"]:
        yield f"unset {name}"
    for name, value in document["env"].items():
        yield f"export {name}={shlex.quote(value)}"
    yield f"# then: {one_line(shlex.join(document['command']))}"


def powershell(document: Mapping[str, Any]) -> Iterator[str]:
    for path, content in document["files"].items():
        yield f"New-Item -ItemType Directory -Force {literal(folder(PureWindowsPath(path)))} | Out-Null"
        yield f"[IO.File]::WriteAllText({literal(path)}, {literal(content)})"
    for path, target in document["links"].items():
        link = f"-Path {literal(path)} -Target {literal(target)}"
        yield f"New-Item -ItemType SymbolicLink {link} -ErrorAction SilentlyContinue | Out-Null"
    for name in document["unset"]:
        yield f"Remove-Item Env:{name} -ErrorAction SilentlyContinue"
    for name, value in document["env"].items():
        yield f"$env:{name} = {literal(value)}"
    words = [word if word.replace("-", "").isalnum() else literal(word) for word in document["command"]]
    yield f"# then: {one_line(' '.join(words))}"


def folder(path: PurePath) -> str:
    return str(path.parent)


def literal(text: str) -> str:
    """Text in PowerShell's single quotes, where only the quote itself means something."""
    return "'" + text.replace("'", "''") + "'"


def one_line(text: str) -> str:
    """A comment ends with its line."""
    return text.replace("\n", "\\n")
