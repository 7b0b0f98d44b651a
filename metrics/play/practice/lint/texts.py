"""Strings: placeholders that do not fit their values, an `f` too many or too few, results of string
methods thrown away.
"""

import ast
import re
import string
from collections.abc import Iterator

from metrics.play.practice.lint.finding import Hit
from metrics.play.practice.lint.tree import Module, brief, last_name, spelled

# Possessive and bounded: the string under review may be hostile.
PERCENT = re.compile(
    r"%(?:\((?P<key>[^)%]{0,100})\))?[#0\-"
    r" +]*+(?P<width>\*|\d++)?(?:\.(?P<precision>\*|\d++))?[hlL]?(?P<kind>[a-zA-Z%])"
)
LOG_METHODS = {"debug", "info", "warning", "warn", "error", "critical", "exception"}
LOGGERS = re.compile(r"_?(?:log|logger|logging)$", re.I)
FIELD = re.compile(r"\{([a-z_]\w*)(?:\.\w+|\[\w+\])*(?::[^{}]*|![rsa])?\}", re.I)
WASTED = {
    "strip",
    "lstrip",
    "rstrip",
    "lower",
    "upper",
    "capitalize",
    "swapcase",
    "casefold",
    "zfill",
    "splitlines",
}


def no_placeholders(module: Module) -> Iterator[Hit]:
    for node in module.of(ast.JoinedStr):
        parent = module.parents[node]
        if isinstance(parent, ast.FormattedValue) and parent.format_spec is node:
            continue
        if any(isinstance(part, ast.FormattedValue) for part in node.values):
            continue
        if "{" in "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant)):
            continue
        said = f"`{brief(node, 30)}` has no placeholder, so the `f` does nothing."
        yield Hit(node.lineno, said, "Drop the `f`, or put the value in braces if one was meant.")


def forgotten_f(module: Module) -> Iterator[Hit]:
    """Text shown to somebody that names local variables in braces, and is not an f-string."""
    for node in module.of(ast.Constant):
        if not isinstance(node.value, str) or not _is_shown(module, node):
            continue
        fields = FIELD.findall(node.value)
        if fields and len(fields) == node.value.count("{") and _are_known(module, node, fields):
            said = f"`{{{fields[0]}}}` is shown as it stands: this string has no `f` before it."
            yield Hit(node.lineno, said, "Write `f` before the opening quote.")


def _are_known(module: Module, node: ast.AST, names: list[str]) -> bool:
    scopes = list(module.scope(node).chain())
    return all(any(name in scope.binds for scope in scopes) for name in names)


def _is_shown(module: Module, node: ast.AST) -> bool:
    """Whether the string is an argument of `print` or of an exception being raised."""
    call = module.parents[node]
    if not isinstance(call, ast.Call) or node not in call.args:
        return False
    return last_name(call.func) == "print" or isinstance(module.parents[call], ast.Raise)


def percent_mismatch(module: Module) -> Iterator[Hit]:
    for node in module.of(ast.BinOp):
        if (
            isinstance(node.op, ast.Mod)
            and isinstance(node.left, ast.Constant)
            and isinstance(node.left.value, str)
        ):
            yield from _percent(module, node, node.left.value, node.right)


def _percent(module: Module, node: ast.BinOp, text: str, right: ast.expr) -> Iterator[Hit]:
    keys, wanted = _placeholders(text)
    if keys:
        given = _keys_of(right)
        missing = [key for key in keys if given is not None and key not in given]
        if missing:
            yield Hit(
                node.lineno,
                f"the dictionary has no key `{missing[0]}` for `%({missing[0]})`.",
                "Add the key, or correct its name.",
            )
        return
    given_count = _count(module, right)
    if given_count is not None and given_count != wanted:
        said = (
            f"`{brief(node.left, 30)}` has {_many(wanted, 'placeholder')} and gets"
            f" {_many(given_count, 'value')}: a TypeError."
        )
        yield Hit(node.lineno, said, "Give one value in the tuple for each placeholder.")


def _placeholders(text: str) -> tuple[list[str], int]:
    """Keys of `%(key)s` placeholders, and how many values the others take."""
    keys: list[str] = []
    wanted = 0
    for match in PERCENT.finditer(text):
        if match["kind"] == "%":
            continue
        if match["key"] is not None:
            keys.append(match["key"])
        wanted += 1 + (match["width"] == "*") + (match["precision"] == "*")
    return keys, wanted


def _keys_of(node: ast.expr) -> set[object] | None:
    if not isinstance(node, ast.Dict) or not all(isinstance(key, ast.Constant) for key in node.keys):
        return None
    return {key.value for key in node.keys if isinstance(key, ast.Constant)}


def _count(module: Module, node: ast.expr) -> int | None:
    """How many values stand right of `%`; None where a name could hold a tuple or a mapping."""
    if isinstance(node, ast.Tuple):
        return None if any(isinstance(item, ast.Starred) for item in node.elts) else len(node.elts)
    if isinstance(node, (ast.Constant, ast.JoinedStr, ast.List, ast.ListComp)):
        return 1
    if isinstance(node, ast.Call) and last_name(node.func) in (
        "len",
        "str",
        "int",
        "float",
        "sum",
        "repr",
        "round",
    ):
        return 1
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow)):
        return 1  # no tuple can come of these
    return 1 if isinstance(node, ast.Name) and _holds_one(module, node) else None


