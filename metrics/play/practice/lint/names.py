"""Names that are bound and never read, read and never bound, bound twice, or taken from Python's own."""

import ast
import bisect
import builtins
import difflib
import re
from collections.abc import Iterator

from metrics.play.practice.lint.finding import Hit
from metrics.play.practice.lint.tree import FUNCTIONS, Module, Scope, dotted, last_name, line_of, texts
from metrics.play.practice.parsing import words_in

# Built-ins whose loss is felt; the others (id, type, input, format, ...) are everyday names, reported
# only when called.
LOUD = words_in(
    "abs all any bool bytes dict enumerate float frozenset getattr hasattr int isinstance iter len"
    " list map max min next"
    " object open print range repr reversed round set setattr sorted str sum super tuple zip"
)
QUIET = words_in("id type input format hash filter dir vars compile bin hex oct slice")
BUILTINS = set(dir(builtins)) | words_in(
    "__file__ __name__ __doc__ __path__ __package__ __spec__ __loader__ __builtins__"
    " __annotations__ __class__ __module__ __qualname__ __debug__ __dict__"
    " WindowsError reveal_type get_ipython display unicode xrange raw_input long basestring"
)
EXCERPT = 5  # unknown names in a file without imports that still look like mistakes
READS_ALL = {"locals", "vars", "eval", "exec", "globals", "dir"}
ADDS_NAMES = {"exec", "globals", "setattr", "vars", "locals"}
READS_TEXT = {"query", "eval", "evaluate", "format_map"}  # pandas and the like read locals named in a string
FOR_EFFECT = {"readline", "rlcompleter", "antigravity", "this", "__future__", "pretty_errors"}


def unused_local(module: Module) -> Iterator[Hit]:
    for function in module.functions():
        scope = module.scopes[function]
        if scope.reads & READS_ALL:
            continue
        named = _named_in_text(module, function)
        shared = scope.outer.union(*(within.outer for within in _below(scope)))
        for name, nodes in scope.binds.items():
            if name in scope.reads | shared | named or name.startswith("_"):
                continue
            if all(_is_plain_assignment(module, node) for node in nodes):
                said = f"`{name}` is assigned here and never read in `{function.name}`."
                fix = "Use it or delete it; perhaps another name was meant where it should be read."
                yield Hit(line_of(nodes[0]), said, fix)


def _is_plain_assignment(module: Module, node: ast.AST) -> bool:
    """`name = value`: not an argument, a loop's target, a part of a tuple or a `+=`, where not reading is
    no mistake."""
    parent = module.parents[node]
    if isinstance(parent, ast.AnnAssign):
        return parent.value is not None
    return isinstance(parent, ast.Assign) and node in parent.targets


def _below(scope: Scope) -> Iterator[Scope]:
    for within in scope.within:
        yield within
        yield from _below(within)


def _named_in_text(module: Module, function: ast.AST) -> set[str]:
    """Words in strings given to calls that look local names up themselves."""
    calls = [
        node
        for node in module.under(function)
        if isinstance(node, ast.Call) and last_name(node.func) in READS_TEXT
    ]
    return {word for call in calls for text in texts(module.under(call)) for word in re.findall(r"\w+", text)}


def unused_import(module: Module) -> Iterator[Hit]:
    imports: list[ast.Import | ast.ImportFrom] = [*module.of(ast.Import), *module.of(ast.ImportFrom)]
    if all(_hands_on(node) for node in module.tree.body) or module.source.name.endswith(
        ("__init__.py", "compat.py")
    ):
        return
    said_elsewhere = _words_in_strings(module)
    for node in imports:
        scope = module.scope(node)
        if not _is_ordinary(module, node) or isinstance(scope.node, ast.ClassDef):
            continue
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            kept = (
                alias.name == "*" or alias.asname == alias.name or name in FOR_EFFECT or name.startswith("_")
            )
            if kept or name in scope.reads or name in said_elsewhere or _shares_a_root(scope, name):
                continue
            yield Hit(
                node.lineno,
                f"`{name}` is imported and never used.",
                "Remove it, or use it where it was meant.",
            )


def _hands_on(node: ast.stmt) -> bool:
    """A module of nothing but imports and a docstring is there to pass names on."""
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or isinstance(node, (ast.Import, ast.ImportFrom))


