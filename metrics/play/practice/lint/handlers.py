"""Exceptions caught, and exceptions raised that are none."""

import ast
import builtins
from collections.abc import Iterator

from metrics.play.practice.lint.finding import Hit
from metrics.play.practice.lint.tree import Module, brief, dotted

BROAD = {"Exception", "BaseException"}


def caught(handler: ast.ExceptHandler) -> list[ast.expr]:
    """The classes a handler names; none for a bare `except`."""
    if handler.type is None:
        return []
    return list(handler.type.elts) if isinstance(handler.type, ast.Tuple) else [handler.type]


def bare_except(module: Module) -> Iterator[Hit]:
    for handler in module.of(ast.ExceptHandler):
        if handler.type is None and not _raises_again(module, handler):
            hides = " and nothing is done about it" if _does_nothing(handler) else ""
            said = f"a bare `except:` also catches KeyboardInterrupt and SystemExit{hides}."
            yield Hit(
                handler.lineno, said, "Name the exceptions you expect; `except Exception:` at the widest."
            )


def swallowed(module: Module) -> Iterator[Hit]:
    for handler in module.of(ast.ExceptHandler):
        names = [dotted(item).rpartition(".")[2] for item in caught(handler)]
        if BROAD.intersection(names) and _does_nothing(handler) and not _is_the_last_word(module, handler):
            said = (
                f"every `{names[0] if len(names) == 1 else 'Exception'}`, programming mistakes"
                " included, disappears here without a trace."
            )
            yield Hit(handler.lineno, said, "Catch the exceptions you expect, or at least log this one.")


def _does_nothing(handler: ast.ExceptHandler) -> bool:
    return all(
        isinstance(node, (ast.Pass, ast.Continue))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in handler.body
    )


def _raises_again(module: Module, handler: ast.ExceptHandler) -> bool:
    return any(isinstance(node, ast.Raise) for node in module.own(*handler.body))


def _is_the_last_word(module: Module, handler: ast.ExceptHandler) -> bool:
    """Destructors must not raise: there a silent handler is right."""
    function = module.function(handler)
    return function is not None and function.name in ("__del__", "__exit__", "__aexit__")


def or_in_except(module: Module) -> Iterator[Hit]:
    for handler in module.of(ast.ExceptHandler):
        if isinstance(handler.type, ast.BoolOp) and all(dotted(item) for item in handler.type.values):
            first, *rest = handler.type.values
            kept, lost = (first, rest[0]) if isinstance(handler.type.op, ast.Or) else (rest[-1], first)
            said = f"`{brief(handler.type)}` is just `{dotted(kept)}`, so `{dotted(lost)}` is not caught."
            names = ", ".join(dotted(item) for item in handler.type.values)
            yield Hit(handler.lineno, said, f"Write a tuple: `except ({names}):`.")


def never_reached(module: Module) -> Iterator[Hit]:
    for block in module.of(ast.Try):
        seen: list[tuple[type[BaseException], int]] = []
        for handler in block.handlers:
            classes = [_builtin(module, item) for item in caught(handler)]
            for wide, line in seen:
                if classes and all(kind and issubclass(kind, wide) for kind in classes):
                    said = f"line {line} already catches `{wide.__name__}`, so this handler is never reached."
                    yield Hit(handler.lineno, said, "Put the narrower handler first.")
                    break
            seen += [(kind, handler.lineno) for kind in classes if kind]


def _builtin(module: Module, node: ast.expr) -> type[BaseException] | None:
    """The built-in exception an expression names, unless the file gives that name another meaning."""
    if not isinstance(node, ast.Name) or node.id in module.bound:
        return None
    kind = getattr(builtins, node.id, None)
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else None


def not_an_exception(module: Module) -> Iterator[Hit]:
    for node in module.of(ast.Raise):
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if isinstance(raised, ast.Name) and raised.id == "NotImplemented":
            said = "`NotImplemented` is a value for operators, not an exception: raising it is a TypeError."
            yield Hit(node.lineno, said, "Raise `NotImplementedError`.")
        elif isinstance(raised, (ast.Constant, ast.JoinedStr)) and node.exc is raised:
            said = "only exceptions can be raised; raising text is a TypeError that hides it."
            yield Hit(node.lineno, said, "Wrap it: `raise ValueError(...)`.")
