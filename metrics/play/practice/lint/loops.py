"""Loops: closures that all see the last turn, collections changed under the loop, an index one past the
end.
"""

import ast
from collections.abc import Iterator
from typing import TypeGuard

from metrics.play.practice.lint.finding import Hit
from metrics.play.practice.lint.tree import (
    FUNCTIONS,
    Function,
    Module,
    brief,
    dotted,
    last_name,
    line_of,
    parameters,
    same,
)
from metrics.play.practice.parsing import words_in

KEEPS = words_in(
    "append add insert appendleft setdefault connect bind subscribe register on after call_later"
    " call_soon add_callback"
    " add_done_callback submit schedule apply_async set_callback Timer Thread push put add_handler then defer"
)
CALLBACKS = {
    "command",
    "callback",
    "target",
    "on_click",
    "on_press",
    "on_change",
    "handler",
    "func",
    "action",
    "hook",
}
SHRINKS = {"remove", "pop", "insert", "clear", "discard", "popitem", "add"}
GROWS = {"append", "extend"}
VIEWS = {"items", "keys", "values"}
Closure = ast.Lambda | Function


def late_binding(module: Module) -> Iterator[Hit]:
    for closure in [*module.of(ast.Lambda), *module.functions()]:
        caught = _loop_names(module, closure) & _free(module, closure)
        if caught and _outlives_the_turn(module, closure):
            name = sorted(caught)[0]
            what = "this lambda" if isinstance(closure, ast.Lambda) else f"`{closure.name}`"
            said = (
                f"{what} reads `{name}` when it is called, after the loop: every one of them sees its"
                " last value."
            )
            yield Hit(closure.lineno, said, f"Bind it now with a default: `{name}={name}`.")


def _free(module: Module, closure: Closure) -> set[str]:
    """Names a closure reads and does not bind: its defaults are evaluated at once and do not count."""
    own_names = {arg.arg for arg in parameters(closure)}
    body = closure.body if isinstance(closure.body, list) else [closure.body]
    nodes = [node for part in body for node in module.under(part)]
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    inner = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return {node.id for node in nodes if isinstance(node, ast.Name)} - own_names - bound - inner


