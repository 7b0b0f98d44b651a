"""Where control goes: blocks that end, code after them, functions that fall off their end, loops that
cannot stop.

One question carries the file: can a statement be passed? It is asked strictly (`sure`), to call code
unreachable, or with the benefit of the doubt, to call a return missing.
"""

import ast
import re
from collections.abc import Iterator, Sequence

from metrics.play.practice.lint.finding import Hit
from metrics.play.practice.lint.tree import Function, Module, brief, dotted, last_name, same, spelled

EXITS = {"sys.exit", "exit", "quit", "os._exit", "os.abort"}
GIVES_UP = re.compile(
    r"(?:_?(?:fail|abort|die|exit|skip|bail|usage|panic|fatal|throw\w*|raise\w*)|\w*error)$", re.I
)
JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
PLAIN = {
    "int",
    "float",
    "str",
    "bool",
    "bytes",
    "list",
    "dict",
    "set",
    "tuple",
    "frozenset",
    "len",
    "sum",
    "sorted",
    "round",
}
CHANGES_NAMES = {"exec", "eval", "locals", "globals", "vars", "setattr"}


def ends(body: Sequence[ast.stmt], sure: bool) -> bool:
    """Whether control never passes the end of a block."""
    return any(stops(statement, sure) for statement in body)


def stops(statement: ast.stmt, sure: bool) -> bool:
    """Whether control never passes a statement."""
    match statement:
        case ast.If(body=body, orelse=orelse):
            return bool(orelse) and ends(body, sure) and ends(orelse, sure)
        case ast.While(test=ast.Constant(value=value)) if value:
            return not _breaks(statement.body)
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return not sure and ends(body, sure)  # a context manager may swallow what is raised
        case ast.Try() | ast.TryStar():
            handled = all(ends(handler.body, sure) for handler in statement.handlers)
            through = ends(statement.body, sure) or ends(statement.orelse, sure)
            return ends(statement.finalbody, sure) or (handled and through)
        case ast.Match(cases=cases):
            return all(ends(case.body, sure) for case in cases) and (not sure or _catches_all(cases[-1]))
        case ast.Assert(test=ast.Constant(value=value)) if not value:
            return not sure
        case ast.Expr(value=ast.Call(func=func) | ast.Await(value=ast.Call(func=func))):
            return dotted(func) in EXITS or (not sure and GIVES_UP.match(last_name(func)) is not None)
    return isinstance(statement, JUMPS)


