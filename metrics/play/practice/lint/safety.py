"""Text from outside that is run: by a shell, by Python, by a database, by a loader that makes objects."""

import ast
import re
from collections.abc import Iterator

from metrics.play.practice.lint.finding import Hit
from metrics.play.practice.lint.tree import Module, brief, dotted, last_name, parameters, spelled

SHELLS = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
RUNS = {"run", "call", "check_call", "check_output", "Popen"}
UNPICKLES = {"pickle.loads", "pickle.load", "marshal.loads", "dill.loads"}
SQL = re.compile(
    r"\s*(?:select\b.*\bfrom|insert\s+into|update\b.*\bset|delete\s+from|drop\s+table|replace\s+into)\b",
    re.I | re.S,
)
OUTSIDE = re.compile(
    r"\b(?:input\(|sys\.argv|stdin|request\b|environ|getenv|recv\()|\.(?:read\(|text\b|body\b|content\b|form\b)"
)
ARRIVED = re.compile(r"\brecv|request|response|socket|\.content\b|\.body\b|payload|urlopen|cookie", re.I)


def shell_text(module: Module) -> Iterator[Hit]:
    for call in module.of(ast.Call):
        name = module.origin(call.func)
        by_shell = name in SHELLS or (
            name.startswith("subprocess.")
            and last_name(call.func) in RUNS
            and any(_is_true(word, "shell") for word in call.keywords)
        )
        text = _made(module, call, call.args[0]) if by_shell and call.args else None
        if text is not None and "quote(" not in spelled(text):
            said = (
                f"a shell runs `{brief(text, 35)}`, so whoever chooses its parts can run commands of"
                " their own."
            )
            yield Hit(call.lineno, said, "Pass a list of arguments without `shell=True`.")


def _is_true(word: ast.keyword, name: str) -> bool:
    return word.arg == name and isinstance(word.value, ast.Constant) and word.value.value is True


def _made(module: Module, call: ast.AST, node: ast.expr) -> ast.expr | None:
    """The expression that builds a text from parts which are not constant, followed through one name;
    None if there is none."""
    if isinstance(node, ast.Name):
        givers = module.givers(call, node.id)
        values = [giver.value for giver in givers if isinstance(giver, ast.Assign)]
        return next(filter(_is_built, values), None) if len(values) == len(givers) else None
    return node if _is_built(node) else None


def _is_built(node: ast.expr) -> bool:
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.FormattedValue) and not _is_fixed(part.value) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return (
            isinstance(node.left, ast.Constant)
            and isinstance(node.left.value, str)
            and not _is_fixed(node.right)
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = (node.left, node.right)
        return (
            any(_is_text(side) for side in sides)
            and any(not _is_fixed(side) and not _is_text(side) for side in sides)
            or any(_is_built(side) for side in sides)
        )
    if (
        isinstance(node, ast.Call)
        and last_name(node.func) == "format"
        and isinstance(node.func, ast.Attribute)
    ):
        given = [*node.args, *(word.value for word in node.keywords)]
        return isinstance(node.func.value, ast.Constant) and any(not _is_fixed(arg) for arg in given)
    return False


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_fixed(node: ast.expr) -> bool:
    """Constants, also by their customary names in capitals, and counts of placeholders such as
    `",".join("?" * n)`."""
    if isinstance(node, ast.Tuple):
        return all(_is_fixed(item) for item in node.elts)
    if isinstance(node, ast.Call):
        return last_name(node.func) in ("join", "len", "int", "quote", "Identifier") or dotted(node.func) in (
            "int",
            "len",
        )
    return isinstance(node, ast.Constant) or last_name(node).isupper() or dotted(node) == "sys.executable"


def sql_text(module: Module) -> Iterator[Hit]:
    for call in module.of(ast.Call):
        if last_name(call.func) not in ("execute", "executemany", "executescript") or not call.args:
            continue
        text = _made(module, call, call.args[0])
        if text is not None and SQL.match(spelled(text).lstrip("frb'\"(\n \\")):
            said = f"the query is built from text (`{brief(text, 35)}`), so a value can change what it does."
            yield Hit(call.lineno, said, "Leave placeholders in the query and pass the values beside it.")


def eval_input(module: Module) -> Iterator[Hit]:
    for call in module.of(ast.Call):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name not in ("eval", "exec") or not call.args or name in module.bound:
            continue
        source = _outside(module, call, call.args[0])
        if source and not (name == "exec" and "compile(" in spelled(call.args[0])):
            said = f"`{name}` runs whatever {source} says, with all that this program may do."
            fix = (
                "Use `ast.literal_eval` for values"
                if name == "eval"
                else "Call functions from a table of allowed names"
            )
            yield Hit(call.lineno, said, fix + ", and never run text from outside.")


def _outside(module: Module, call: ast.Call, node: ast.expr) -> str:
    """Where the text comes from, if from outside: an expression that reads input, or an argument of the
    function."""
    if OUTSIDE.search(spelled(node)):
        return f"`{brief(node, 30)}`"
    if not isinstance(node, ast.Name):
        return ""
    function = module.function(call)
    if function and node.id in {arg.arg for arg in parameters(function)}:
        return f"the argument `{node.id}`"
    values = [giver.value for giver in module.givers(call, node.id) if isinstance(giver, ast.Assign)]
    return f"`{node.id}`" if any(OUTSIDE.search(spelled(value)) for value in values) else ""


def unsafe_load(module: Module) -> Iterator[Hit]:
    for call in module.of(ast.Call):
        name = module.origin(call.func)
        if name in ("yaml.load", "yaml.load_all"):
            loaders = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "Loader")]
            if not loaders or last_name(loaders[0]) in ("Loader", "UnsafeLoader", "FullLoader", "CLoader"):
                said = (
                    f"`{brief(call.func)}` with this loader can build any Python object the document"
                    " asks for."
                )
                yield Hit(call.lineno, said, "Use `yaml.safe_load`.")
        elif name in ("yaml.unsafe_load", "yaml.full_load"):
            yield Hit(
                call.lineno,
                f"`{name}` builds any Python object the document asks for.",
                "Use `yaml.safe_load`.",
            )
        elif name in UNPICKLES and call.args and ARRIVED.search(spelled(call.args[0])):
            said = f"`{name}` of what came over the network runs code that its sender chose."
            yield Hit(call.lineno, said, "Exchange JSON, or verify a signature first.")
