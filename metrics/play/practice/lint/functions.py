"""Functions and classes: what a signature keeps, what a call passes, what a method gives back."""

import ast
import re
from collections.abc import Iterator

from metrics.play.practice.lint.finding import Hit
from metrics.play.practice.lint.tree import FUNCTIONS, Function, Module, brief, dotted, last_name, parameters
from metrics.play.practice.parsing import words_in

FRESH = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MAKERS = {"list", "dict", "set", "bytearray", "deque", "defaultdict", "OrderedDict", "Counter"}
GROWS = words_in("append extend insert add update setdefault pop popitem remove clear discard sort reverse")
MEMO = re.compile(r"_.*(?:cache|memo|seen|state)|_?(?:cache|memo)$")
IMPLICIT = {"__new__", "__init_subclass__", "__class_getitem__"}
NOT_INSTANCES = {"Interface", "Protocol", "TypedDict", "NamedTuple"}


def changed_default(module: Module) -> Iterator[Hit]:
    for function, arg, default in _mutable_defaults(module):
        line = _changed_in(module, function, arg.arg)
        if line:
            yield _shared(
                function,
                arg,
                default,
                f"line {line} changes it, so what it holds carries over from call to call",
            )


def mutable_default(module: Module) -> Iterator[Hit]:
    for function, arg, default in _mutable_defaults(module):
        if not _changed_in(module, function, arg.arg):
            yield _shared(function, arg, default, "whoever changes it changes it for the next call too")


def _shared(function: Function | ast.Lambda, arg: ast.arg, default: ast.expr, then: str) -> Hit:
    name = "this lambda" if isinstance(function, ast.Lambda) else f"`{function.name}`"
    value = brief(default, 20)
    said = f"`{arg.arg}={value}` is made once and shared by every call of {name}; {then}."
    return Hit(default.lineno, said, f"Default to None; inside, `if {arg.arg} is None: {arg.arg} = {value}`.")


def _mutable_defaults(module: Module) -> Iterator[tuple[Function | ast.Lambda, ast.arg, ast.expr]]:
    """Mutable defaults that are not there on purpose: `_cache={}`, or a nested function's state such as
    `count=[0]`."""
    for function in [*module.functions(), *module.of(ast.Lambda)]:
        nested = module.function(function) is not None
        for arg, default in _defaults(function):
            state = nested and isinstance(default, ast.List) and default.elts
            private = MEMO.match(arg.arg) or state or _is_a_constant(module, function, arg.arg, default)
            if _is_mutable(default) and not private:
                yield function, arg, default


def _is_a_constant(module: Module, function: Function | ast.Lambda, name: str, default: ast.expr) -> bool:
    """Whether a default is a table that the function only looks things up in, or a private mark such as
    `_nothing=[]`."""
    filled = any(getattr(default, field, None) for field in ("elts", "keys"))
    uses = [node for node in module.under(function) if isinstance(node, ast.Name) and node.id == name]
    looks = all(isinstance(module.parents[use], (ast.Compare, ast.For, ast.comprehension)) for use in uses)
    return bool(uses) and looks and (filled or name.startswith("_"))


def _defaults(function: Function | ast.Lambda) -> Iterator[tuple[ast.arg, ast.expr]]:
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    yield from zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)
    yield from (
        (arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default
    )


def _is_mutable(node: ast.expr) -> bool:
    return isinstance(node, FRESH) or (isinstance(node, ast.Call) and last_name(node.func) in MAKERS)


def _changed_in(module: Module, function: Function | ast.Lambda, name: str) -> int | None:
    """The line where a function changes what the name holds."""
    for node in module.under(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=held), attr=attr)) if (
                held == name and attr in GROWS
            ):
                return node.lineno
            case ast.Subscript(value=ast.Name(id=held), ctx=ast.Store() | ast.Del()) if held == name:
                return node.lineno
            case ast.AugAssign(target=ast.Name(id=held)) if held == name:
                return node.lineno
    return None


def methods(module: Module) -> Iterator[tuple[ast.ClassDef, Function]]:
    for owner in module.of(ast.ClassDef):
        yield from ((owner, node) for node in owner.body if isinstance(node, FUNCTIONS))


