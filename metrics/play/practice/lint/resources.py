"""Things that must be given back, and clocks: files, locks, time."""

import ast
from collections.abc import Iterator

from metrics.play.practice.lint.finding import Hit
from metrics.play.practice.lint.tree import Module, brief, dotted, last_name

OPENERS = {"open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open"}
KEEPERS = {
    "enter_context",
    "enter_async_context",
    "closing",
    "aclosing",
    "push",
    "TextIOWrapper",
    "callback",
    "Popen",
    "run",
}
WALL = {"time.time", "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.now", "datetime.utcnow"}


def open_without_with(module: Module) -> Iterator[Hit]:
    for call in module.of(ast.Call):
        if module.origin(call.func) not in OPENERS or not _is_builtin(module, call):
            continue
        parent = module.parents[call]
        said = ""
        if isinstance(parent, ast.Attribute):
            said = (
                f"the file is opened for `{parent.attr}` and never closed here; it stays open until"
                " Python collects it."
            )
        elif isinstance(parent, (ast.For, ast.comprehension)):
            said = "the file the loop runs over is never closed."
        elif isinstance(parent, ast.Call) and call in parent.args and last_name(parent.func) not in KEEPERS:
            said = (
                f"the file is handed to `{brief(parent.func, 25)}` and nobody closes it."
                if _is_reader(parent)
                else ""
            )
        elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            said = _kept(module, parent, parent.targets[0].id)
        if said:
            yield Hit(call.lineno, said, "Use `with open(...) as file:`.")


def _is_builtin(module: Module, call: ast.Call) -> bool:
    """Whether `open` still is Python's: nothing in the file takes its name."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    return not name or name in module.origins or name not in module.bound


def _is_reader(call: ast.Call) -> bool:
    """Functions known to read or write a file and leave it open."""
    return last_name(call.func) in {
        "load",
        "dump",
        "reader",
        "writer",
        "DictReader",
        "DictWriter",
        "list",
        "safe_load",
        "sum",
        "enumerate",
        "sorted",
        "len",
        "parse",
        "print",
    }


def _kept(module: Module, node: ast.Assign, name: str) -> str:
    """What is wrong with `name = open(...)`; "" if it is closed for certain, or goes where we cannot
    follow."""
    scope = module.scope(node)
    if (
        name in scope.outer
        or isinstance(scope.node, ast.ClassDef)
        or any(name in within.reads for within in scope.within)
    ):
        return ""
    loads = scope.loads.get(name, [])
    if len(loads) > 50 or any(_escapes(module, load) for load in loads):
        return ""
    closes = [load for load in loads if _attribute(module, load) == "close"]
    if not closes:
        return f"`{name}` is never closed."
    if any(_in_finally(module, load) for load in closes):
        return ""
    between = any(
        load.lineno < closes[0].lineno and _attribute(module, load) not in ("", "close") for load in loads
    )
    return (
        f"`{name}` is closed in line {closes[0].lineno} only if nothing before it raises." if between else ""
    )


def _attribute(module: Module, load: ast.AST) -> str:
    parent = module.parents[load]
    return parent.attr if isinstance(parent, ast.Attribute) else ""


def _escapes(module: Module, load: ast.AST) -> bool:
    """Whether the file is used in a way other than a method call or a loop over it."""
    parent = module.parents[load]
    if isinstance(parent, ast.Attribute):
        return parent.attr in ("detach", "fileno", "buffer")
    if isinstance(parent, ast.Call) and load in parent.args:
        return not _is_reader(parent)
    return not isinstance(parent, (ast.For, ast.comprehension))


def _in_finally(module: Module, node: ast.AST) -> bool:
    steps = [node, *module.above(node)]
    pairs = zip(steps, steps[1:], strict=False)
    return any(
        isinstance(parent, ast.Try) and (child in parent.finalbody or child in parent.handlers)
        for child, parent in pairs
    )


def lock_not_released(module: Module) -> Iterator[Hit]:
    releases: dict[str, list[ast.Attribute]] = {}
    for node in module.of(ast.Attribute):
        if node.attr == "release":
            releases.setdefault(dotted(node.value), []).append(node)
    made = _made_here(module)
    for statement in module.of(ast.Expr):
        call = statement.value
        if not (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "acquire"
        ):
            continue
        lock, function = call.func.value, module.function(statement)
        name = dotted(lock)
        if not name or (function and function.name in ("__enter__", "__aenter__", "acquire", "lock")):
            continue
        here = [node for node in releases.get(name, []) if module.function(node) is function]
        if name not in releases and (name in made or _is_argument(module, lock)):
            yield Hit(
                statement.lineno,
                f"`{name}` is acquired here and released nowhere in this file.",
                f"Use `with {name}:`.",
            )
        elif (
            here
            and not any(_in_finally(module, node) for node in here)
            and _may_leave(module, statement, here[-1])
        ):
            said = (
                f"`{name}` is released in line {here[-1].lineno} only if nothing before it raises or returns."
            )
            yield Hit(statement.lineno, said, f"Use `with {name}:`, or release it in a `finally`.")


def _made_here(module: Module) -> set[str]:
    """Locks that the file makes: who waits on somebody else's need never release it."""
    makers = ("Lock", "Semaphore", "Condition")
    calls = [(node, node.value) for node in module.of(ast.Assign) if isinstance(node.value, ast.Call)]
    return {
        dotted(target)
        for node, call in calls
        if last_name(call.func).endswith(makers)
        for target in node.targets
    }


def _is_argument(module: Module, lock: ast.expr) -> bool:
    return isinstance(lock, ast.Name) and isinstance(next(iter(module.givers(lock, lock.id)), None), ast.arg)


def _may_leave(module: Module, statement: ast.Expr, release: ast.Attribute) -> bool:
    """Whether something between the two may raise or return: a call, an index, a division, a `return`."""
    around = module.function(statement)
    nodes = module.own(*(around.body if around else module.tree.body))
    risky = (ast.Call, ast.Subscript, ast.Return, ast.Raise, ast.Await)
    return any(isinstance(node, risky) and statement.lineno < node.lineno < release.lineno for node in nodes)


def wall_clock(module: Module) -> Iterator[Hit]:
    """The difference of two readings of the wall clock, both taken in one scope."""
    for node in module.of(ast.BinOp):
        if (
            not isinstance(node.op, ast.Sub)
            or not _is_reading(module, node, node.right)
            or isinstance(node.right, ast.Call)
        ):
            continue
        if _is_reading(module, node, node.left):
            said = (
                f"`{brief(node)}` measures with the wall clock, which jumps when the computer's time is set."
            )
            yield Hit(node.lineno, said, "Use `time.monotonic()` or `time.perf_counter()` for durations.")


def _is_reading(module: Module, node: ast.AST, side: ast.expr) -> bool:
    """Whether an expression is the wall clock, read now or kept in a name that holds nothing else."""
    if isinstance(side, ast.Call):
        return module.origin(side.func) in WALL and not side.args and not side.keywords
    if not isinstance(side, ast.Name):
        return False
    givers = module.givers(node, side.id)
    calls = [giver.value for giver in givers if isinstance(giver, ast.Assign)]
    return len(calls) == len(givers) > 0 and all(
        isinstance(call, ast.Call) and _is_reading(module, node, call) for call in calls
    )