def _is_ordinary(module: Module, node: ast.Import | ast.ImportFrom) -> bool:
    """Not `from __future__`, not a try whether a module is there, not behind an `if` that chooses between
    two."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("_"):
        return False  # also a module's compiled half, which it hands on
    return not any(isinstance(parent, (ast.Try, ast.TryStar, ast.With)) for parent in module.above(node))


def _shares_a_root(scope: Scope, name: str) -> bool:
    """`import os` and `import os.path` bind the same name; a second binding may also be a deliberate
    replacement."""
    return len(scope.binds.get(name, [])) > 1 or name in scope.outer


def _words_in_strings(module: Module) -> set[str]:
    """Words in strings that could be read as code: `__all__`, quoted annotations, doctests; not ordinary
    sentences."""
    codelike = (
        text
        for text in texts(module.of(ast.Constant))
        if ">>>" in text or re.fullmatch(r"[\w.\[\], |*]+", text)
    )
    return {word for text in codelike for word in re.findall(r"\w+", text)} | _words_in_type_comments(module)


def _words_in_type_comments(module: Module) -> set[str]:
    comments = [line.partition("# type:")[2] for line in module.lines if "# type:" in line]
    return {word for comment in comments for word in re.findall(r"\w+", comment)}


def shadowed_builtin(module: Module) -> Iterator[Hit]:
    for scope in module.scopes.values():
        if (
            isinstance(scope.node, ast.ClassDef)
            or isinstance(scope.above and scope.above.node, ast.ClassDef)
            and _is_stub(scope)
        ):
            continue
        for name in scope.binds.keys() & (LOUD | QUIET):
            node = scope.binds[name][0]
            on_purpose = isinstance(node, FUNCTIONS) and scope.node is module.tree  # a module's own `open`
            imported = isinstance(node, (ast.Import, ast.ImportFrom))
            if imported or on_purpose or name in scope.outer or _is_a_choice(module, node):
                continue
            called = _called_after(module, scope, name, line_of(node))
            line = line_of(node) or line_of(scope.node)
            if called and not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.arg)):
                said = f"`{name}` here hides the built-in that line {called} goes on to call."
            elif name in LOUD and not isinstance(scope.node, ast.Lambda):
                said = f"`{name}` here hides Python's own `{name}` for the rest of this scope."
            else:
                continue
            yield Hit(line, said, f"Choose another name, such as `{name}_` or what it holds.")


def _is_stub(scope: Scope) -> bool:
    """A method without a body of its own (an interface, an overload) only names its arguments."""
    return not scope.loads and isinstance(scope.node, FUNCTIONS)


def _is_a_choice(module: Module, node: ast.AST) -> bool:
    """Under `try` or `if` at the top a name is taken on purpose, for older Pythons."""
    parents = list(module.above(node))
    inside = any(isinstance(parent, FUNCTIONS) for parent in parents)
    return not inside and any(isinstance(parent, (ast.Try, ast.If)) for parent in parents)


def _called_after(module: Module, scope: Scope, name: str, line: int) -> int | None:
    """The line where the name is called as a function after it was bound, in the same scope."""
    for load in scope.loads.get(name, []):
        parent = module.parents[load]
        if isinstance(parent, ast.Call) and parent.func is load and load.lineno > line:
            return load.lineno
    return None


def duplicate_definition(module: Module) -> Iterator[Hit]:
    assigned = {node.id for node in module.of(ast.Name) if not isinstance(node.ctx, ast.Load)}
    for body in module.bodies():
        first: dict[str, ast.stmt] = {}
        for node in body:
            if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                continue
            before = first.get(node.name)
            first[node.name] = node
            if before is None or node.name == "_" or _is_decorated(before) or _is_decorated(node):
                continue
            if node.name not in assigned and not _is_used_between(module, node.name, before, node):
                said = (
                    f"`{node.name}` is already defined in line {before.lineno}; that first one can"
                    " never be used."
                )
                yield Hit(node.lineno, said, "Rename one of them, or delete the one that is left over.")


def _is_decorated(node: ast.stmt) -> bool:
    """Overloads, property setters and registrations share a name on purpose."""
    return bool(getattr(node, "decorator_list", ()))


def _is_used_between(module: Module, name: str, before: ast.stmt, after: ast.stmt) -> bool:
    lines = module.uses.get(name, [])
    return bisect.bisect_left(lines, after.lineno) > bisect.bisect_right(lines, before.end_lineno or 0)


def undefined_name(module: Module) -> Iterator[Hit]:
    """A name that nothing in the whole file binds. Only for a file somebody named: a snippet leaves its
    imports out."""
    if (
        not module.source.named
        or module.stopped
        or any(alias.name == "*" for node in module.of(ast.ImportFrom) for alias in node.names)
    ):
        return
    bound = module.bound | module.outer
    if any(
        dotted(call.func) in ADDS_NAMES or last_name(call.func) == "_convert_" for call in module.of(ast.Call)
    ):
        return
    unknown: dict[str, ast.Name] = {}
    for scope in module.scopes.values():
        for name in scope.loads.keys() - bound - BUILTINS:
            if not _is_guarded(module, scope.loads[name][0]):
                unknown.setdefault(name, scope.loads[name][0])
    if len(unknown) > EXCERPT and not module.origins:
        return  # a piece of a file, under the whole file's name
    for name, node in unknown.items():
        near = (
            difflib.get_close_matches(name, sorted(bound), 1, 0.8)
            if len(unknown) < 10 and len(bound) < 2000
            else []
        )
        fix = f"Perhaps `{near[0]}` was meant." if near else "Define or import it."
        yield Hit(node.lineno, f"nothing in this file defines `{name}`: a NameError when this runs.", fix)


def _is_guarded(module: Module, node: ast.AST) -> bool:
    """`try: unicode except NameError:` asks whether the name is there; a quoted or postponed annotation
    never runs."""
    for parent in module.above(node):
        if isinstance(parent, ast.Try):
            handled = [dotted(handler.type) for handler in parent.handlers if handler.type]
            if "NameError" in handled or len(handled) < len(parent.handlers):
                return True
        if isinstance(parent, (ast.AnnAssign, ast.arg)):
            return True
    return False