def _holds_one(module: Module, node: ast.Name) -> bool:
    """Whether the name is surely a number or text: annotated so, or only ever assigned such constants."""
    givers = module.givers(node, node.id)
    return bool(givers) and all(map(_gives_one, givers))


def _gives_one(giver: ast.AST) -> bool:
    if isinstance(giver, ast.arg):
        return isinstance(giver.annotation, ast.Name) and giver.annotation.id in (
            "int",
            "str",
            "float",
            "bool",
        )
    return isinstance(giver, ast.Assign) and isinstance(giver.value, (ast.Constant, ast.JoinedStr))


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def log_mismatch(module: Module) -> Iterator[Hit]:
    for call in module.of(ast.Call):
        text = call.args[0] if call.args else None
        if not isinstance(text, ast.Constant) or not isinstance(text.value, str) or not _is_log(call):
            continue
        keys, wanted = _placeholders(text.value)
        given = len(call.args) - 1
        if keys or given == wanted or not given or any(isinstance(arg, ast.Starred) for arg in call.args):
            continue
        if "{" in text.value and not wanted:
            continue  # a logger of the brace kind
        said = (
            f"the message has {_many(wanted, 'placeholder')} and gets {_many(given, 'value')}, so"
            " logging prints an error instead of it."
        )
        yield Hit(call.lineno, said, "Give one value for each placeholder.")


def _is_log(call: ast.Call) -> bool:
    func = call.func
    return (
        isinstance(func, ast.Attribute)
        and func.attr in LOG_METHODS
        and LOGGERS.search(last_name(func.value)) is not None
    )


def format_mismatch(module: Module) -> Iterator[Hit]:
    for call in module.of(ast.Call):
        func = call.func
        if not (
            isinstance(func, ast.Attribute) and func.attr == "format" and isinstance(func.value, ast.Constant)
        ):
            continue
        text = func.value.value
        open_ended = any(isinstance(arg, ast.Starred) for arg in call.args) or any(
            not word.arg for word in call.keywords
        )
        if isinstance(text, str) and not open_ended:
            yield from _format(call, text)


def _format(call: ast.Call, text: str) -> Iterator[Hit]:
    fields = _fields(text)
    if fields is None:
        return
    given = {word.arg for word in call.keywords}
    missing = sorted({name for name in fields if not name.isdigit() and name not in given})
    highest = max((int(name) + 1 for name in fields if name.isdigit()), default=0)
    if missing:
        yield Hit(
            call.lineno,
            f"nothing is given for `{{{missing[0]}}}`: a KeyError.",
            "Pass it by name to `format`.",
        )
    elif highest > len(call.args):
        said = f"the text asks for {_many(highest, 'value')} and gets {len(call.args)}: an IndexError."
        yield Hit(call.lineno, said, "Give one value for each pair of braces.")
    elif highest < len(call.args):
        said = (
            f"{_many(len(call.args), 'value')} given and {_many(highest, 'place')} to put them: the"
            " rest is silently dropped."
        )
        yield Hit(call.lineno, said, "Add the missing `{}`, or drop the value.")


def _fields(text: str) -> list[str] | None:
    """Names and positions that a format string reads, automatic ones numbered; None if it does not parse."""
    found: list[str] = []

    def read(part: str, depth: int) -> None:
        for _, name, spec, _ in string.Formatter().parse(part):
            if name is not None:
                first = re.split(r"[.\[]", name, maxsplit=1)[0]
                found.append(first or str(sum(1 for known in found if known.isdigit())))
                if spec and depth:
                    read(spec, depth - 1)

    try:
        read(text, 1)
    except ValueError:
        return None
    return found


def thrown_away(module: Module) -> Iterator[Hit]:
    if any(origin.startswith("tkinter") for origin in module.origins.values()):
        return  # windows have methods of these names
    for node in module.of(ast.Expr):
        call = node.value
        if not isinstance(call, ast.Call):
            continue
        name = last_name(call.func)
        if isinstance(call.func, ast.Attribute):
            wasted = (name in WASTED and not call.keywords and len(call.args) < 2) or (
                name == "replace"
                and len(call.args) == 2
                and any(isinstance(arg, ast.Constant) for arg in call.args)
            )
            what = f"`{name}` returns a new string and changes nothing in place"
        else:
            wasted = name in ("sorted", "reversed") and bool(call.args)
            what = f"`{name}` returns something new and changes nothing in place"
        if wasted and not _is_tried(module, node):
            yield Hit(node.lineno, f"{what}; its result is thrown away here.", "Assign it: `name = ...`.")


def _is_tried(module: Module, node: ast.AST) -> bool:
    """Whether a call is made to see if it raises: in a `try`, or under `assertRaises` and its like."""
    for parent in module.above(node):
        if isinstance(parent, ast.Try) and parent.handlers:
            return True
        if isinstance(parent, ast.With) and any("raise" in spelled(item).lower() for item in parent.items):
            return True
    return False
