"""A parsed file with the lookups checks need: nodes by type, parents, scopes, where imported names come
from.

One walk, without recursion, fills them all. It also numbers the nodes in the order of the text, so that
everything under a node is a slice of one list, and every check a short loop over the nodes of one type.
"""

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar, cast

from metrics.play.practice.parsing import Source, Unreadable, parse

DEEP = 250  # levels; more than any person writes, and few enough for the checks that do recurse
BUDGET = 60_000  # nodes of one file that are looked at: about 6,000 lines, a fraction of a second

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda, *COMPREHENSIONS)
BLOCKS = ("body", "orelse", "finalbody")
CLOSED = (*FUNCTIONS, ast.ClassDef, ast.Lambda)  # what they hold runs at another time than where they stand
NO_NODES = {
    "ctx",
    "op",
    "ops",
    "id",
    "attr",
    "kind",
    "type_comment",
    "level",
    "simple",
    "is_async",
    "conversion",
}
Node = TypeVar("Node", bound=ast.AST)


@dataclass(eq=False, slots=True)
class Scope:
    """Names of one scope: where each is bound and read. `reads` has the names read here or in any scope
    within; `outer` those declared global or nonlocal."""

    node: ast.AST
    above: "Scope | None"
    binds: dict[str, list[ast.AST]] = field(default_factory=dict)
    loads: dict[str, list[ast.Name]] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    within: list["Scope"] = field(default_factory=list)

    def bind(self, name: str, node: ast.AST) -> None:
        self.binds.setdefault(name, []).append(node)

    def chain(self) -> Iterator["Scope"]:
        scope: Scope | None = self
        while scope:
            yield scope
            scope = scope.above


