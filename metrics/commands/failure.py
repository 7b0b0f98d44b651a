"""How a command fails: a Problem that knows its exit code and what to do next.

Everything that goes wrong in `bench` ends as one Failure, so there is one place that turns trouble into
words, one that turns it into JSON, and a table from kind to exit code. Problems that come from below
(transport, stores) become Failures in `told`.
"""

from metrics.records import Problem

DONE, REFUSED, USAGE, NO_SERVER, DENIED, PARTIAL, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 4, 5, 130, 141

# kind of failure -> exit code; every other kind is REFUSED
EXITS = {
    "usage": USAGE,
    "no_server": NO_SERVER,
    "auth": DENIED,
    "forbidden": DENIED,
    "partial": PARTIAL,
    "interrupted": INTERRUPTED,
}

# kind -> what to do next, for failures that do not say it themselves
NEXT_STEPS = {
    "auth": "set BENCHWARMERS_KEY or BENCHWARMERS_ADMIN_TOKEN, or: bench login; which is for what: "
    "bench help environment",
    "backup": "take another backup: bench restore FILE --check tells whether one is whole",
    "budget": "see what is left, and when it renews: bench budget show",
    "payment": "see what is left, and when it renews: bench budget show",
    "forbidden": "this key or address may not do that; see: bench help environment",
    "bad_request": "correct what it names and run it again; --help shows the command's options",
    "config": "repair that file; bench status lists every file that cannot be read",
    "conflict": "choose another name",
    "cut": "see whether it runs again: bench status; what was answered by then: bench log",
    "disk_full": "make room on the disk that holds the data folder; bench status names the folder",
    "internal": "the server's own output says more; look there for the request id",
    "not_found": "see what there is: bench collections, bench models, bench endpoints, bench keys",
    "output": "make room where it goes, or send it elsewhere",
    "overloaded": "wait a moment and send it again",
    "rate_limited": "wait a moment and send it again",
    "timeout": "try again; ask takes more or fewer seconds with --deadline",
    "upstream_forbidden": "the provider does not let this key do that: bench endpoints names the key in use",
    "too_large": "send less: fewer or smaller files",
    "unreachable": "check its address, and that it runs: bench endpoints",
    "upstream": "who is failing, and why: bench models",
    "upstream_auth": "give the endpoint a key that its provider takes: bench endpoint key NAME --key-stdin",
    "usage": "see: bench help",
}
ELSE = "see what the server says of itself: bench status"


class Failure(Problem):
    """A Problem with `hint`: the sentence or command that comes next. `exit` is the process's exit code."""

    def __init__(
        self, status: int, message: str, *, kind: str = "", hint: str = "", retry_after: float | None = None
    ):
        super().__init__(status, message, kind=kind, retry_after=retry_after)
        self.hint = hint or NEXT_STEPS.get(self.kind, ELSE)

    @property
    def exit(self) -> int:
        return EXITS.get(self.kind, REFUSED)

    def document(self) -> dict[str, dict[str, str]]:
        """What `--json` prints of it."""
        return {"error": {"kind": self.kind, "message": self.message, "hint": self.hint}}


def usage(message: str, hint: str = "") -> Failure:
    """The command line itself is wrong (exit 2)."""
    return Failure(400, message, kind="usage", hint=hint)


def told(problem: Problem) -> Failure:
    """Any Problem as a Failure; one that is already a Failure stays as it is."""
    if isinstance(problem, Failure):
        return problem
    return Failure(problem.status, problem.message, kind=problem.kind, retry_after=problem.retry_after)
