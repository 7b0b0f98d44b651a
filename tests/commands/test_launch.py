import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from metrics.commands import launch, starting
from metrics.commands.agents import AGENTS
from tests.commands.stage import Played, Reply, Stage, bench
from tests.provider import Provider, text
from tests.running import Running

LISTED = {
    "id": "bench/core:route",
    "collection": "core",
    "members": ["kimi", "gpt"],
    "together": {"context_window": 40_000, "capabilities": ["completion"]},
}
MODELS = {"ok": True, "models": [{"alias": "kimi", "tools": True, "vision": True}, {"alias": "gpt"}]}
THERE = {
    "GET /v1/models/bench/core:route": LISTED,
    "GET /v1/models": {"data": [{"collection": "core"}, {"collection": "core"}]},
    "GET /api/models": MODELS,
}
NOTHING = {"turns": 0, "calls": 0, "failovers": 0, "tokens": {}, "cost": {}, "models": []}

# An agent that asks once, as Claude Code would, says how it was called and goes with 7.
ASKS = """\
import json, os, sys, urllib.request
env = os.environ
body = {"model": env["ANTHROPIC_MODEL"], "max_tokens": 50, "messages": [{"role": "user", "content": "hello"}]}
headers = {"Authorization": "Bearer " + env["ANTHROPIC_AUTH_TOKEN"], "anthropic-version": "2023-06-01"}
asked = urllib.request.Request(env["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
said = json.load(opener.open(asked))["content"][0]["text"]
seen = {"said": said, "words": sys.argv[1:], "key": env.get("ANTHROPIC_API_KEY"), "model": body["model"]}
seen["file"] = os.path.exists(sys.argv[2])
with open(env["SEEN"], "w", encoding="utf-8") as file:
    json.dump(seen, file)
sys.exit(7)
"""


def install(folder: str, name: str, code: str) -> None:
    path = Path(folder, name)
    path.write_text(f"#!{sys.executable}\n{code}", encoding="utf-8")
    path.chmod(0o755)