class Module:
    """A file as checks see it: all line numbers are the file's, also in a piece of one. `stopped` is the line
    where the budget ended, None when all of it was read."""

    def __init__(self, source: Source, budget: int = BUDGET) -> None:
        self.source = source
        self.tree = _tree(source)
        self.lines = source.text.split("\n")
        self.parents: dict[ast.AST, ast.AST] = {}
        self.scopes: dict[ast.AST, Scope] = {self.tree: Scope(self.tree, None)}
        self.origins: dict[str, str] = {}
        self.stopped: int | None = None
        self._nodes: dict[type[ast.AST], list[ast.AST]] = {}
        self._order: list[ast.AST] = []
        self._start: dict[ast.AST, int] = {}
        self._end: list[int] = []
        self._read(budget)

    def of(self, kind: type[Node]) -> list[Node]:
        """All nodes of exactly this type, in the order of the text."""
        return cast(list[Node], self._nodes.get(kind, []))

    def under(self, node: ast.AST) -> list[ast.AST]:
        """A node and everything below it, in the order of the text."""
        start = self._start[node]
        return self._order[start : self._end[start]]

    def own(self, *roots: ast.AST) -> Iterator[ast.AST]:
        """The nodes of these trees that run with them: functions, classes and lambdas inside are named
        but not entered."""
        for root in roots:
            at = self._start[root]
            stop = self._end[at]
            while at < stop:
                node = self._order[at]
                yield node
                at = self._end[at] if isinstance(node, CLOSED) else at + 1

    def inside(self, function: Function) -> Iterator[ast.AST]:
        """The nodes of a function's own body."""
        return self.own(*function.body)

    def functions(self) -> list[Function]:
        return [*self.of(ast.FunctionDef), *self.of(ast.AsyncFunctionDef)]

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Parents of a node, nearest first."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)

    def scope(self, node: ast.AST) -> Scope:
        """The scope a node stands in (a function's own node stands in the one around it)."""
        return next(self.scopes[parent] for parent in self.above(node) if parent in self.scopes)

    def function(self, node: ast.AST) -> Function | None:
        """The function a node stands in, if the nearest function or class around it is one."""
        near = next(
            (parent for parent in self.above(node) if isinstance(parent, (*FUNCTIONS, ast.ClassDef))), None
        )
        return near if isinstance(near, FUNCTIONS) else None

    def origin(self, node: ast.AST) -> str:
        """The dotted name of an expression with its first part resolved through the imports; "" when it
        has none."""
        name = dotted(node)
        first, dot, rest = name.partition(".")
        return self.origins.get(first, first) + dot + rest

    @functools.cached_property
    def bound(self) -> set[str]:
        """Every name that any scope of the file binds."""
        return {name for scope in self.scopes.values() for name in scope.binds}

    @functools.cached_property
    def outer(self) -> set[str]:
        """Every name that is declared global or nonlocal somewhere."""
        return {name for scope in self.scopes.values() for name in scope.outer}

    @functools.cached_property
    def uses(self) -> dict[str, list[int]]:
        """The lines where each name is read, in any scope, in order."""
        lines: dict[str, list[int]] = {}
        for node in self.of(ast.Name):
            if isinstance(node.ctx, ast.Load):
                lines.setdefault(node.id, []).append(node.lineno)
        return {name: sorted(found) for name, found in lines.items()}

    def bodies(self) -> Iterator[list[ast.stmt]]:
        """Every block of statements in the file."""
        for kind, nodes in self._nodes.items():
            for name in [name for name in BLOCKS if name in kind._fields]:
                for block in (getattr(node, name) for node in nodes):
                    if isinstance(block, list) and block:
                        yield block

    def givers(self, node: ast.AST, name: str) -> list[ast.AST]:
        """What binds a name as it is seen from a node: assignments, arguments, loops. Nothing if so many do
        that nobody could say what it holds."""
        if name in self.outer:
            return []
        near = self.scope(node)
        seen = (scope for scope in near.chain() if scope is near or not isinstance(scope.node, ast.ClassDef))
        places: list[ast.AST] = next((scope.binds[name] for scope in seen if name in scope.binds), [])
        few = places if len(places) <= 20 else []
        return [place if isinstance(place, ast.arg) else self.parents[place] for place in few]

    def line(self, number: int) -> str:
        at = number - self.source.first
        return self.lines[at] if 0 <= at < len(self.lines) else ""

    def holds_all_of(self, function: Function) -> bool:
        """Whether the function's end is in sight; where a piece of a file ends, it may go on."""
        return self.source.last or (function.end_lineno or 0) < (self.tree.body[-1].end_lineno or 0)

    def _read(self, budget: int) -> None:
        fields: dict[type[ast.AST], tuple[str, ...]] = {}
        kept: list[ast.stmt] = []
        root = self.scopes[self.tree]
        self._nodes[ast.Module] = [self.tree]
        for statement in self.tree.body:
            if len(self._order) > budget:
                self.stopped = statement.lineno
                break
            self._walk(statement, root, budget * 2, fields)
            kept.append(statement)
        self.tree.body = kept

    def _walk(
        self, top: ast.stmt, scope: Scope, limit: int, fields: dict[type[ast.AST], tuple[str, ...]]
    ) -> None:
        stack: list[tuple[ast.AST, ast.AST, Scope, int]] = [(top, self.tree, scope, 1)]
        opened: list[int] = []
        while stack:
            node, parent, scope, depth = stack.pop()
            number = len(self._order)
            while len(opened) >= depth:
                self._end[opened.pop()] = number
            opened.append(number)
            if depth > DEEP or number > limit:
                why = (
                    "it is nested too deeply to review"
                    if depth > DEEP
                    else "this statement is too large to review"
                )
                raise Unreadable(getattr(node, "lineno", top.lineno), why)
            kind = type(node)
            self._note(node, kind, parent, number)
            note_names(node, scope, self.origins)
            if isinstance(node, SCOPES):
                inner = self.scopes[node] = Scope(node, scope)
                scope.within.append(inner)
                scope = inner
            if kind not in fields:
                fields[kind] = tuple(name for name in reversed(kind._fields) if name not in NO_NODES)
            for name in fields[kind]:
                value = getattr(node, name, None)
                if isinstance(value, ast.AST):
                    stack.append((value, node, scope, depth + 1))
                elif isinstance(value, list):
                    stack += [
                        (child, node, scope, depth + 1)
                        for child in reversed(value)
                        if isinstance(child, ast.AST)
                    ]
        for number in opened:
            self._end[number] = len(self._order)

    def _note(self, node: ast.AST, kind: type[ast.AST], parent: ast.AST, number: int) -> None:
        self.parents[node] = parent
        self._start[node] = number
        self._order.append(node)
        self._end.append(number)
        self._nodes.setdefault(kind, []).append(node)


