"""What must never be committed: paths of one machine, addresses of package mirrors, secrets, bytes that are
not text.

Each rule is a row: a pattern and what to say. The patterns are spelled so that they do not match their own
source."""

import re

from scripts.checks.tree import Check, File, Tree

PATTERNS = (
    (
        "no path of one machine",
        r"(?<![\w.~}>)-])/(?:work|root)/|(?<![\w.~}>)/-])/(?:home|Users)/\w+/|\b[A-Z]:\\+Users\\|\.\./shar[e]d/|/tmp/bas[h]_jobs",
        "a path of one machine; derive it from __file__, the home folder or an argument",
    ),
    (
        "no address of a package registry",
        r"regist[r]y\.npmjs|files\.python[h]osted|//pypi\.or[g]|(?:extra-)?index-u[r]l|regist[r]y\.yarnpkg|proxy\.golan[g]",
        "the address of a package registry; ask the client for the package by name",
    ),
    (
        "no secret",
        r"\bsk-[\w-]*[A-Za-z0-9]{32}|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30}|\bxox[abps]-[0-9A-Za-z-]{20}"
        r"|\bAIza[\w-]{35}|-----BEGIN [A-Z ]*PRIVATE KEY",
        "looks like a secret; made-up ones in tests are put together from pieces",
    ),
    ("no leftover of a merge", r"(?m)^(?:<<<<<<< |>>>>>>> |=======$)", "the mark of an unfinished merge"),
)


def checks(tree: Tree) -> list[Check]:
    found = [Check(name, _matches(tree, re.compile(pattern), why)) for name, pattern, why in PATTERNS]
    return [
        *found,
        Check(
            "every text file is UTF-8 with LF line ends",
            tuple(filter(None, map(_bytes, tree.files.values()))),
        ),
    ]


def _matches(tree: Tree, pattern: re.Pattern[str], why: str) -> tuple[str, ...]:
    return tuple(
        f"{file.path}:{file.text.count(chr(10), 0, match.start()) + 1} {match.group().strip()!r}: {why}"
        for file in tree.files.values()
        if file.text
        for match in pattern.finditer(file.text)
    )


def _bytes(file: File) -> str | None:
    if file.text is None:
        return f"{file.path} is not UTF-8"
    return f"{file.path} has CR line ends" if b"\r\n" in file.raw else None