def missing_self(module: Module) -> Iterator[Hit]:
    for owner, method in methods(module):
        bases = {last_name(base) for base in owner.bases}
        if (
            method.decorator_list
            or method.name in IMPLICIT
            or bases & NOT_INSTANCES
            or _is_called_bare(module, owner, method)
        ):
            continue
        named = parameters(method)
        if not named:
            said = (
                f"`{owner.name}.{method.name}` takes no argument, so calling it on an instance is a"
                " TypeError."
            )
            yield Hit(method.lineno, said, f"Write `def {method.name}(self):`, or make it a `@staticmethod`.")
        elif not _knows_self(module, method):
            use = next(
                (node for node in module.inside(method) if isinstance(node, ast.Name) and node.id == "self"),
                None,
            )
            if use:
                said = (
                    f"`{owner.name}.{method.name}` uses `self` in line {use.lineno} and does not take"
                    " it: a NameError."
                )
                yield Hit(method.lineno, said, "Put `self` first among its arguments.")


def _is_called_bare(module: Module, owner: ast.ClassDef, method: Function) -> bool:
    """A function in a class body may be a tool for that body alone: a decorator, or called while the
    class is made."""
    return method.name in module.scopes[owner].loads


def _knows_self(module: Module, method: Function) -> bool:
    return any("self" in scope.binds for scope in module.scopes[method].chain())


def value_from_init(module: Module) -> Iterator[Hit]:
    for owner, method in methods(module):
        if method.name != "__init__":
            continue
        for node in module.inside(method):
            gives = (
                isinstance(node, ast.Return)
                and node.value
                and not (isinstance(node.value, (ast.Constant, ast.Call, ast.IfExp)))
            )
            if gives and isinstance(node, ast.Return):
                said = f"`{owner.name}.__init__` returns a value: a TypeError as soon as an object is made."
                yield Hit(
                    node.lineno, said, "Set attributes here; return values from a class method instead."
                )


def shared_attribute(module: Module) -> Iterator[Hit]:
    """A list or dict in the class body that methods change through `self`: all instances share it."""
    for owner in module.of(ast.ClassDef):
        changed, assigned = _self_changes(module, owner)
        for node in owner.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if not (
                isinstance(node, ast.Assign) and isinstance(target, ast.Name) and _is_mutable(node.value)
            ):
                continue
            if (
                target.id in changed
                and target.id not in assigned
                and not target.id.isupper()
                and not _is_registry(target.id)
            ):
                said = (
                    f"`{target.id}` belongs to the class, so all instances of `{owner.name}` share it;"
                    f" line {changed[target.id]} changes it through `self`."
                )
                yield Hit(node.lineno, said, f"Set `self.{target.id}` in `__init__`.")


def _is_registry(name: str) -> bool:
    return re.search(r"cache|registry|instances|shared|memo|pool|lock", name, re.I) is not None


def _self_changes(module: Module, owner: ast.ClassDef) -> tuple[dict[str, int], set[str]]:
    """Attributes that methods change through `self` (with the line), and those they set."""
    changed: dict[str, int] = {}
    assigned: set[str] = set()
    for node in module.under(owner):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=name), attr=attr)
            ) if attr in GROWS:
                changed.setdefault(name, node.lineno)
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id="self"), attr=name), ctx=ast.Store() | ast.Del()
            ):
                changed.setdefault(name, node.lineno)
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                assigned.add(name)
    return changed, assigned


def call_mismatch(module: Module) -> Iterator[Hit]:
    """Calls of the file's own plain functions with arguments they cannot take."""
    known = {
        node.name: node
        for node in module.tree.body
        if isinstance(node, FUNCTIONS) and not node.decorator_list
    }
    rebound = {
        name
        for scope in module.scopes.values()
        for name, places in scope.binds.items()
        if name in known and len(places) > (scope.node is module.tree)
    }
    outer = {name for scope in module.scopes.values() for name in scope.outer}
    for call in module.of(ast.Call):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name in known and name not in rebound | outer:
            wrong = _does_not_fit(call, known[name].args)
            if wrong:
                said = f"`{name}` is defined in line {known[name].lineno} and {wrong}: a TypeError."
                yield Hit(call.lineno, said, "Correct the call or the definition.")


