"""practice-paranoid: wide nets over every suspicious line, false alarms included, so that there is
something to judge.

A net is a row: a kind, how much it weighs, and a function from one node to what is wrong with it ("" when
nothing is).
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from metrics.play.practice.lint.finding import Finding
from metrics.play.practice.lint.tree import BUDGET, FUNCTIONS, Module, brief, dotted, last_name
from metrics.play.practice.parsing import Source, Unreadable

MOST = 25
NETWORK = {
    "get",
    "post",
    "put",
    "delete",
    "patch",
    "head",
    "request",
    "urlopen",
    "create_connection",
    "HTTPConnection",
    "HTTPSConnection",
}
CLIENTS = {"requests", "httpx", "urllib", "session", "client", "socket", "http", "aiohttp"}
PARALLEL = {
    "Thread",
    "Process",
    "ThreadPoolExecutor",
    "ProcessPoolExecutor",
    "create_task",
    "gather",
    "start_new_thread",
    "fork",
}
READS = {"open", "read_text", "write_text", "read_bytes", "write_bytes", "TextIOWrapper"}
HAZARDS = {"unlink", "rmtree", "rmdir", "chmod", "system", "popen", "kill", "_exit"}
FORMATS = {"strptime", "loads", "fromisoformat", "unpack", "literal_eval", "decode"}
ORDINARY = {-1, 0, 1, 2, 10, 100, 1000, 1024}
WORDS = re.compile(r"#.*\b(TODO|FIXME|XXX|HACK|BUG|WORKAROUND|temporary|for now)\b", re.IGNORECASE)
MONEY = re.compile(r"price|cost|total|amount|tax|money|balance|percent", re.IGNORECASE)
SECRET = re.compile(r"pass(?:word|wd)|secret|token|api_?key|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Net:
    """A wide net: `look` says what is suspicious about a node of one of `types`, "" for nothing."""

    kind: str
    weight: int
    types: tuple[type[ast.AST], ...]
    look: Callable[[Module, ast.AST], str]
    fix: str


def default(module: Module, node: ast.AST) -> str:
    values = [*getattr(node, "defaults", []), *getattr(node, "kw_defaults", [])]
    mutable = [value for value in values if isinstance(value, (ast.List, ast.Dict, ast.Set, ast.Call))]
    return (
        f"the default `{brief(mutable[0], 20)}` is evaluated once, when the function is defined."
        if mutable
        else ""
    )


def broad(module: Module, node: ast.AST) -> str:
    caught = getattr(node, "type", None)
    if caught is None:
        return "this catches everything."
    return (
        f"`{dotted(caught)}` may hide mistakes." if dotted(caught) in ("Exception", "BaseException") else ""
    )


def dynamic(module: Module, node: ast.AST) -> str:
    name = dotted(getattr(node, "func", node))
    return (
        f"`{name}` runs or reaches what a reader cannot see."
        if name in ("eval", "exec", "compile", "getattr", "setattr", "__import__")
        else ""
    )


def network(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.Call)
    if last_name(node.func) not in NETWORK or any(word.arg == "timeout" for word in node.keywords):
        return ""
    first = module.origin(node.func).partition(".")[0].lower()
    known = first in CLIENTS or last_name(node.func) in ("urlopen", "create_connection")
    return f"`{brief(node.func)}` has no timeout and may wait forever." if known else ""


def division(module: Module, node: ast.AST) -> str:
    assert isinstance(node, (ast.BinOp, ast.AugAssign))
    right = node.right if isinstance(node, ast.BinOp) else node.value
    if not isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)) or isinstance(
        right, ast.Constant | ast.Tuple
    ):
        return ""
    if (
        isinstance(node.op, ast.Mod)
        and isinstance(node, ast.BinOp)
        and isinstance(node.left, (ast.Constant, ast.JoinedStr))
    ):
        return ""
    return (
        f"`{brief(right, 25)}` may be zero." if not (isinstance(node.op, ast.Div) and _is_path(right)) else ""
    )


def _is_path(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or "path" in brief(node).lower()


def subscript(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.Subscript)
    if not isinstance(node.ctx, ast.Load) or isinstance(node.slice, ast.Slice) or _is_a_type(module, node):
        return ""
    key = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    return f"`{brief(node)}` raises {'KeyError' if key else 'IndexError or KeyError'} when that is not there."


def _is_a_type(module: Module, node: ast.Subscript) -> bool:
    """Whether the brackets belong to an annotation or to a type such as `List[int]`."""
    child: ast.AST = node
    for parent in module.above(node):
        if isinstance(parent, (ast.AnnAssign, ast.arg)) or (
            isinstance(parent, FUNCTIONS) and parent.returns is child
        ):
            return True
        child = parent
    return last_name(node.value)[:1].isupper() and not last_name(node.value).isupper()


def conversion(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.Call)
    name = dotted(node.func)
    if name in ("int", "float", "Decimal") and node.args and not isinstance(node.args[0], ast.Constant):
        return f"`{brief(node)}` raises ValueError for text that is no number."
    return f"`{brief(node.func)}` raises on malformed input." if last_name(node.func) in FORMATS else ""


def files(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.Call)
    name = last_name(node.func)
    if dotted(node.func) == "os.remove" or (name in HAZARDS and isinstance(node.func, ast.Attribute)):
        return f"`{brief(node)}` cannot be undone."
    binary = any(
        isinstance(arg, ast.Constant) and isinstance(arg.value, str) and "b" in arg.value
        for arg in node.args[1:2]
    )
    if (
        name in READS
        and not binary
        and not name.endswith("bytes")
        and not any(word.arg == "encoding" for word in node.keywords)
    ):
        return f"`{brief(node)}` fails when the file is missing, and its encoding is the computer's own."
    return ""


def parallel(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.Call)
    return (
        f"`{brief(node.func)}`: what it shares may be changed from two places at once."
        if last_name(node.func) in PARALLEL
        else ""
    )


def shared_global(module: Module, node: ast.AST) -> str:
    if isinstance(node, ast.Global):
        return f"`global {', '.join(node.names)}` is state that every caller shares."
    assert isinstance(node, ast.Assign)
    at_top = module.parents[node] is module.tree
    mutable = isinstance(node.value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp))
    return (
        f"`{brief(node.targets[0], 25)}` is one mutable object for the whole program."
        if at_top and mutable
        else ""
    )


def secret(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.Assign)
    text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) and node.value.value
    return "this looks like a secret in the source." if text and SECRET.search(brief(node.targets[0])) else ""


def equality(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.Compare)
    sides = [node.left, *node.comparators]
    if isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        if any(isinstance(side, ast.Constant) and isinstance(side.value, float) for side in sides):
            return "floats are seldom exactly equal."
        if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
            return "`==` and `!=` need not ask for None itself."
    return ""


def checked(module: Module, node: ast.AST) -> str:
    return "`python -O` drops asserts: this checks nothing in production."


def magic(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.Constant)
    number = (
        isinstance(node.value, (int, float))
        and not isinstance(node.value, bool)
        and node.value not in ORDINARY
    )
    named = isinstance(module.parents[node], (ast.Assign, ast.AnnAssign, ast.keyword, ast.arguments))
    return f"what is `{node.value!r:.20}`?" if number and not named else ""


def endless(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.While)
    return f"`while {brief(node.test, 30)}` may run forever."


def money(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.BinOp)
    if not isinstance(node.op, (ast.Mult, ast.Div)) or isinstance(module.parents[node], ast.BinOp):
        return ""
    return f"`{brief(node)}`: amounts of money in floats lose cents." if MONEY.search(brief(node, 60)) else ""


def clock(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.Call)
    name = module.origin(node.func)
    zoneless = name.endswith(("datetime.now", "utcnow", "date.today")) and not node.args and not node.keywords
    return (
        f"`{brief(node)}` is the computer's clock, which jumps, and knows no time zone."
        if name == "time.time" or zoneless
        else ""
    )


def chance(module: Module, node: ast.AST) -> str:
    assert isinstance(node, ast.Call)
    return f"`{brief(node.func)}` can be predicted." if module.origin(node.func).startswith("random.") else ""


NETS = (
    Net("mutable default?", 9, (ast.arguments,), default, "Make a new one inside the function."),
    Net("broad except?", 9, (ast.ExceptHandler,), broad, "Name what you expect."),
    Net("dynamic code?", 8, (ast.Call,), dynamic, "Use a table of names instead."),
    Net("secret?", 8, (ast.Assign,), secret, "Read it from the environment."),
    Net("no timeout?", 8, (ast.Call,), network, "Pass `timeout=`."),
    Net("odd comparison?", 7, (ast.Compare,), equality, "Use `is None`, or `math.isclose`."),
    Net("division by zero?", 7, (ast.BinOp, ast.AugAssign), division, "Check it first."),
    Net("concurrency?", 6, (ast.Call,), parallel, "Say what protects it."),
    Net("file trouble?", 6, (ast.Call,), files, "Handle OSError, and name the encoding."),
    Net("bad input?", 5, (ast.Call,), conversion, "Catch ValueError, or check before."),
    Net("endless?", 5, (ast.While,), endless, "Give it a limit."),
    Net("shared state?", 5, (ast.Assign, ast.Global), shared_global, "Pass it as an argument."),
    Net("missing item?", 4, (ast.Subscript,), subscript, "Use `.get`, or check first."),
    Net("clock?", 4, (ast.Call,), clock, "Use a monotonic clock and aware times."),
    Net("randomness?", 4, (ast.Call,), chance, "Use `secrets` where it matters."),
    Net("inexact money?", 3, (ast.BinOp,), money, "Use Decimal or whole cents."),
    Net("assert?", 3, (ast.Assert,), checked, "Raise an exception."),
    Net("magic number?", 1, (ast.Constant,), magic, "Give it a name."),
)


def suspicions(source: Source, budget: int = BUDGET) -> list[Finding]:
    """Everything suspicious in a source, heaviest first; also what can be seen in one that does not parse."""
    found = list(_marked(source))
    try:
        module = Module(source, budget)
    except Unreadable as error:
        found.append(
            _finding(
                source, error.line, "syntax?", 10, f"this does not parse: {error.why}.", "Correct it first."
            )
        )
        return _ranked(source, found)
    for net in NETS:
        for kind in net.types:
            for node in module.of(kind):
                said = net.look(module, node)
                if said:
                    found.append(_finding(source, _line(module, node), net.kind, net.weight, said, net.fix))
    return _ranked(source, found)


def _marked(source: Source) -> Iterator[Finding]:
    for number, line in enumerate(source.text.split("\n"), start=source.first):
        match = WORDS.search(line[:500])
        if match:
            yield _finding(
                source, number, "unfinished?", 6, f"a comment says {match[1]}.", "Do it, or open an issue."
            )


def _line(module: Module, node: ast.AST) -> int:
    """The line of a node; `arguments` and the like have none and stand at their parent's."""
    return next((line for up in (node, *module.above(node)) if (line := getattr(up, "lineno", None))), 1)


def _finding(source: Source, line: int, kind: str, weight: int, said: str, fix: str) -> Finding:
    return Finding(source.name, line, kind, -weight, said, fix)


def _ranked(source: Source, found: list[Finding]) -> list[Finding]:
    """One finding of a kind a line, heaviest first, and of a diff only the lines it added."""
    unique = {(finding.kind, finding.line): finding for finding in reversed(found)}
    kept = [
        finding for finding in unique.values() if source.changed is None or finding.line in source.changed
    ]
    return sorted(kept, key=lambda finding: (finding.severity, finding.line, finding.kind))
