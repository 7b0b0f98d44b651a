"""practice-counter: sizes and shapes, no opinions. Complexity is McCabe's: 1 and one for each way the
control can fork.
"""

import ast
from dataclasses import dataclass

from metrics.play.practice.lint.tree import FUNCTIONS, Function, Module
from metrics.play.practice.parsing import Source, Unreadable

FORKS = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.Assert,
    ast.comprehension,
    ast.match_case,
)
NESTS = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
    *FUNCTIONS,
    ast.ClassDef,
)
TOP = 5


@dataclass(frozen=True, slots=True)
class Lines:
    """How a file's lines divide. A line that holds code and a comment is code; docstrings are code to
    Python and to us."""

    all: int
    code: int
    comments: int
    blank: int


@dataclass(frozen=True, slots=True)
class Measure:
    """One function: lines from its `def` to its end, McCabe complexity, how deep it nests."""

    name: str
    line: int
    lines: int
    complexity: int
    depth: int


def lines_of(source: Source, module: Module | None = None) -> Lines:
    """The division of a source's lines; without a tree, every line that begins with `#` counts as a
    comment."""
    rows, first = source.rows, source.first + source.props[0]
    blank = sum(1 for row in rows if not row.strip())
    hashes = {number for number, row in enumerate(rows, start=first) if row.lstrip().startswith("#")}
    comments = len(hashes - _inside_strings(module) if module and hashes else hashes)
    return Lines(len(rows), len(rows) - blank - comments, comments, blank)


def _inside_strings(module: Module) -> set[int]:
    """Lines within strings, after their first: a `#` at the start of one is no comment."""
    strings = [node for node in [*module.of(ast.Constant), *module.of(ast.JoinedStr)] if node.end_lineno]
    return {line for node in strings for line in range(node.lineno + 1, (node.end_lineno or 0) + 1)}


def measures(module: Module) -> list[Measure]:
    """All functions of a file, in the order of its text."""
    found = [_measure(module, function) for function in module.functions()]
    return sorted(found, key=lambda measure: measure.line)


def _measure(module: Module, function: Function) -> Measure:
    owners = [
        parent.name for parent in module.above(function) if isinstance(parent, (*FUNCTIONS, ast.ClassDef))
    ]
    name = ".".join([*reversed(owners), function.name])
    size = (function.end_lineno or function.lineno) - function.lineno + 1
    return Measure(
        name,
        function.lineno,
        size,
        complexity(module, function),
        depth(function.body),
    )


def complexity(module: Module, function: Function) -> int:
    forks = 1
    for node in module.inside(function):
        forks += isinstance(node, FORKS)
        forks += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
        forks += len(node.ifs) if isinstance(node, ast.comprehension) else 0
    return forks


def depth(body: list[ast.stmt]) -> int:
    """How many statements stand around the deepest one; an `elif` is as deep as its `if`."""
    deepest = 0
    for statement in body:
        if not isinstance(statement, NESTS):
            continue
        inner = depth(statement.body) if not isinstance(statement, ast.Match) else 0
        for holder in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            inner = max(inner, depth(holder.body))
        other = getattr(statement, "orelse", [])
        is_elif = isinstance(statement, ast.If) and len(other) == 1 and isinstance(other[0], ast.If)
        inner = max(inner, depth(other) - is_elif, depth(getattr(statement, "finalbody", [])))
        deepest = max(deepest, inner + 1)
    return deepest


def report(source: Source) -> str:
    """A Python source in numbers, as Markdown."""
    try:
        module = Module(source)
    except Unreadable as error:
        where = f"line {error.line}: {error.why}"
        return f"{_sizes(source, None)} It does not parse ({where}), so its functions are not counted."
    found = measures(module)
    classes = len(module.of(ast.ClassDef))
    facts = [
        f"{_many(len(found), 'function')}, {_many(classes, 'class', 'classes')}, {_imports(module)}, "
        f"nesting {depth(module.tree.body)} deep."
    ]
    if found:
        longest = max(found, key=lambda measure: measure.lines)
        facts.append(
            f"Longest function: `{longest.name}` (line {longest.line}), {_many(longest.lines, 'line')}."
        )
        facts.append(_table(source, found))
    return "\n".join([_sizes(source, module), *facts])


def _sizes(source: Source, module: Module | None) -> str:
    lines = lines_of(source, module)
    counts = f"{lines.code} code, {_many(lines.comments, 'comment')}, {lines.blank} blank"
    return f"**{source.name}**: {size(source)}: {counts}."


def size(source: Source) -> str:
    """How long a source is, in words; of a piece of a diff, how much of that was added."""
    lines = _many(len(source.rows), "line")
    return lines if source.changed is None else f"{lines} of a diff, {len(source.changed):,} added"


def _table(source: Source, found: list[Measure]) -> str:
    ranked = sorted(found, key=lambda measure: (-measure.complexity, measure.line))[:TOP]
    rows = [
        f"| `{one.name}` | `{source.name}:{one.line}` | {one.complexity} | {one.lines} | {one.depth} |"
        for one in ranked
    ]
    return "\n".join(
        ["", "| function | where | complexity | lines | nesting |", "|---|---|---:|---:|---:|", *rows]
    )


def _imports(module: Module) -> str:
    names = {alias.name for node in module.of(ast.Import) for alias in node.names}
    names |= {"." * node.level + (node.module or "") for node in module.of(ast.ImportFrom)}
    shown = ", ".join(f"`{name}`" for name in sorted(names)[:8])
    return _many(len(names), "import") + (f" ({shown}{', ...' if len(names) > 8 else ''})" if names else "")


def report_text(name: str, text: str) -> str:
    """Text that is not Python, in numbers."""
    rows = text.removesuffix("\n").split("\n") if text else []
    widths = [len(row) for row in rows]
    longest = (
        f" Longest line: {max(widths)} characters (line {widths.index(max(widths)) + 1})." if rows else ""
    )
    return (
        f"**{name}**: {_many(len(text.split()), 'word')}, {_many(len(rows), 'line')},"
        f" {_many(len(text), 'character')}.{longest}"
    )


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"
