"""Agents that use the bench by MCP: entered by `bench mcp install`, driven by the scripted model, each in an
empty home; what must be so when they have ended."""

import json
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scripts import check_clients as clients
from scripts.check_clients import Counts
from scripts.driven import install, runs
from scripts.driven.agents import AGENTS, Errand
from scripts.driven.jobs import plan
from scripts.driven.plans import SEAT

ROOT = Path(__file__).resolve().parents[2]
TWIN = [sys.executable, str(ROOT / "mcp_server.py")]
PATIENCE = 240.0  # seconds that one client may take
LATE = 20.0  # seconds until a panel that nobody waits for is written down
PANEL = re.compile(r"bench://panel/[\w-]+")
HELLO = "ECHO the panel says hello"
# Where an agent is told to wait for a tool a second at most, less than the slow panel takes.
IMPATIENT = {
    "claude": ({"MCP_TOOL_TIMEOUT": "1000"}, ()),
    "codex": ({}, ("-c", "mcp_servers.bench.tool_timeout_sec=1")),
}


@dataclass(frozen=True)
class Bench:
    """A running server that wants keys, one such key, and where things are installed."""

    url: str
    key: str
    where: Path

    @property
    def told(self) -> dict[str, str]:
        return {"BASE_URL": self.url, "KEY": self.key, "COMMAND": json.dumps(TWIN)}


