"""Comparisons and conditions that do not ask what they seem to ask, and literals that contradict
themselves.
"""

import ast
from collections.abc import Iterator

from metrics.play.practice.lint.finding import Hit
from metrics.play.practice.lint.tree import Module, brief, last_name, pure, same

# In queries and masks `column == None` builds an expression; `is` would be wrong there.
QUERIES = {
    "filter",
    "filter_by",
    "where",
    "having",
    "and_",
    "or_",
    "not_",
    "case",
    "join",
    "outerjoin",
    "on",
    "exists",
    "any",
}
DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.JoinedStr)


def pairs(node: ast.Compare) -> Iterator[tuple[ast.expr, ast.cmpop, ast.expr]]:
    """The comparisons of a chain, two by two."""
    sides = [node.left, *node.comparators]
    yield from zip(sides, node.ops, sides[1:], strict=False)


def with_none(module: Module) -> Iterator[Hit]:
    for node in module.of(ast.Compare):
        for left, op, right in pairs(node):
            if (
                isinstance(op, (ast.Eq, ast.NotEq))
                and (_is_none(left) or _is_none(right))
                and not _in_query(module, node)
            ):
                word = "is" if isinstance(op, ast.Eq) else "is not"
                other = right if _is_none(left) else left
                said = f"`{brief(node)}` asks the object's own `==`, which may say anything about None."
                yield Hit(node.lineno, said, f"Write `{brief(other, 25)} {word} None`.")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _in_query(module: Module, node: ast.AST) -> bool:
    for parent in module.above(node):
        if isinstance(parent, ast.stmt):
            return False
        if isinstance(parent, ast.Subscript) or (
            isinstance(parent, ast.Call) and last_name(parent.func) in QUERIES
        ):
            return True
    return False


def is_literal(module: Module) -> Iterator[Hit]:
    for node in module.of(ast.Compare):
        for left, op, right in pairs(node):
            literal = next((side for side in (left, right) if _is_literal(side)), None)
            if isinstance(op, (ast.Is, ast.IsNot)) and literal is not None:
                fresh = isinstance(literal, (*DISPLAYS, ast.Tuple))
                why = (
                    "is a new object each time, so this is never the same one"
                    if fresh
                    else "may or may not be one shared object"
                )
                word = "==" if isinstance(op, ast.Is) else "!="
                said = f"`{brief(node)}` compares identity, and `{brief(literal, 20)}` {why}."
                yield Hit(node.lineno, said, f"Compare values with `{word}`.")


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        node = node.operand
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float, complex, str, bytes)) and not isinstance(node.value, bool)
    return isinstance(node, DISPLAYS) or (isinstance(node, ast.Tuple) and bool(node.elts))


def with_itself(module: Module) -> Iterator[Hit]:
    for node in module.of(ast.Compare):
        for left, op, right in pairs(node):
            if (
                isinstance(left, ast.Constant)
                or not same(left, right)
                or not pure(left)
                or _asks_nan(module, node)
            ):
                continue
            always = isinstance(op, (ast.Eq, ast.LtE, ast.GtE, ast.Is))
            if isinstance(op, (ast.In, ast.NotIn)):
                continue
            said = f"`{brief(node)}` compares `{brief(left, 25)}` with itself, which is always {always}."
            yield Hit(
                node.lineno, said, "One side should be something else; to ask for NaN, write `math.isnan`."
            )


def _asks_nan(module: Module, node: ast.Compare) -> bool:
    """`x != x` is true of NaN only, and tests of `__eq__` compare a thing with itself."""
    function = module.function(node)
    name = function.name.lower() if function else ""
    if "nan" in name + module.line(node.lineno).lower() or name.startswith(("test", "assert", "__")):
        return True
    return isinstance(node.ops[0], ast.NotEq) and isinstance(node.left, ast.Name)


def always_true(module: Module) -> Iterator[Hit]:
    """`x == "a" or "b"`: the second half is not a comparison, and true by itself."""
    for node in module.of(ast.BoolOp):
        if not isinstance(node.op, ast.Or) or not _is_tested(module, node):
            continue
        for before, after in zip(node.values, node.values[1:], strict=False):
            if isinstance(before, ast.Compare) and isinstance(after, ast.Constant) and after.value:
                first = before.left
                said = (
                    f"`{brief(node)}` is always true: `{brief(after)}` alone is true and is not"
                    f" compared with `{brief(first, 20)}`."
                )
                yield Hit(
                    node.lineno,
                    said,
                    f"Write `{brief(first, 20)} in ({brief(before.comparators[0], 20)},"
                    f" {brief(after, 20)})`.",
                )
                break


def _is_tested(module: Module, node: ast.expr) -> bool:
    parent: ast.AST = module.parents[node]
    child: ast.AST = node
    while isinstance(parent, (ast.BoolOp, ast.UnaryOp)):
        child, parent = parent, module.parents[parent]
    return isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert, ast.comprehension)) and (
        isinstance(parent, ast.comprehension) or parent.test is child
    )


def assert_tuple(module: Module) -> Iterator[Hit]:
    for node in module.of(ast.Assert):
        if isinstance(node.test, ast.Tuple) and node.test.elts:
            said = "this asserts a tuple, which is always true, so nothing is checked."
            yield Hit(node.lineno, said, "Remove the parentheses: `assert condition, message`.")


def duplicate_key(module: Module) -> Iterator[Hit]:
    for node in module.of(ast.Dict):
        first: dict[object, ast.expr] = {}
        for key in node.keys:
            if not isinstance(key, ast.Constant):
                continue
            before = first.setdefault(key.value, key)
            if before is not key:
                where = (
                    f"in line {before.lineno}" if before.lineno != key.lineno else "before it in this line"
                )
                said = f"the key `{brief(key)}` is already given {where}; only the last value counts."
                yield Hit(key.lineno, said, "Remove one of the two, or correct the key.")


def duplicate_condition(module: Module) -> Iterator[Hit]:
    """An `elif` that asks again what an earlier branch of the same chain asked."""
    for node in module.of(ast.If):
        parent = module.parents[node]
        if isinstance(parent, ast.If) and parent.orelse == [node]:
            continue
        seen: list[ast.expr] = []
        step: ast.If | None = node
        while step:
            for test in seen:
                if pure(step.test) and same(test, step.test):
                    said = (
                        f"`{brief(step.test)}` was already asked in line {test.lineno}, so this branch"
                        " never runs."
                    )
                    yield Hit(step.lineno, said, "Correct the condition, or delete the branch.")
                    break
            seen.append(step.test)
            step = step.orelse[0] if len(step.orelse) == 1 and isinstance(step.orelse[0], ast.If) else None


def set_duplicate(module: Module) -> Iterator[Hit]:
    for node in module.of(ast.Set):
        seen: dict[object, int] = {}
        for item in node.elts:
            if isinstance(item, ast.Constant) and seen.setdefault(item.value, id(item)) != id(item):
                said = f"`{brief(item)}` is in this set twice; the second changes nothing."
                yield Hit(item.lineno, said, "Remove it, or write the element that was meant.")
