#!/usr/bin/env python3
"""Real MCP clients against a real server that wants keys: `python3 scripts/check_mcp.py`.

Needs Node 20 or later, npm and PyPI. What tests/clients/mcp/ pins (the official Python and TypeScript
clients, the Inspector) and what scripts/driven/ pins (Claude Code, Codex) is installed into a folder that is
removed again (--dir keeps one). Each lists, asks with progress, cancels where its user could, and judges,
over HTTP and stdio; `schema` holds every message against the protocol's own schema. The agents get to know
the bench by `bench mcp install` and are driven by a scripted model, offline, each in an empty home. The last
line is `N passed, N failed`.
"""

import argparse
import json
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import check_clients as clients
from scripts.bench.product import Server
from scripts.check_clients import LINE, Counts, fault, folder
from scripts.driven import install, runs
from scripts.driven.agents import AGENTS, Errand
from scripts.driven.brain import HELD, MODELS, Brain
from scripts.driven.jobs import plan

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "tests" / "clients" / "mcp"
TWIN = [sys.executable, str(ROOT / "mcp_server.py")]
PATIENCE = 240.0  # seconds that one client may take
HELLO = "ECHO the panel says hello"


@dataclass(frozen=True)
class Bench:
    """A running server that wants keys, one such key, and where things are installed."""

    url: str
    key: str
    where: Path

    @property
    def told(self) -> dict[str, str]:
        return {"BASE_URL": self.url, "KEY": self.key, "COMMAND": json.dumps(TWIN)}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these: " + " ".join(PARTS))
    parser.add_argument("--dir", type=Path, help="install here and keep it, to be used again")
    options = parser.parse_args()
    if unknown := set(options.names) - set(PARTS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    counts: Counts = Counter()
    with folder(options.dir) as where, Brain() as brain, serving(brain, where) as bench:
        for name in options.names or PARTS:
            counts += PARTS[name](bench)
    passed = sum(many for (word, _), many in counts.items() if word == "PASS")
    failed = sum(counts.values()) - passed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


@contextmanager
def serving(brain: Brain, where: Path) -> Iterator[Bench]:
    """Our server with an empty data folder and the brain's models: `quick` answers at once, `slow` in a
    second or two, `drive` is who drives the agents."""
    with tempfile.TemporaryDirectory(prefix="bench-mcp-", ignore_cleanup_errors=True) as name:
        server = Server(Path(name, "home"), {"BENCHWARMERS_REQUIRE_KEYS": "1"})
        try:
            server.post("/api/endpoint", {"name": "brain", "base": brain.base, "key": "any", "test": False})
            for served in (*MODELS, HELD):
                model = {"alias": served, "endpoint": "brain", "served": served, "context": 200_000}
                server.post("/api/model/add", {**model, "tools": True})
            for collection, members in (
                ("quick", MODELS[:2]),
                ("slow", (MODELS[0], HELD)),
                ("drive", MODELS[:2]),
            ):
                server.collect(collection, list(members))
            key = server.post("/api/key/create", {"name": "agent"})["key"]
            yield Bench(f"http://127.0.0.1:{server.port}", key, where)
        finally:
            server.close()


# --- libraries


def python(script: str) -> Callable[[Bench], Counts]:
    def run(bench: Bench) -> Counts:
        home = bench.where / "python"
        interpreter = clients.interpreter(home)
        problem = "" if interpreter.exists() else clients.done(sys.executable, "-m", "venv", home)
        pip = [interpreter, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-compile"]
        problem = problem or clients.done(*pip, "-r", HERE / "requirements.txt")
        if problem:
            return fault("the Python client", f"did not install: {problem}")
        return listened([str(interpreter), str(HERE / script)], home, bench)

    return run


def node(bench: Bench) -> tuple[Path, str]:
    """(where Node's packages are, what went wrong)."""
    home = bench.where / "node"
    home.mkdir(exist_ok=True)
    shutil.copy(HERE / "package.json", home)
    npm = shutil.which("npm")
    there = (home / "node_modules" / "@modelcontextprotocol" / "inspector").exists()
    if npm is None:
        return home, "there is no npm; install Node 20 or later"
    return home, "" if there else clients.done(npm, *clients.NPM, "--prefix", home)


def typescript(bench: Bench) -> Counts:
    home, problem = node(bench)
    if problem:
        return fault("the TypeScript client", f"did not install: {problem}")
    shutil.copy(HERE / "talk.mjs", home)
    return listened(["node", str(home / "talk.mjs")], home, bench)


def listened(command: list[str], home: Path, bench: Bench) -> Counts:
    """A script's checks, shown as they come. One that ends badly and does not say why is a failure."""
    try:
        done = subprocess.run(
            command,
            env={**clients.environment(home), **bench.told},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return fault(Path(command[-1]).name, f"did not end in {PATIENCE:.0f} s")
    counts: Counts = Counter()
    for line in done.stdout.splitlines():
        if found := LINE.match(line):
            print(line, flush=True)
            counts[found[1], found[2]] += 1
    if done.returncode and not any(word == "FAIL" for word, _ in counts):
        return counts + fault(Path(command[-1]).name, f"ended with {done.returncode}: {done.stderr[-1500:]}")
    return counts


def inspector(bench: Bench) -> Counts:
    """The Inspector's command line: one call a process."""
    home, problem = node(bench)
    if problem:
        return fault("the Inspector", f"did not install: {problem}")
    program = home / "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js"
    version = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    name = f"inspector {version['@modelcontextprotocol/inspector']}"
    asks = ["--tool-name", "ask", "--tool-arg", "collection=quick", "--tool-arg", f"prompt={HELLO}"]
    record = ["--method", "resources/read", "--uri", "bench://collection/quick/record"]
    counts: Counts = Counter()
    for way, target in (
        (
            "HTTP",
            [f"{bench.url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {bench.key}"],
        ),
        ("stdio", ["-e", f"BENCHWARMERS_URL={bench.url}", "-e", f"BENCHWARMERS_KEY={bench.key}", *TWIN]),
    ):
        for what, words, wanted in (
            ("lists the tools", ["--method", "tools/list"], "pending_verdicts"),
            ("asks", ["--method", "tools/call", *asks], "the panel says hello"),
            ("lists the prompts", ["--method", "prompts/list"], "verify_claims"),
            ("reads a resource", record, '\\"models\\"'),
        ):
            said = heard(["node", str(program), "--cli", *target, *words], clients.environment(home))
            counts += judged(f"{name}: {way}: {what}", wanted in said, said)
    return counts


def heard(command: list[str], env: dict[str, str]) -> str:
    """All that a program said."""
    try:
        done = subprocess.run(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
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


# --- agents


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


def launched(name: str, prompt: str, root: Path, bench: Bench, *more: str) -> str:
    row = AGENTS[name]
    errand = Errand(root / "home", root / "work", bench.url, "", prompt)
    launch = [sys.executable, str(ROOT / "cli.py"), "--url", bench.url, "launch", row.launch]
    line = [*launch, "--collection", "drive", "--", *row.words(errand), *more]
    said = heard(line, environment(name, root, bench))
    runs.end_stragglers(root / "home")
    return said


def after(said: str, mark: str) -> str:
    """The call id behind a mark; nothing where there is none."""
    found = said.rpartition(mark)[2].split('"')[0].split("\\")[0].strip()
    return found if ".member" in found and said else ""


def why(bench: Bench, call: str) -> str:
    """What the server knows of a call, by its own stdio twin."""
    asked = {"name": "why", "arguments": {"call": call}}
    line = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    done = subprocess.run(
        TWIN,
        input=json.dumps(line) + "\n",
        env={
            **clients.environment(bench.where),
            "BENCHWARMERS_URL": bench.url,
            "BENCHWARMERS_KEY": bench.key,
        },
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    return done.stdout.replace('\\"', '"')


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


PARTS: dict[str, Callable[[Bench], Counts]] = {
    "schema": python("schema.py"),
    "python": python("talk.py"),
    "typescript": typescript,
    "inspector": inspector,
    "claude": agent("claude"),
    "codex": agent("codex"),
}


if __name__ == "__main__":
    sys.exit(main())
