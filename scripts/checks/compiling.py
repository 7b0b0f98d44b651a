"""Every Python file compiles under the Python that runs this, without a warning; every script of the page
parses.

The page's part takes Node, which the product does not need: without it that check is left out.
"""

import json
import shutil
import subprocess
import warnings

from scripts.checks.tree import Check, Module, Tree

# Reads {path: text} and prints {path: problem}; parses as the browser does, as modules, and runs nothing.
PARSE = """
const { SourceTextModule } = require("node:vm");
const files = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const wrong = {};
for (const [path, text] of Object.entries(files)) {
  try { new SourceTextModule(text, { identifier: path }); }
  catch (error) { wrong[path] = `${path}: ${error.message}`; }
}
console.log(JSON.stringify(wrong));
"""


def checks(tree: Tree, node: str | None = None) -> list[Check]:
    problems = tuple(problem for module in tree.modules.values() if (problem := _problem(module)))
    python = Check("every Python file compiles", problems)
    node = node or shutil.which("node")
    return [python, Check("every script of the page parses", _unparsed(tree, node))] if node else [python]


def _problem(module: Module) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(module.raw, module.path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, Warning) as error:
            return f"{module.path}:{getattr(error, 'lineno', None) or 1} {error}"
    return None


def _unparsed(tree: Tree, node: str) -> tuple[str, ...]:
    scripts = {path: file.text for path, file in tree.files.items() if path.endswith((".js", ".mjs"))}
    if not scripts:
        return ()
    line = [node, "--no-warnings", "--experimental-vm-modules", "-e", PARSE]
    done = subprocess.run(line, input=json.dumps(scripts), capture_output=True, encoding="utf-8", timeout=60)
    try:
        return tuple(json.loads(done.stdout).values())
    except ValueError:
        return (f"{node} could not parse anything: {done.stderr.strip()[:500]}",)
