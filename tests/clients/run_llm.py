#!/usr/bin/env python3
"""The `llm` command, called in this process, against a real server: prompt, stream, tool, schema, picture.

pip install llm && python tests/clients/run_llm.py
"""

import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from click.testing import CliRunner, Result
from llm.cli import cli

from tests.clients.checks import Checks, equal, holds
from tests.clients.scripted import CITY, FOUND, PNG, READ_IT, SEEN, seat_all
from tests.provider import Provider
from tests.running import Running

MODELS = (
    "bench/pair",
    "core",
    "c-plain:route",
    "bench/agents",
    "c-filling:route",
    "c-seeing:route",
    "c-cut:route",
)
MODEL = """\
- model_id: {name}
  model_name: {name}
  api_base: {base}
  api_key_name: bench
  supports_tools: true
  supports_schema: true
  vision: true
"""
TOOL = f"""\
def read_file(path: str) -> str:
    "Read a file."
    return "{FOUND}"
"""


def main() -> int:
    with Provider() as provider, Running() as bench, tempfile.TemporaryDirectory() as folder:
        seat_all(bench, provider)
        home = Path(folder)
        models = "".join(MODEL.format(name=name, base=f"{bench.url}/v1") for name in (*MODELS, "bench/typo"))
        (home / "extra-openai-models.yaml").write_text(models, encoding="utf-8")
        (home / "keys.json").write_text('{"bench": "unused"}', encoding="utf-8")
        (home / "tool.py").write_text(TOOL, encoding="utf-8")
        (home / "dot.png").write_bytes(PNG)
        return checks(home)


def checks(home: Path) -> int:
    check = Checks(f"llm {version('llm')}")

    environment = {"LLM_USER_PATH": str(home), "HOME": str(home)}

    def run(model: str, *words: str) -> Result:
        command = ["prompt", "-m", model, *words]
        return CliRunner().invoke(cli, command, env=environment, input="")

    def said(model: str, *words: str) -> str:
        done = run(model, *words)
        equal((done.exit_code, done.stderr), (0, ""))
        return done.stdout

    for model, wanted in (
        ("bench/pair", "### m2"),
        ("core", "practice-lint"),
        ("c-plain:route", "first answer"),
    ):
        for how, option in (("whole", ["--no-stream"]), ("streamed", [])):

            @check(f"asks {model}, {how}")
            def _(model: str = model, wanted: str = wanted, option: list[str] = option) -> None:
                holds(said(model, *option, "-s", "Be brief.", "hello"), wanted)

    @check("plays a tool loop")
    def _() -> None:
        holds(said("bench/agents", "--functions", str(home / "tool.py"), READ_IT), FOUND)

    @check("fills a schema")
    def _() -> None:
        equal(
            json.loads(said("c-filling:route", "--schema", json.dumps(CITY), "Fill it in")), {"city": "Paris"}
        )

    @check("passes a picture on")
    def _() -> None:
        holds(said("c-seeing:route", "What is it?", "-a", str(home / "dot.png")), SEEN)

    for model, wanted in (("bench/typo", "core"), ("c-cut:route", "broke off")):

        @check(f"tells the error of {model}")
        def _(model: str = model, wanted: str = wanted) -> None:
            done = run(model, "hello")
            equal(done.exit_code, 1)
            holds(done.stderr, wanted)

    return check.end()


if __name__ == "__main__":
    sys.exit(main())