def _loop_names(module: Module, closure: Closure) -> set[str]:
    """Targets of the loops around a closure, up to the function they stand in."""
    names: set[str] = set()
    child: ast.AST = closure
    for parent in module.above(closure):
        if isinstance(parent, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            break
        targets: list[ast.expr] = []
        if isinstance(parent, (ast.For, ast.AsyncFor)) and child not in (parent.iter, *parent.orelse):
            targets = [parent.target]
        elif isinstance(parent, (ast.ListComp, ast.SetComp, ast.DictComp)) and not isinstance(
            child, ast.comprehension
        ):
            targets = [part.target for part in parent.generators]
        names |= {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
        child = parent
    return names


def _outlives_the_turn(module: Module, closure: Closure) -> bool:
    """Whether a closure is kept somewhere: in a list, an item, an attribute, a callback. Used at once, it
    is harmless."""
    if _leaves_at_once(module, closure):
        return False
    if isinstance(closure, ast.Lambda):
        return _is_kept(module, closure)
    uses = [
        node for node in module.scope(closure).loads.get(closure.name, []) if node.lineno > closure.lineno
    ]
    return any(_is_kept(module, use) for use in uses)


def _is_kept(module: Module, node: ast.AST) -> bool:
    parent = module.parents[node]
    while isinstance(parent, (ast.Tuple, ast.List, ast.Dict, ast.IfExp)):
        node, parent = parent, module.parents[parent]
    match parent:
        case ast.Assign(targets=targets):
            return any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets)
        case ast.Call(func=func, args=args):
            return last_name(func) in KEEPS and node in args
        case ast.keyword(arg=name):
            return name in CALLBACKS
        case ast.ListComp(elt=element) | ast.SetComp(elt=element):
            return element is node
        case ast.DictComp(value=value):
            return value is node
    return False


def _leaves_at_once(module: Module, node: ast.AST) -> bool:
    """Whether the block that holds the closure leaves the loop in the same turn."""
    statement = (
        node
        if isinstance(node, ast.stmt)
        else next(up for up in module.above(node) if isinstance(up, ast.stmt))
    )
    holder = module.parents[statement]
    for name in ("body", "orelse"):
        block = getattr(holder, name, None)
        if isinstance(block, list) and statement in block:
            return isinstance(block[-1], (ast.Return, ast.Break, ast.Raise))
    return False


def changed_while_iterating(module: Module) -> Iterator[Hit]:
    for loop in module.of(ast.For):
        subject = _subject(loop.iter)
        if subject is None or _is_rebound(module, loop, subject):
            continue
        for node in module.own(*loop.body):
            change = _change(loop, node, subject)
            if change and not _leaves_after(module, loop, node):
                said = (
                    f"`{change}` changes `{brief(subject, 25)}` while the loop in line {loop.lineno}"
                    " runs over it: items are skipped or it raises."
                )
                yield Hit(line_of(node), said, f"Loop over a copy: `list({brief(loop.iter, 25)})`.")
                break


def _subject(iterated: ast.expr) -> ast.expr | None:
    """The collection itself that a loop runs over: `x`, `self.x`, `x.items()`, `enumerate(x)`; never a
    copy."""
    if isinstance(iterated, ast.Call):
        func = iterated.func
        if isinstance(func, ast.Attribute) and func.attr in VIEWS and not iterated.args:
            return _subject(func.value)
        if isinstance(func, ast.Name) and func.id == "enumerate" and iterated.args:
            return _subject(iterated.args[0])
        return None
    return iterated if isinstance(iterated, (ast.Name, ast.Attribute)) and dotted(iterated) else None


def _is_rebound(module: Module, loop: ast.For, subject: ast.expr) -> bool:
    held = (ast.Name, ast.Attribute)
    stores = (
        node for node in module.own(*loop.body) if isinstance(node, held) and isinstance(node.ctx, ast.Store)
    )
    return any(dotted(node) == dotted(subject) for node in stores)


def _change(loop: ast.For, node: ast.AST, subject: ast.expr) -> str:
    """How a node changes the collection, as text; "" if it does not."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if same(value, subject):
            # Growing a list one loops over is a known way to work off a queue; without a condition it
            # never ends.
            every_turn = any(isinstance(part, ast.Expr) and part.value is node for part in loop.body)
            return brief(node) if name in SHRINKS or (name in GROWS and every_turn) else ""
        case ast.Delete(targets=targets):
            items = [
                target
                for target in targets
                if isinstance(target, ast.Subscript) and same(target.value, subject)
            ]
            return f"del {brief(items[0])}" if items else ""
    return ""


def _leaves_after(module: Module, loop: ast.For, node: ast.AST) -> bool:
    """Whether the loop ends in the same block after the change: then nothing is skipped."""
    steps = [node, *module.above(node)]
    for child, parent in zip(steps, steps[1:], strict=False):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and child in block:
                after = block[block.index(child) + 1 :]
                if any(isinstance(step, (ast.Break, ast.Return, ast.Raise)) for step in after):
                    return True
        if parent is loop:
            return False
    return False


def past_the_end(module: Module) -> Iterator[Hit]:
    """`for i in range(len(x) + 1)` that reads `x[i]`, and `x[len(x)]`."""
    for loop in module.of(ast.For):
        listed = _one_too_many(loop.iter)
        if listed is None or not isinstance(loop.target, ast.Name):
            continue
        wanted = ast.Subscript(listed, loop.target, ast.Load())
        read = next((node for node in module.own(*loop.body) if _reads(node, wanted)), None)
        if read and not _is_guarded(module, read, loop):
            name = brief(listed, 20)
            said = (
                f"the loop runs to `len({name})` itself, so its last turn reads past the end: an IndexError."
            )
            yield Hit(read.lineno, said, f"Loop over `range(len({name}))`.")
    for node in module.of(ast.Subscript):
        length = ast.Call(ast.Name("len", ast.Load()), [node.value], [])
        if same(node.slice, length) and isinstance(node.ctx, ast.Load):
            said = f"`{brief(node)}` reads one past the last item: an IndexError."
            yield Hit(node.lineno, said, f"The last item is `{brief(node.value, 20)}[-1]`.")


def _reads(node: ast.AST, wanted: ast.Subscript) -> TypeGuard[ast.Subscript]:
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and same(node, wanted)


def _one_too_many(iterated: ast.expr) -> ast.expr | None:
    """The list in `range(len(list) + 1)`, with or without a start."""
    if (
        not isinstance(iterated, ast.Call)
        or dotted(iterated.func) != "range"
        or len(iterated.args) not in (1, 2)
    ):
        return None
    match iterated.args[-1]:
        case ast.BinOp(
            left=ast.Call(func=ast.Name(id="len"), args=[listed]), op=ast.Add(), right=ast.Constant(value=1)
        ):
            return listed
    return None


def _is_guarded(module: Module, node: ast.AST, loop: ast.For) -> bool:
    """An `if` or `try` between the loop and the index may keep the last turn out."""
    for parent in module.above(node):
        if parent is loop:
            return False
        if isinstance(parent, (ast.If, ast.Try, ast.IfExp, ast.BoolOp)):
            return True
    return False
