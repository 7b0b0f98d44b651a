"""The main job as a user does it on a fresh machine: ask the practice squad about a file, judge it, look it
up."""

import json
import re
import shlex
import subprocess
import sys
import unittest

from tests.running import ROOT, Running, clean_environment

FILE = str(ROOT / "examples" / "pricing.py")


ADDED = """
endpoint add own --base {base} --api chat --profile api.groq.com --key-stdin
model add mm --endpoint own --served bench/core --tools yes --vision no --context 200000 \
--max-output 8192 --price in=1,out=2,cache_read=0.5,cache_write=1.5
collection save cc --members mm,practice-lint --explorers 0 --reply all --merger mm --shape review \
--deadline 60 --description "two of them" --tags a,b
collection save cc --remove practice-lint --add practice-terse
"""

CHANGED = """
model rename mm nn
model role nn code
model retire nn --reason test
model restore nn
endpoint key own --key-stdin
endpoint default own
endpoint test own
collection rm cc
endpoint rm own --with-models
"""


class SlowJourneyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = cls.enterClassContext(Running())
        source = (ROOT / "examples" / "pricing.py").read_text(encoding="utf-8").splitlines()
        cls.line = next(
            number for number, text in enumerate(source, start=1) if re.search(r"def .*=\[\]", text)
        )

    def test_ask_judge_and_look_it_up(self):
        asked = self.bench.run("ask", "core", "What is wrong here?", "-f", FILE)
        self.assertEqual(asked.returncode, 0, asked.stderr)
        named = set(re.findall(r"^## (practice-\w+) ", asked.stdout, re.MULTILINE))
        self.assertGreaterEqual(len(named), 3)
        self.assertIn(f"pricing.py:{self.line}", asked.stdout)
        self.assertIn("program", asked.stdout, "a program is never passed off as a model")
        call = re.search(r"p\d{8}-\d{6}-[0-9a-f]{8}\.member1", asked.stderr)[0]
        self.assertEqual(self.bench.cli("verdict", call, "--useful", "--note", "found it").returncode, 0)
        log = self.bench.do("log", "--json")
        seats = [seat for panel in json.loads(log)["panels"] for seat in panel["seats"]]
        judged = next(seat for seat in seats if seat["call"] == call)
        self.assertIs(judged["verdict"]["useful"], True)

    def test_a_pipe_is_the_prompt(self):
        asked = self.bench.run("ask", "core", stdin="def f(x=[]):\n    return x\n")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertIn("mutable default", asked.stdout)

    def test_json_is_one_document_and_a_stream_is_lines(self):
        whole = json.loads(self.bench.do("ask", "core", "x == None", "--json"))
        self.assertEqual(len(whole["bench"]["seats"]), 4)
        lines = [
            json.loads(line)
            for line in self.bench.do("ask", "core", "x == None", "--json", "--stream").splitlines()
        ]
        self.assertEqual((lines[0]["event"], lines[-1]["event"]), ("panel.started", "panel.done"))

    def test_the_exact_forms_that_scripts_rely_on(self):
        base = f"http://127.0.0.1:{self.bench.port}/v1"
        for line in ADDED.strip().splitlines():
            self.bench.do(*shlex.split(line.format(base=base)), stdin="sk-x")
        saved = json.loads(self.bench.do("collection", "show", "cc", "--json"))
        self.assertIn("practice-terse", json.dumps(saved))
        model = next(m for m in json.loads(self.bench.do("models", "--json"))["models"] if m["alias"] == "mm")
        facts = {name: model[name] for name in ("tools", "vision", "context", "max_output", "price")}
        price = {"input": 1, "output": 2, "cache_read": 0.5, "cache_write": 1.5}
        wanted = {"tools": True, "vision": False, "context": 200000, "max_output": 8192, "price": price}
        self.assertEqual(facts, wanted)
        self.assertNotIn("sk-x", self.bench.do("endpoints", "--json"))
        for line in CHANGED.strip().splitlines():
            self.bench.do(*shlex.split(line), stdin="sk-y")

    def test_the_whole_bench_through_its_own_gateway(self):
        """A bench is an OpenAI-compatible endpoint too, and can sit on another, or by mistake on itself: here
        the model that leads to `core` is drawn as an explorer of `core`, which must end."""
        base = f"http://127.0.0.1:{self.bench.port}/v1"
        self.bench.do("endpoint", "add", "inner", "--base", base, "--key-stdin")
        self.bench.do("model", "add", "inner-core", "--endpoint", "inner", "--served", "bench/core:all")
        self.bench.do("collection", "save", "outer", "--members", "inner-core", "--explorers", "0")
        status, reply = self.bench.post(
            "/v1/chat/completions",
            {"model": "outer", "messages": [{"role": "user", "content": "if x == None: pass"}]},
        )
        self.assertEqual(status, 200, reply)
        self.assertIn("practice-lint", reply["choices"][0]["message"]["content"])

    def test_no_server_says_how_to_start_one(self):
        done = subprocess.run(
            [sys.executable, str(ROOT / "cli.py"), "--url", "http://127.0.0.1:9", "ask", "core", "x"],
            capture_output=True,
            text=True,
            timeout=60,
            env=clean_environment(),
        )
        self.assertEqual(done.returncode, 3)
        self.assertIn("serve", done.stderr)