def _tree(source: Source) -> ast.Module:
    skipped = source.first - 1
    try:
        tree = parse(source.text)
    except Unreadable as error:
        raise Unreadable(error.line + skipped, error.why) from None
    if skipped:
        ast.increment_lineno(tree, skipped)
    return tree


def note_names(node: ast.AST, scope: Scope, origins: dict[str, str]) -> None:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            scope.loads.setdefault(name, []).append(node)
            for around in scope.chain():
                around.reads.add(name)
        case ast.Name(id=name):
            scope.bind(name, node)
        case ast.NamedExpr(target=ast.Name(id=name)):
            # A walrus in a comprehension binds in the function around it.
            next(around for around in scope.chain() if not isinstance(around.node, COMPREHENSIONS)).bind(
                name, node
            )
        case ast.arg(arg=name):
            scope.bind(name, node)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            scope.bind(name, node)
        case ast.Import(names=names):
            for alias in names:
                first = alias.name.partition(".")[0]
                scope.bind(alias.asname or first, node)
                origins[alias.asname or first] = alias.name if alias.asname else first
        case ast.ImportFrom(names=names, module=module):
            for alias in names:
                scope.bind(alias.asname or alias.name, node)
                origins[alias.asname or alias.name] = f"{module or ''}.{alias.name}"
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            scope.bind(name, node)
        case ast.MatchMapping(rest=str(name)):
            scope.bind(name, node)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            scope.outer.update(names)
        case _ if type(node).__name__ in ("TypeVar", "ParamSpec", "TypeVarTuple"):  # 3.12's type parameters
            scope.bind(getattr(node, "name", ""), node)


def dotted(node: ast.AST) -> str:
    """ "a.b.c" for such an expression, "" for any other."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def line_of(node: ast.AST) -> int:
    """The line a node begins in; 0 for the few that have none, such as a function's `arguments`."""
    return getattr(node, "lineno", 0)


def last_name(node: ast.AST) -> str:
    """The name a call goes by: `run` for `subprocess.run` and for `f(x).run`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def same(left: ast.AST, right: ast.AST) -> bool:
    """Whether two expressions are written alike."""
    if type(left) is not type(right):
        return False
    for name in left._fields:
        if name == "ctx":
            continue
        one, other = getattr(left, name, None), getattr(right, name, None)
        ones, others = (one, other) if isinstance(one, list) and isinstance(other, list) else ([one], [other])
        if len(ones) != len(others) or not all(map(_alike, ones, others)):
            return False
    return True


def _alike(one: object, other: object) -> bool:
    if isinstance(one, ast.AST):
        return isinstance(other, ast.AST) and same(one, other)
    return type(one) is type(other) and one == other


def pure(node: ast.AST) -> bool:
    """Whether evaluating an expression twice must give the same: no call, await, yield or assignment in
    it."""
    acts = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    return not any(isinstance(part, acts) for part in ast.walk(node))


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    args = function.args
    extra = [arg for arg in (args.vararg, args.kwarg) if arg]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *extra]


def texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def spelled(node: ast.AST) -> str:
    """An expression as text on one line; "" for one too long to be worth writing out again."""
    wide = (getattr(node, "end_col_offset", None) or 0) - getattr(node, "col_offset", 0)
    tall = (getattr(node, "end_lineno", None) or 0) - line_of(node)
    return "" if wide > 2_000 or tall > 40 else ast.unparse(node).replace("\n", " ")


def brief(node: ast.AST, most: int = 40) -> str:
    """An expression as text, short enough for a sentence and harmless inside backquotes."""
    text = spelled(node).replace("`", "'") or "..."
    return text if len(text) <= most else text[: most - 3] + "..."