def _does_not_fit(call: ast.Call, args: ast.arguments) -> str:
    """Why a call does not fit a signature, as the end of a sentence; "" when it does or nobody can say."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(
        word.arg is None for word in call.keywords
    ):
        return ""
    positional = [arg.arg for arg in [*args.posonlyargs, *args.args]]
    named = {word.arg for word in call.keywords}
    if len(call.args) > len(positional) and not args.vararg:
        return f"takes at most {len(positional)} positional arguments, not {len(call.args)}"
    unknown = named - set(positional[len(args.posonlyargs) :]) - {arg.arg for arg in args.kwonlyargs}
    if unknown and not args.kwarg:
        return f"has no argument `{sorted(map(str, unknown))[0]}`"
    needed = positional[: len(positional) - len(args.defaults)][len(call.args) :]
    needed += [
        arg.arg for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is None
    ]
    missing = [name for name in needed if name not in named]
    return f"needs `{missing[0]}`, which is not given" if missing else ""


def not_awaited(module: Module) -> Iterator[Hit]:
    """A call of the file's own `async def` as a statement: it makes a coroutine and runs nothing."""
    top = {
        node.name
        for node in module.tree.body
        if isinstance(node, ast.AsyncFunctionDef) and not node.decorator_list
    }
    plain = {node.name for node in module.of(ast.FunctionDef)}
    own_methods = {
        (owner, node.name)
        for owner, node in methods(module)
        if isinstance(node, ast.AsyncFunctionDef) and not node.decorator_list
    }
    for node in module.of(ast.Expr):
        if not isinstance(node.value, ast.Call):
            continue
        name = dotted(node.value.func)
        owner = next((parent for parent in module.above(node) if isinstance(parent, ast.ClassDef)), None)
        method = name.removeprefix("self.")
        if (name in top and name not in plain) or (
            name != method and owner and (owner, method) in own_methods
        ):
            said = f"`{name}` is `async`: without `await` this line makes a coroutine and runs nothing."
            yield Hit(node.lineno, said, f"Write `await {name}(...)`.")


def none_from_method(module: Module) -> Iterator[Hit]:
    """The result of a method that works in place: None."""
    for call in module.of(ast.Call):
        if not _is_in_place(module, call):
            continue
        parent = module.parents[call]
        used = isinstance(parent, (ast.Assign, ast.AnnAssign, ast.For, ast.Attribute, ast.Subscript))
        if isinstance(parent, ast.Return):
            used = any(
                isinstance(node, ast.Return) and node.value and node is not parent
                for node in module.own(*_around(module, call))
            )
        if used:
            said = f"`{brief(call.func)}` works in place and returns None, which is what is kept here."
            yield Hit(call.lineno, said, "Call it on a line of its own, then use the list.")


def _around(module: Module, node: ast.AST) -> list[ast.stmt]:
    function = module.function(node)
    return function.body if function else []


def _is_in_place(module: Module, call: ast.Call) -> bool:
    func = call.func
    if module.origin(func) == "random.shuffle":
        return True
    if not isinstance(func, ast.Attribute) or func.attr not in (
        "sort",
        "reverse",
        "append",
        "extend",
        "insert",
        "remove",
    ):
        return False
    return isinstance(func.value, ast.List) or (
        isinstance(func.value, ast.Name) and _is_a_list(module, func.value)
    )


def _is_a_list(module: Module, name: ast.Name) -> bool:
    """Whether every binding of the name in its scope gives it a list."""
    givers = module.givers(name, name.id)
    kept = [giver for giver in givers if not _takes_from_itself(giver, name.id)]
    lists = [isinstance(giver, (ast.Assign, ast.AnnAssign)) and _makes_list(giver.value) for giver in kept]
    return bool(lists) and all(lists)


def _takes_from_itself(giver: ast.AST, name: str) -> bool:
    """`items = items.sort()`: the assignment that is under suspicion says nothing of what was there
    before."""
    func = giver.value.func if isinstance(giver, ast.Assign) and isinstance(giver.value, ast.Call) else None
    return isinstance(func, ast.Attribute) and dotted(func.value) == name


def _makes_list(node: ast.expr | None) -> bool:
    made = isinstance(node, ast.Call) and dotted(node.func) in ("list", "sorted")
    return made or isinstance(node, (ast.List, ast.ListComp))