def heard(command: list[str], env: dict[str, str], typed: str = "") -> str:
    """All that a program said; `typed` is its stdin."""
    try:
        done = subprocess.run(
            command,
            env=env,
            input=typed,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return f"it did not end in {PATIENCE:.0f} s"
    return done.stdout + done.stderr


def judged(what: str, so: bool, said: str) -> Counts:
    print(f"{'PASS' if so else 'FAIL'} {what}" + ("" if so else f": {said[-700:]!r}"), flush=True)
    return Counter({("PASS" if so else "FAIL", what.partition(":")[0]): 1})


def agent(name: str) -> Callable[[Bench], Counts]:
    """An agent that lists, asks and judges by the tools of the server that `bench mcp install` entered."""

    def run(bench: Bench) -> Counts:
        problem = install.install(bench.where, AGENTS[name].package)
        if problem:
            print(f"SKIP {name}: it cannot be installed here: {problem}", flush=True)
            return Counter()
        counts: Counts = Counter()
        for way in ("HTTP", "stdio"):
            with home_of_its_own() as root:
                entered = bench_mcp(name, root, bench, *(["--stdio"] if way == "stdio" else []))
                counts += drove(name, f"{name} over {way}", root, bench, entered)
        counts += gave_up(name, bench) if name in IMPATIENT else Counter()
        return counts + (plugged(bench) if name == "claude" else Counter())

    return run


@contextmanager
def home_of_its_own() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bench-mcp-", ignore_cleanup_errors=True) as name:
        root = Path(name).resolve()
        (root / "home" / "tmp").mkdir(parents=True)
        (root / "work").mkdir()
        yield root


def bench_mcp(name: str, root: Path, bench: Bench, *words: str) -> str:
    """`bench mcp install`, as the agent's user runs it."""
    line = [
        sys.executable,
        str(ROOT / "cli.py"),
        "--url",
        bench.url,
        "mcp",
        "install",
        "--client",
        name,
        *words,
    ]
    return heard(line, environment(name, root, bench))


def environment(name: str, root: Path, bench: Bench) -> dict[str, str]:
    row = AGENTS[name]
    programs = install.binaries(install.place(bench.where, row.package), row.package)
    return {**runs.environment(row, root / "home", programs), **ours(bench)}


def ours(bench: Bench) -> dict[str, str]:
    return {"BENCHWARMERS_URL": bench.url, "BENCHWARMERS_KEY": bench.key}


STEPS = (
    {"do": "call", "tool": "list_collections", "arguments": {}},
    {"do": "call", "tool": "ask", "arguments": {"collection": "slow", "prompt": HELLO}},
    {"do": "call", "tool": "verdict", "arguments": {"call": "{call}", "useful": True, "note": "hello"}},
)


def drove(name: str, what: str, root: Path, bench: Bench, entered: str) -> Counts:
    """One job: its last words name the seat that it judged, and the server knows the verdict."""
    said = launched(name, plan(*STEPS, final="DONE {call}"), root, bench)
    call = after(said, "DONE ")
    counts = judged(f"{what}: it asks a panel and says who sat", bool(call), entered + said)
    return counts + judged(f"{what}: its verdict is recorded", '"useful": true' in why(bench, call), said)


def launched(name: str, prompt: str, root: Path, bench: Bench, *more: str, **env: str) -> str:
    row = AGENTS[name]
    errand = Errand(root / "home", root / "work", bench.url, "", prompt)
    launch = [sys.executable, str(ROOT / "cli.py"), "--url", bench.url, "launch", row.launch]
    line = [*launch, "--collection", "drive", "--", *row.words(errand), *more]
    said = heard(line, {**environment(name, root, bench), **env}, prompt if row.typed else "")
    runs.end_stragglers(root / "home")
    return said


def after(said: str, mark: str) -> str:
    """The call id behind a mark; nothing where there is none."""
    found = re.findall(rf"{mark}({SEAT.pattern})", said)
    return found[-1] if found else ""


def why(bench: Bench, call: str) -> str:
    return told(bench, "tools/call", name="why", arguments={"call": call})


def told(bench: Bench, method: str, **params: object) -> str:
    """What the server answers, by its own stdio twin."""
    line = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    env = {**clients.environment(bench.where), **ours(bench)}
    return heard(TWIN, env, json.dumps(line) + "\n").replace('\\"', '"')


def gave_up(name: str, bench: Bench) -> Counts:
    """An agent that waits a second at most is told so by its own client, and goes on; so does the panel."""
    env, words = IMPATIENT[name]
    before = told(bench, "resources/list")
    with home_of_its_own() as root:
        bench_mcp(name, root, bench)
        said = launched(name, plan(*STEPS[:2], final="WENT ON"), root, bench, *words, **env)
    counts = judged(f"{name}: it goes on when it has waited long enough", "WENT ON" in said, said)
    until, written = time.monotonic() + LATE, ""
    while not written and time.monotonic() < until:
        for uri in set(PANEL.findall(told(bench, "resources/list"))) - set(PANEL.findall(before)):
            read = told(bench, "resources/read", uri=uri)
            written = read if read.count("the panel says hello") > 2 else written
    return counts + judged(f"{name}: the panel that it gave up is recorded", bool(written), said)


def plugged(bench: Bench) -> Counts:
    """Claude Code with the plugin: its command is there, and the hook reminds once of what is owed."""
    with home_of_its_own() as root:
        prompt = plan(*STEPS[:2], final="DONE {call}")
        plugin = ["--plugin-dir", str(ROOT / "plugin")]
        said = launched("claude", f"/benchwarmers:ask {prompt}", root, bench, *plugin, "--verbose")
        call = after(said, "DONE ")
        counts = judged("claude with the plugin: its command asks a panel", bool(call), said)
        transcripts = (root / "home" / ".claude" / "projects").rglob("*.jsonl")
        written = "\n".join(path.read_text(encoding="utf-8") for path in transcripts)
        reminded = written.count("Stop hook feedback")
        return counts + judged(
            "claude with the plugin: it is reminded once of what it owes",
            reminded >= 1 and len(set(turns(written))) == 1 and call in written,
            f"{reminded} times in {said}",
        )


def turns(written: str) -> Iterator[str]:
    """The reminders in a transcript, by the id of the message that holds each."""
    for line in written.splitlines():
        if "Stop hook feedback" in line and '"type":"user"' in line:
            yield str(json.loads(line).get("uuid") or secrets.token_hex(4))
