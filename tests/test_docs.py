"""What the documents tell people to type is typed here: each line in a shell, against a staged server.

A line that cannot be run is named in NOT_RUN with the reason; one that is neither run nor named fails the
test, and so does a reason that no line needs any more.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.provider import Provider, body
from tests.running import ROOT, Running, clean_environment

DOCUMENTS = ("README.md", "AGENTS.md", "docs/*.md", "examples/**/*.md", "plugin/*.md", "deploy/**/*.md")
FENCE = re.compile(r"^\s*(?:```|~~~)\s*(\w*)")
# By what a line in a block without a language begins, if it is a command.
FIRST = re.compile(
    r"(?:[A-Z_]+=\S+ )*(?:bench|benchwarmers|python3|curl|git|docker|fly|railway|npx?|pipx?|uvx|sudo|claude"
    r"|systemctl|caddy|local-model/\S+) "
)
SHELL = ("sh", "bash", "shell", "console")
HERE = "http://127.0.0.1:8122"

# How lines begin that cannot be run here -> why.
NOT_RUN = {
    r"(python3 serve\.py|bench serve|bench gateway|BENCH\S+=\S+ .*(serve|gateway))": "is the server itself",
    r"python3 (scripts/|-m tests)": "checks and measures the house itself: .ci/run runs what it has to",
    r"(\S+=\S* )*docker ": "wants a container engine; tests/clients/run_hosting.py takes the image's steps",
    r"(\S+=\S* )*(caddy|fly|railway|sudo) ": "wants a program or an account of the host's",
    r"bench launch (?!.*--print-env)": "starts an agent: tests/commands/test_launch.py plays one",
    r"claude ": "wants Claude Code",
    r"(python3 -m venv|local-model/)": "downloads a model",
    r"bench catalog refresh": "reads catalogs on the internet: tests/dashboard/test_catalog.py plays them",
    r".*…": "is a sketch",
}
# What answers with another code than 0 -> which, and why that is an answer.
CODES = {r"bench cost --reconcile": (0, 1)}  # 1: the invoice differs from the ledger

STAGED = {"app.py": "x = None\nif x == None: pass\n", "invoice.csv": "id,cost_usd\nreq-1,0.10\n"}


def documents() -> Iterator[Path]:
    for pattern in DOCUMENTS:
        yield from sorted(ROOT.glob(pattern))


def lines(path: Path) -> Iterator[str]:
    """The commands of a document: of fences that name a shell every line, of other blocks those that begin as
    commands do. What ends in a backslash goes on; what stands beside another command is one of its own."""
    fence, held = None, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        found = FENCE.match(line)
        if found:
            fence, held = (found[1] if fence is None else None), ""
            continue
        if fence is None and not line.startswith("    "):
            held = ""
            continue
        whole, held = f"{held} {line.strip()}".strip(), ""
        if whole.endswith("\\"):
            held = whole[:-1].strip()
        elif (fence in SHELL and whole and not whole.startswith("#")) or FIRST.match(whole):
            yield from re.split(r"\s{3,}(?=bench )", whole.removeprefix("$ "))


def commands() -> Iterator[tuple[str, str]]:
    """(document, command) of all that is to be run."""
    for path in documents():
        for line in lines(path):
            if not any(re.match(pattern, line) for pattern in NOT_RUN):
                yield path.relative_to(ROOT).as_posix(), line


class Lines(unittest.TestCase):
    def test_what_counts_as_a_command(self) -> None:
        text = "\n".join(
            (
                "prose with `bench ask`",
                "    bench a  # said",
                "    bench b      bench c",
                "    not a command",
                "```sh",
                "any thing \\",
                "  goes on",
                "# a comment",
                "```",
                "```",
                "curl x",
                "plain",
                "```",
                "    X=1 python3 y",
            )
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.md"
            path.write_text(text, encoding="utf-8")
            found = list(lines(path))
        self.assertEqual(
            found, ["bench a  # said", "bench b", "bench c", "any thing goes on", "curl x", "X=1 python3 y"]
        )

    def test_every_reason_is_needed(self) -> None:
        every = [line for path in documents() for line in lines(path)]
        for pattern in NOT_RUN:
            self.assertTrue(any(re.match(pattern, line) for line in every), f"no line needs {pattern!r}")

    def test_there_is_enough_to_run(self) -> None:
        self.assertGreaterEqual(len(list(commands())), 40)


class Shell:
    """A folder in which the commands of a document can be typed, and a server that they find."""

    def __init__(self, folder: Path, bench: Running, provider: Provider) -> None:
        self.folder, self.bench, self.provider = folder, bench, provider
        for name, text in STAGED.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "examples").symlink_to(ROOT / "examples")
        (folder / "cli.py").symlink_to(ROOT / "cli.py")
        for name in ("gateway-1", "gateway-2"):
            shutil.copytree(bench.home / "ledger", folder / name / "ledger", dirs_exist_ok=True)
        programs = folder / "bin"
        programs.mkdir()
        for name, words in (("bench", [str(ROOT / "cli.py")]), ("python3", [])):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, *words])} "$@"\n', "utf-8")
            program.chmod(0o700)
        self.environment = clean_environment(
            PATH=f"{programs}{os.pathsep}{os.environ['PATH']}",
            HOME=str(folder),
            BENCHWARMERS_HOME=str(folder / "mine"),
            BENCHWARMERS_URL=bench.url,
            **dict.fromkeys(("GROQ_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "sk-test-key"),
        )

    def run(self, line: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["sh", "-c", self.here(line)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            timeout=60,
        )

    def here(self, line: str) -> str:
        """The line with the addresses and the names of this stage."""
        line = line.replace(HERE, self.bench.url).replace("http://127.0.0.1:18101/v1", self.provider.base)
        line = re.sub(r"https://api\.anthropic\.com\S*", self.provider.base.removesuffix("/v1"), line)
        line = re.sub(r"https://api\.\S+", self.provider.base, line)
        return re.sub(r"\bCALL\b", self.call(), line) if "CALL" in line else line

    def call(self) -> str:
        panels = self.bench.get("/api/log?limit=1")[1]["panels"]
        return str(panels[0]["seats"][0]["call"])


class SlowCommands(unittest.TestCase):
    def test_every_command_works_in_its_order(self) -> None:
        ran = list(commands())
        for document in dict.fromkeys(name for name, _ in ran):
            asked = [line for name, line in ran if name == document]
            with Provider() as provider, Running() as bench, tempfile.TemporaryDirectory() as folder:
                self.stage(bench, provider)
                shell = Shell(Path(folder), bench, provider)
                for line in asked:
                    with self.subTest(document, line=line):
                        done = shell.run(line)
                        codes = next((code for start, code in CODES.items() if re.match(start, line)), (0,))
                        self.assertIn(done.returncode, codes, f"{done.stdout[-500:]}\n{done.stderr[-500:]}")

    def stage(self, bench: Running, provider: Provider) -> None:
        """What documents take for granted: some endpoints with a model each, and a panel that was asked."""
        listed = {"data": [{"id": "some-model", "object": "model"}], "object": "list"}
        provider.script("/v1/models", body(listed))
        for name in ("groq", "kimi"):
            bench.save("/api/endpoint", name=name, base=provider.base, key="sk-test-key", test=False)
            bench.save("/api/model/add", alias=f"{name}-model", endpoint=name, served="some-model")
        bench.save("/api/collection", name="review", members=["practice-lint"])
        bench.do("ask", "core", "x = None\nif x == None: pass")
        backup = bench.home.parent / "settled.zip"
        bench.do("backup", str(backup))  # after which all that was recorded is on disk


def curls() -> Iterator[tuple[str, list[str]]]:
    """Every curl of the documents: (document, its words)."""
    for name, line in commands():
        if line.startswith("curl "):
            yield name, shlex.split(line)


def request(words: list[str], url: str) -> urllib.request.Request:
    """The request that curl would make of `words`, at the server `url`."""
    address, headers, content = words[1], {}, None
    for flag, value in zip(words[2::2], words[3::2], strict=True):
        if flag == "-H":
            name, _, text = value.partition(":")
            headers[name] = text.strip()
        else:
            content = value.encode()
    return urllib.request.Request(address.replace(HERE, url), content, headers)


class CurlTest(unittest.TestCase):
    def test_every_curl_answers(self) -> None:
        asked = list(curls())
        self.assertGreaterEqual(len(asked), 7)
        with Running() as bench:
            for name, words in asked:
                asking = request(words, bench.url)
                with self.subTest(name, url=words[1]), urllib.request.urlopen(asking) as answer:
                    self.assertIn("practice-lint", json.dumps(json.loads(answer.read())))


if __name__ == "__main__":
    unittest.main()
