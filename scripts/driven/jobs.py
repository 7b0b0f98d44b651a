"""The jobs an agent is given, and what must be so when it has ended."""

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.driven.agents import Row
from scripts.driven.plans import Json

WIDTH, HEIGHT = 24, 16


@dataclass(frozen=True)
class Outcome:
    """What an agent left: its words, its exit code (None: it took too long), its folder, and what the model
    was asked. `used` is what `bench launch` said of it, where it was launched."""

    out: str
    code: int | None
    work: Path
    token: str
    asked: Sequence[Json]
    used: Json | None = None
    err: str = ""


@dataclass(frozen=True)
class Job:
    """`prompt` writes what the user asks; `checks` gives (what, whether it is so) of an outcome."""

    name: str
    prompt: Callable[[Row, Path, str], str]
    checks: Callable[[Row, Outcome], Iterator[tuple[str, bool]]]
    image: bool = False
    edits: bool = False
    turns: int = 1


def plan(*steps: Json, final: str = "DONE {token}", together: bool = False) -> str:
    whole = {"steps": list(steps), "final": final, "together": together}
    return f"Do this job with your tools. PLAN {json.dumps(whole)}"


def reading(work: Path) -> Json:
    return {"do": "read", "path": str(work / "input.txt")}


def running(work: Path) -> Json:
    return {"do": "run", "command": f"wc -c {work / 'input.txt'} > {work / 'ran.txt'}"}


def loop(row: Row, work: Path, token: str) -> str:
    if "parallel" in row.cannot:  # without tools the model says whole files, which the agent writes
        text = "Here it is.\n\noutput.txt\n```\ncopied {token}\n```\n\nDONE {token}"
        return plan(final=text)
    writing = {"do": "write", "path": str(work / "output.txt"), "text": "copied {token}\n"}
    return plan(reading(work), writing, running(work))


def loop_checks(row: Row, left: Outcome) -> Iterator[tuple[str, bool]]:
    written = left.work / "output.txt"
    yield "it wrote what it read", written.exists() and left.token in written.read_text(encoding="utf-8")
    if "parallel" not in row.cannot:
        yield "it ran the command", (left.work / "ran.txt").exists()
    yield "its last words hold the secret", f"DONE {left.token}" in left.out


def parallel(row: Row, work: Path, token: str) -> str:
    return plan(reading(work), running(work), together=True)


def parallel_checks(row: Row, left: Outcome) -> Iterator[tuple[str, bool]]:
    yield "the command of the second call ran", (left.work / "ran.txt").exists()
    yield "the result of the first is in its last words", f"DONE {left.token}" in left.out
    both = any(
        len(message.get("tool_calls") or ()) == 2 for body in left.asked for message in body["messages"]
    )
    yield "both calls came back as one turn", both


def image(row: Row, work: Path, token: str) -> str:
    steps = [{"do": "read", "path": str(work / "pic.png")}] if row.reads_pictures else []
    return plan(*steps, final="I see {picture}.")


def image_checks(row: Row, left: Outcome) -> Iterator[tuple[str, bool]]:
    yield "the picture reached the model", f"I see {WIDTH}x{HEIGHT}." in left.out


def chat(row: Row, work: Path, token: str) -> str:
    return f"ECHO pong-{token}"


def chat_checks(row: Row, left: Outcome) -> Iterator[tuple[str, bool]]:
    yield "the answer is shown", f"pong-{left.token}" in left.out


JOBS = {
    job.name: job
    for job in (
        Job("loop", loop, loop_checks, edits=True, turns=4),
        Job("parallel", parallel, parallel_checks, turns=2),
        Job("image", image, image_checks, image=True),
        Job("chat", chat, chat_checks),
    )
}


def checks(job: Job, row: Row, left: Outcome) -> Iterator[tuple[str, bool]]:
    """The job's own, and what holds for every job."""
    yield "it ended well", left.code == 0
    yield from job.checks(row, left)
    yield "what reached the model hangs together", coherent(left.asked)
    if left.used is not None:
        yield "launch counted what the model was asked", counted(left)


def coherent(asked: Sequence[Json]) -> bool:
    """Every request: arguments are JSON text, every result answers a call before it, none is left open, and
    Claude Code's billing line, which changes from turn to turn, is not among the words."""
    return bool(asked) and all(map(answered, asked))


def answered(body: Json) -> bool:
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return False
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return False
        for call in message.get("tool_calls") or ():
            json.loads(call["function"]["arguments"])
            waiting.append(call["id"])
    return not waiting and "x-anthropic-billing-header" not in json.dumps(body["messages"])


def broken_off(left: Outcome) -> bool:
    """Whether the agent told its user that an answer broke off."""
    return "broke off" in left.out + left.err


def counted(left: Outcome) -> bool:
    """The launch's calls are the requests that came, and some of them were turns."""
    used = left.used or {}
    return bool(used.get("turns")) and used.get("calls") == len(left.asked)


def png() -> bytes:
    """A red picture of WIDTH by HEIGHT."""
    rows = (b"\0" + b"\xd0\x30\x30" * WIDTH) * HEIGHT
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    chunks = (struct.pack(">I", len(data)) + name + data + _crc(name + data) for name, data in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _crc(data: bytes) -> bytes:
    return struct.pack(">I", zlib.crc32(data))
