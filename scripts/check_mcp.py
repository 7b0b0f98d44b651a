#!/usr/bin/env python3
"""Real MCP clients against a real server that wants keys: `python3 scripts/check_mcp.py`.

Needs Node 20 or later, npm and PyPI. What tests/clients/mcp/ pins (the official Python and TypeScript
clients, the Inspector) and what scripts/driven/ pins (Claude Code, Codex, opencode) is installed into a
folder that is removed again (--dir keeps one). Each lists, asks with progress, cancels where its user could,
and judges, over HTTP and stdio; `schema` holds every message against the protocol's own schema. The agents
get to know the bench by `bench mcp install` and are driven by a scripted model, offline, each in an empty
home. The last line is `N passed, N failed`.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import check_clients as clients
from scripts.bench.product import Server
from scripts.check_clients import LINE, Counts, fault, folder
from scripts.driven.brain import HELD, MODELS, Brain
from scripts.driven.mcp import HELLO, PATIENCE, TWIN, Bench, agent, heard, judged

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "tests" / "clients" / "mcp"


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


PARTS: dict[str, Callable[[Bench], Counts]] = {
    "schema": python("schema.py"),
    "python": python("talk.py"),
    "typescript": typescript,
    "inspector": inspector,
    "claude": agent("claude"),
    "codex": agent("codex"),
    "opencode": agent("opencode"),
}


if __name__ == "__main__":
    sys.exit(main())