@unittest.skipIf(os.name == "nt", "the stand-in for an agent is a script")
class Launching(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.env = {"PATH": self.folder, "SEEN": os.path.join(self.folder, "seen.json")}

    def test_an_agent_is_driven_and_what_it_used_is_told(self) -> None:
        install(self.folder, "claude", ASKS)
        with Provider() as provider, Running() as running:
            provider.script("kimi", text("seven herons"))
            running.save("/api/endpoint", name="fake", base=provider.base, key="sk-test-key", test=False)
            running.save("/api/model/add", alias="kimi", endpoint="fake", served="kimi", tools=True)
            running.save("/api/collection", name="core", members=["kimi"], explorers=0)
            env = {**self.env, "BENCHWARMERS_URL": running.url, "ANTHROPIC_API_KEY": "sk-ant-mine"}
            played = bench("launch", "claude", "--", "-p", "two words", "--", "--json", env=env)
            self.assertEqual((played.code, played.out), (7, ""))
            seen = json.loads(Path(self.env["SEEN"]).read_text(encoding="utf-8"))
            self.assertEqual(seen["words"][2:], ["-p", "two words", "--", "--json"])
            wanted = ("seven herons", None, "bench/core:route", True)
            self.assertEqual((seen["said"], seen["key"], seen["model"], seen["file"]), wanted)
            self.assertFalse(os.path.exists(seen["words"][1]), "its folder goes with it")
            for words in ("turns   1 (1 call, 0 failovers)", "in 11, out 7", "cost    unknown", "kimi 1"):
                self.assertIn(words, played.err)
            call = played.err.partition("bench verdict ")[2].split()[0]
            self.assertEqual(running.cli("verdict", call, "--useful").returncode, 0)
            as_json = bench("--json", "launch", "claude", env=env)
            used = json.loads(as_json.err.splitlines()[-1])
            self.assertEqual((as_json.code, as_json.out, used["calls"]), (7, "", 1))
            self.assertEqual(used["cost"], {"known_usd": None, "unknown_calls": 1})

    def test_what_stands_in_the_way_is_said_before_anything_starts(self) -> None:
        install(self.folder, "codex", "raise SystemExit(9)")
        missing = {**THERE}
        del missing["GET /v1/models/bench/core:route"]
        cases: tuple[tuple[tuple[str, ...], dict[str, Any], int, str], ...] = (
            (("claud",), THERE, 2, "did you mean claude?"),
            (("claude",), THERE, 1, "npm install -g @anthropic-ai/claude-code"),
            (("codex", "--collection", "core:merged"), THERE, 2, "cannot drive an agent"),
            (("codex",), missing, 1, "there is no collection core"),
            (("codex", "--collection", "cor"), THERE, 1, "did you mean core?"),
            ((), THERE, 2, "AGENT is missing"),
            (("codex", "-p"), THERE, 2, "launch has no option -p"),
            (("codex", "--check", "--print-env"), THERE, 2, "not allowed with"),
        )
        for words, replies, code, said in cases:
            with self.subTest(" ".join(words)), Stage(replies) as stage:
                played = stage.bench("launch", *words, env=self.env)
                self.assertEqual((played.code, played.out), (code, ""))
                self.assertIn(said, played.err)

    def test_a_server_that_was_named_is_never_started(self) -> None:
        install(self.folder, "codex", "raise SystemExit(9)")
        with mock.patch.object(starting, "start", side_effect=AssertionError("started")):
            for words in (("--url", "http://127.0.0.1:9"), ("--url", "http://127.0.0.1:9", "--json")):
                played = bench("launch", "codex", *words, env=self.env)
                self.assertEqual(played.code, 3)
            env = {**self.env, "BENCHWARMERS_URL": "http://127.0.0.1:9"}
            self.assertEqual(bench("launch", "codex", env=env).code, 3)

    def test_one_that_nobody_named_is_started_and_that_is_said(self) -> None:
        install(self.folder, "aider", "raise SystemExit(0)")
        with Stage({**THERE, "GET /bench/launch": NOTHING}) as stage, at(stage):
            with mock.patch.object(starting, "listens", return_value=False):
                with mock.patch.object(starting, "start", return_value=4321) as started:
                    played = bench("launch", "aider", env=self.env)
        self.assertEqual((played.code, started.call_count), (0, 1))
        self.assertIn(f"started a server at {stage.url} (process 4321); it stays", played.err)
        self.assertIn("this launch asked the server nothing", played.err)

    def test_nobody_who_calls_tools_is_a_warning(self) -> None:
        dumb = {**THERE, "GET /bench/launch": NOTHING, "GET /api/models": {"ok": True, "models": []}}
        for name, warned in (("codex", True), ("aider", False)):
            install(self.folder, name, "raise SystemExit(0)")
            with self.subTest(name), Stage(dumb) as stage:
                played = stage.bench("launch", name, "-q", env=self.env)
                self.assertEqual(
                    (played.code, "calls tools" in played.err or "call tools" in played.err), (0, warned)
                )

    def test_ones_own_key_is_used_and_the_token_beside_it(self) -> None:
        for name in AGENTS:
            env = {**self.env, "BENCHWARMERS_KEY": "bwk_mine"}
            with self.subTest(name), Stage(THERE) as stage:
                shown = stage.bench("launch", name, "--print-env", "--json", env=env).document
                told = json.dumps(shown)
                self.assertIn("bwk_mine", told)
                self.assertEqual(shown["launch"] in told.replace(shown["launch"], "", 1), AGENTS[name].tells)


def at(stage: Stage) -> Any:
    """A line that names no server means this one."""
    return mock.patch("metrics.commands.server.HERE", stage.url)


class Checking(unittest.TestCase):
    def check(self, name: str, replies: dict[str, Any], installed: bool = True) -> Played:
        where = mock.patch.object(launch.shutil, "which", return_value=f"/bin/{name}" if installed else None)
        with where, Stage(replies) as stage:
            return stage.bench("launch", name, "--check", "--json")

    def test_each_need_and_what_to_do(self) -> None:
        nobody = {**THERE, "GET /api/models": {"ok": True, "models": []}}
        closed = {
            **THERE,
            "GET /api/models": Reply({"ok": False, "error": {"kind": "auth", "message": "no"}}, 401),
        }
        able = {**LISTED, "together": {"context_window": None, "capabilities": ["completion", "tools"]}}
        gone = {"GET /v1/models": {"data": []}}
        cases: tuple[tuple[str, dict[str, Any], bool, list[bool], str], ...] = (
            ("claude", THERE, True, [True] * 4, "members that call tools: kimi"),
            ("claude", THERE, False, [False, True, True, True], "npm install -g"),
            ("codex", nobody, True, [True, True, True, False], "--tools yes"),
            ("aider", nobody, True, [True] * 3, "aider is installed"),
            ("codex", gone, True, [True, True, False], "there is no collection core"),
            ("codex", closed, True, [True, True, True, False], "known to call tools"),
            (
                "codex",
                {**closed, "GET /v1/models/bench/core:route": able},
                True,
                [True] * 4,
                "call tools: kimi, gpt",
            ),
        )
        for name, replies, installed, wanted, said in cases:
            with self.subTest(f"{name}: {said}"):
                played = self.check(name, replies, installed)
                document = played.document
                self.assertEqual([row["ok"] for row in document["checks"]], wanted)
                self.assertEqual((document["ok"], played.code), (all(wanted), 0 if all(wanted) else 1))
                self.assertIn(said, json.dumps(document))
                for row in document["checks"]:
                    self.assertEqual(bool(row["do"]), not row["ok"])

    def test_without_a_server(self) -> None:
        with mock.patch.object(launch.shutil, "which", return_value="/bin/pi"):
            named = bench("launch", "pi", "--check", "--json", "--url", "http://127.0.0.1:9").document
            with mock.patch("metrics.commands.server.HERE", "http://127.0.0.1:9"):
                free = bench("launch", "pi", "--check", env={}).out
        self.assertEqual([row["ok"] for row in named["checks"]], [True, False])
        self.assertIn("bench serve --port 9", named["checks"][1]["do"])
        self.assertIn("ok   no server answers at http://127.0.0.1:9 yet: launch starts one", free)

    def test_in_words(self) -> None:
        with mock.patch.object(launch.shutil, "which", return_value=None), Stage(THERE) as stage:
            out = stage.bench("launch", "pi", "--check").out
        self.assertIn("NOT  pi is not installed: there is no pi on the PATH\n     install it: npm", out)
        self.assertIn("ok   the collection core is there\n", out)


class Printing(unittest.TestCase):
    def test_the_document(self) -> None:
        with Stage(THERE) as stage:
            shown = stage.bench("launch", "pi", "--print-env", "--json", "--", "-p", "x").document
        self.assertEqual((shown["agent"], shown["model"]), ("pi", "bench/core:route"))
        self.assertEqual((shown["server"], shown["command"][-2:]), (stage.url, ["-p", "x"]))
        self.assertEqual(shown["env"], {"BENCH_LAUNCH_KEY": shown["launch"]})
        (file,) = shown["files"]
        self.assertIn(file, shown["command"])
        self.assertFalse(os.path.exists(file), "nothing is written")
        self.assertIn('"contextWindow": 40000', shown["files"][file])

    def test_no_server_is_needed(self) -> None:
        with mock.patch.object(starting, "start", side_effect=AssertionError("started")):
            for name in AGENTS:
                with self.subTest(name):
                    played = bench("launch", name, "--print-env", "--url", "http://127.0.0.1:9")
                    self.assertEqual((played.code, played.err), (0, ""))
                    self.assertIn("http://127.0.0.1:9", played.out)


class Around(unittest.TestCase):
    def test_a_proxy_is_not_asked_for_this_computer(self) -> None:
        cases: tuple[tuple[dict[str, str], str | None], ...] = (
            ({}, None),
            ({"NO_PROXY": "x"}, None),
            ({"https_proxy": "http://p"}, "127.0.0.1,localhost,::1"),
            ({"HTTP_PROXY": "http://p", "no_proxy": "x.y"}, "x.y,127.0.0.1,localhost,::1"),
        )
        for env, wanted in cases:
            with self.subTest(env):
                self.assertEqual(launch.unproxied(env).get("NO_PROXY"), wanted)

    def test_a_collections_name(self) -> None:
        for name in ("core", "bench/core", "bench/core:route", "core:route"):
            with self.subTest(name):
                self.assertEqual(launch.plain(name), "core")


if __name__ == "__main__":
    unittest.main()