def _catches_all(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _breaks(body: Sequence[ast.stmt]) -> bool:
    """Whether a loop's body has a `break` of that loop."""
    return any(isinstance(node, ast.Break) for node in _of_loop(body))


def _of_loop(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Statements under a loop whose `break` and `continue` are the loop's own."""
    for statement in body:
        yield statement
        if isinstance(statement, LOOPS):
            yield from _of_loop(statement.orelse)
            continue
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _of_loop(getattr(statement, name, []))
        for holder in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            yield from _of_loop(holder.body)


def unreachable(module: Module) -> Iterator[Hit]:
    for body in module.bodies():
        at = next((at for at, statement in enumerate(body[:-1]) if stops(statement, sure=True)), None)
        if at is None or all(_says_nothing(rest) for rest in body[at + 1 :]):
            continue
        before, after = body[at], body[at + 1]
        word = type(before).__name__.lower() if isinstance(before, JUMPS) else "statement"
        said = f"the `{word}` in line {before.lineno} always leaves this block first, so this never runs."
        if not isinstance(before, JUMPS):
            said = f"control never gets past the statement in line {before.lineno}, so this never runs."
        yield Hit(after.lineno, said, "Delete it, or move it before that line.")


def _says_nothing(statement: ast.stmt) -> bool:
    """A `yield` after `return` makes a generator; `pass` and strings are there to be read."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, (ast.Yield, ast.YieldFrom, ast.Constant))
    return isinstance(statement, ast.Pass)


def missing_return(module: Module) -> Iterator[Hit]:
    for function in filter(module.holds_all_of, module.functions()):
        nodes = list(module.inside(function))
        returns = [node for node in nodes if isinstance(node, ast.Return)]
        valued = [node for node in returns if node.value and not _is_none(node.value)]
        if not valued or any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes):
            continue
        promised = function.returns is not None and not _may_be_none(function.returns)
        if (function.returns and not promised) or not (
            promised or any(_is_a_value(node.value) for node in valued)
        ):
            continue
        bare = next((node for node in returns if node.value is None), None)
        if bare:
            line, how = (
                bare.lineno,
                f"`{function.name}` returns a value in line {valued[0].lineno} but nothing here",
            )
        elif not ends(function.body, sure=False) and (promised or not _searches(function)):
            line, how = (
                function.lineno,
                f"`{function.name}` returns a value in line {valued[0].lineno} but can also reach its end",
            )
        else:
            continue
        fix = "Return a value there too, raise, or write `return None` to say that it is meant."
        last = function.body[-1]
        ending = range(last.lineno, (last.end_lineno or last.lineno) + 1)
        also = (*(node.lineno for node in valued), *ending)
        yield Hit(line, f"{how}, which gives the caller None.", fix, also)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_a_value(node: ast.expr | None) -> bool:
    """Whether a returned expression is surely meant as a result: a call may stand there for its effect
    alone."""
    if isinstance(node, ast.Await):
        return False
    return not isinstance(node, ast.Call) or dotted(node.func) in PLAIN


def _may_be_none(annotation: ast.expr) -> bool:
    return (
        re.search(r"\bNone\b|\bOptional\b|\bAny\b|\bobject\b|\bNoReturn\b", spelled(annotation)) is not None
    )


def _searches(function: Function) -> bool:
    """`for ...: if ...: return it` with nothing after it is the usual way to find something or give None."""
    last = function.body[-1]
    if isinstance(last, (ast.With, ast.AsyncWith)):
        last = last.body[-1]
    return isinstance(last, LOOPS)


def return_in_finally(module: Module) -> Iterator[Hit]:
    tries = [block.finalbody for block in module.of(ast.Try)]
    tries += [block.finalbody for block in module.of(ast.TryStar)]
    for body in tries:
        jumps = [node for node in _of_loop(body) if isinstance(node, (ast.Break, ast.Continue))]
        for node in [*jumps, *(node for node in module.own(*body) if isinstance(node, ast.Return))]:
            word = type(node).__name__.lower()
            said = (
                f"`{word}` in a `finally` throws away any exception on its way out, and any value"
                " already returned."
            )
            yield Hit(node.lineno, said, "Move it after the `try` statement.")


def endless_loop(module: Module) -> Iterator[Hit]:
    """A `while` whose condition reads only local names that nothing in the body can change."""
    has_globals = bool(module.of(ast.Global))
    for loop in module.of(ast.While):
        names = {node.id for node in ast.walk(loop.test) if isinstance(node, ast.Name)}
        if not names or not _only_names(loop.test) or _leaves(module, loop) or _in_try(module, loop):
            continue
        scope = module.scope(loop)
        if names & module.outer:
            continue
        at_top = scope.node is module.tree
        if (at_top and has_globals) or any(name not in scope.binds for name in names):
            continue
        plain = all(_is_compared(loop.test, name) or _is_constant(module, loop, name) for name in names)
        if plain and not any(_may_change(module, loop, name) for name in names):
            listed = " and ".join(f"`{name}`" for name in sorted(names))
            said = (
                f"the condition `{brief(loop.test)}` depends only on {listed}, which the body never"
                " changes: once true, it stays true."
            )
            yield Hit(loop.lineno, said, "Change it in the body, or leave the loop with `break`.")


def _only_names(test: ast.expr) -> bool:
    held = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.expr_context)
    return all(
        isinstance(node, (*held, ast.cmpop, ast.boolop, ast.unaryop, ast.operator)) for node in ast.walk(test)
    )


def _leaves(module: Module, loop: ast.While) -> bool:
    """Whether the body can leave the loop, or hand control to somebody who may."""
    hands_over = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await, ast.Assert)
    nodes = list(module.own(*loop.body))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if any(
        dotted(call.func) in EXITS | CHANGES_NAMES or GIVES_UP.match(last_name(call.func)) for call in calls
    ):
        return True
    return _breaks(loop.body) or any(isinstance(node, hands_over) for node in nodes)


def _in_try(module: Module, loop: ast.While) -> bool:
    """An exception may be the loop's way out."""
    return any(isinstance(node, (ast.Try, ast.TryStar)) for node in module.above(loop))


def _is_compared(test: ast.expr, name: str) -> bool:
    """Whether the name is put in order with something: then it is a number or the like, which no call can
    change."""
    orders = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    compared = (node for node in ast.walk(test) if isinstance(node, ast.Compare))
    ordered = (node for node in compared if all(isinstance(op, orders) for op in node.ops))
    sides = (side for node in ordered for side in [node.left, *node.comparators])
    return any(isinstance(side, ast.Name) and side.id == name for side in sides)


def _is_constant(module: Module, loop: ast.While, name: str) -> bool:
    """Whether the name only ever holds constants: anything else could be changed where we cannot see it."""
    givers = module.givers(loop, name)
    return bool(givers) and all(
        isinstance(giver, ast.Assign) and isinstance(giver.value, ast.Constant) for giver in givers
    )


def _may_change(module: Module, loop: ast.While, name: str) -> bool:
    """Whether the body binds the name, or reaches into what it holds by a method or an item."""
    this = ast.Name(name, ast.Load())
    for node in [node for statement in loop.body for node in module.under(statement)]:
        match node:
            case ast.Name(id=held, ctx=ast.Store() | ast.Del()) if held == name:
                return True
            case (
                ast.ExceptHandler(name=held)
                | ast.FunctionDef(name=held)
                | ast.ClassDef(name=held)
                | ast.MatchAs(name=held)
                | ast.MatchStar(name=held)
            ) if held == name:
                return True
            case ast.Attribute(value=reached) | ast.Subscript(value=reached) if same(reached, this):
                return True
            case ast.Import() | ast.ImportFrom():
                return True
    return False
