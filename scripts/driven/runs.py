"""One agent doing one job: an empty home, an environment made from nothing, and no way out of this
computer."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from scripts.driven.agents import Errand, Row
from scripts.driven.brain import Brain
from scripts.driven.jobs import Job, Outcome, png
from scripts.driven.plans import Json

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 150.0  # seconds a job may take
NOWHERE = "http://127.0.0.1:9"  # a proxy that is not there: whoever asks the outside is refused at once


def prepared(row: Row, job: Job, root: Path, url: str, collection: str) -> Errand:
    """What the agent is to do, in `root`, an empty folder of this run, and all that lies there."""
    token = f"TOKEN-{secrets.token_hex(6)}"
    home, work = root / "home", root / "work"
    (home / "tmp").mkdir(parents=True)
    work.mkdir()
    (work / "input.txt").write_text(f"The secret of this file is {token}.\nIt has two lines.\n", "utf-8")
    if job.edits and "parallel" in row.cannot:
        (work / "output.txt").write_text("", "utf-8")  # an agent without tools changes files that are there
    if job.image:
        (work / "pic.png").write_bytes(png())
    shown = "pic.png" if job.image and not row.reads_pictures else ""
    prompt, model = job.prompt(row, work, token), f"bench/{collection}:route"
    errand = Errand(home, work, url, model, prompt, shown, job.edits, token)
    for name, content in row.files(errand).items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(content, "utf-8")
    return errand


def do(row: Row, errand: Errand, programs: Path, collection: str, brain: Brain) -> Outcome:
    """Run the agent once; what it left."""
    root, before = errand.home.parent, len(brain.asked)
    words = command(row, errand, errand.base, collection)
    code = run(words, environment(row, errand.home, programs), errand, row)
    end_stragglers(errand.home)
    out, err = ((root / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err"))
    used = last_line(err) if row.launch else None
    return Outcome(out, code, errand.work, errand.token, tuple(brain.asked[before:]), used, err)


def command(row: Row, errand: Errand, url: str, collection: str) -> list[str]:
    words = row.words(errand)
    if not row.launch:
        return [row.binary, *words]
    ours = [sys.executable, str(ROOT / "cli.py"), "--url", url, "--json", "launch", row.launch]
    return [*ours, "--collection", collection, "--", *words]


def environment(row: Row, home: Path, programs: Path) -> dict[str, str]:
    """Nothing of this process's but where Node and the system's programs are."""
    node = os.path.dirname(shutil.which("node") or "")
    proxies = ("HTTPS_PROXY", "https_proxy") if row.proxies else ()
    return {
        "PATH": os.pathsep.join(filter(None, (str(programs), node, "/usr/local/bin", "/usr/bin", "/bin"))),
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "CI": "1",
        "NO_COLOR": "1",
        "SHELL": "/bin/sh",
        "USER": "tester",
        "DO_NOT_TRACK": "1",
        **dict.fromkeys(proxies, NOWHERE),
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        **row.env,
    }


def run(words: list[str], env: dict[str, str], errand: Errand, row: Row) -> int | None:
    """Its exit code; None when it had to be ended. What it says goes to the files `out` and `err`."""
    root = errand.home.parent
    program = shutil.which(words[0], path=env["PATH"]) or words[0]
    with open(root / "out", "wb") as out, open(root / "err", "wb") as err:
        process = subprocess.Popen(
            [program, *words[1:]],
            cwd=errand.work,
            env=env,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            process.communicate(errand.prompt.encode() if row.typed else b"", timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end(process)
        return process.returncode


def end(process: "subprocess.Popen[bytes]") -> None:
    """The process and what it started, this group and no other."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(5)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            pass


def end_stragglers(home: Path) -> None:
    """Daemons that an agent left behind, known by the home that was made for this run (Linux)."""
    mark = f"HOME={home}\0".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes() + b"\0":
                os.kill(int(folder.name), signal.SIGTERM)
        except OSError:
            pass  # it ended by itself, or is somebody else's


def last_line(err: str) -> Json:
    """What `bench launch --json` said at the end."""
    for line in reversed(err.splitlines()):
        if line.startswith("{"):
            try:
                return dict(json.loads(line))
            except ValueError:
                break
    return {}
