"""No file over 400 lines, no function over 60: what is longer is two things, or says why not in the list
given."""

import ast
from collections.abc import Iterator, Mapping

from scripts.checks.tree import Check, Module, Tree

FILE = 400
FUNCTION = 60
COUNTED = (".py", ".js", ".mjs", ".css")


def checks(tree: Tree, longer: Mapping[str, str]) -> list[Check]:
    """`longer` maps a path, or "path:function", to why it may be longer. Entries that are not needed are
    reported."""
    files = {path: len(file.lines) for path, file in tree.files.items() if path.endswith(COUNTED)}
    functions = dict(pair for module in tree.modules.values() for pair in lengths(module))
    return [
        Check("no file is longer than 400 lines", _over(files, FILE, longer)),
        Check("no function is longer than 60 lines", _over(functions, FUNCTION, longer)),
        Check("the list of longer ones holds no more than it must", _needless(files | functions, longer)),
    ]


def lengths(module: Module) -> Iterator[tuple[str, int]]:
    """("path:Class.function", lines) of every function, decorators and docstring not counted."""
    yield from _lengths(module.syntax, module.path + ":") if module.syntax else ()


def _lengths(node: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield prefix + child.name, _end(child) - child.lineno + 1 - _docstring(child)
                yield from _lengths(child, f"{prefix}{child.name}.")
            case ast.ClassDef():
                yield from _lengths(child, f"{prefix}{child.name}.")
            case ast.expr():
                pass  # no function is defined in one, and most of a tree is expressions
            case _:
                yield from _lengths(child, prefix)


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _docstring(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    if ast.get_docstring(function, clean=False) is None:
        return 0
    first = function.body[0]
    return _end(first) - first.lineno + 1


def _over(sizes: Mapping[str, int], most: int, longer: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{name} has {lines} lines; {most} is the most. Split it where it is two things."
        for name, lines in sizes.items()
        if lines > most and name not in longer
    )


def _needless(sizes: Mapping[str, int], longer: Mapping[str, str]) -> tuple[str, ...]:
    def needed(name: str) -> bool:
        return sizes.get(name, 0) > (FUNCTION if ":" in name else FILE)

    return tuple(
        f"{name} is on the list of longer ones and needs no place there"
        for name in longer
        if not needed(name)
    )
