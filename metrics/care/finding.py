"""What a check found: it passed, it failed, or there was nothing to look at; and what to do about it."""

from dataclasses import dataclass

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: `state` is passed, failed or skipped; `then` is what to do about it, always there when it
    failed."""

    name: str
    state: str
    said: str
    then: str = ""


def passed(name: str, said: str) -> Finding:
    return Finding(name, PASSED, said)


def failed(name: str, said: str, then: str) -> Finding:
    return Finding(name, FAILED, said, then)


def skipped(name: str, said: str, then: str = "") -> Finding:
    return Finding(name, SKIPPED, said, then)
