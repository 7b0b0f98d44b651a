"""A server started for somebody who needs one now: this program's own, by itself, in the background.

It belongs to nobody: it outlives the command that started it, and says nothing more once it listens.
"""

import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from metrics.commands.failure import Failure
from metrics.commands.server import GLANCE, HERE_PORT, Server

PATIENCE = 30.0  # seconds until it has to listen: a first start makes the data folder and compiles
STEP = 0.05
ALONE: int = sum(getattr(subprocess, name, 0) for name in ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW"))

# -P: nothing that lies in the user's current folder may stand for a module of ours.
RUN = "import sys; sys.path.insert(0, {0!r}); import serve; sys.exit(serve.main())"


def listens(server: Server) -> bool:
    """Whether it answers. Raises the Failure for what is no server of ours."""
    try:
        replace(server, patience=GLANCE).get("/health")
    except Failure as failure:
        if failure.kind == "no_server" and failure.status == 503:
            return False
        raise
    return True


def start(server: Server, env: Mapping[str, str], sleep: Callable[[float], None] = time.sleep) -> int:
    """Start a server where `server` is looked for and wait until it listens; its process id. Raises Failure
    "not_started" with what it said."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command(server),
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,  # out of reach of the terminal's Ctrl-C, which is meant for the agent
            creationflags=ALONE,  # the same on Windows
        )
        until = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < until:
            if listens(server):
                process.returncode = 0  # nobody waits for it to end
                return process.pid
            sleep(STEP)
        if process.poll() is not None and listens(server):
            return 0  # somebody else's was quicker
        raise not_started(process, said, server)


def not_started(process: "subprocess.Popen[bytes]", said: IO[bytes], server: Server) -> Failure:
    if process.poll() is None:
        process.kill()
        process.wait()
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").strip().splitlines()
    why = lines[-1] if lines else f"it did not listen within {PATIENCE:g} s"
    hint = f"start it yourself to see all it says: {server.starter}"
    return Failure(503, f"a server was started and did not get far: {why}", kind="not_started", hint=hint)


def command(server: Server) -> list[str]:
    """This program's server, where `server` is looked for."""
    return [*program(), "--port", str(urlsplit(server.base).port or HERE_PORT), "--no-browser"]


def program() -> list[str]:
    """What starts this program's server, whether it lies in a checkout, in a package or in one file."""
    spec = importlib.util.find_spec("serve")
    folder = str(Path(spec.origin).parent) if spec and spec.origin else ""
    return [sys.executable, "-P", "-c", RUN.format(folder)]
