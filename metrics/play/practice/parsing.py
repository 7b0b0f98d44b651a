"""Text to tree, whatever the text: everything `ast.parse` can throw at hostile input is caught here, once."""

import ast
import re
import textwrap
import warnings
from dataclasses import dataclass

LIMIT = 1_000_000  # characters of one source; more is a generated file, and no review of it would be read
DENSE = 200_000  # words and signs; ordinary code of a million characters has about as many
TOKEN = re.compile(r"\w+|[^\w\s]")
FILE = "<practice>"
WORDLIKE = (ast.Name, ast.Constant, ast.Attribute, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.BoolOp)


@dataclass(frozen=True, slots=True)
class Source:
    """Python to review. `first` is the number of its first line in the file; `changed` holds the lines a
    diff added (None: all count); `whole` is False for a piece of a file, where what is missing proves
    nothing; `last` says that it ends where the file ends; `named` that the caller gave the file's name;
    `props` is how many lines stand before and after the file's own, to make a piece parse."""

    name: str
    text: str
    first: int = 1
    changed: frozenset[int] | None = None
    whole: bool = True
    named: bool = False
    last: bool = True
    props: tuple[int, int] = (0, 0)

    @property
    def rows(self) -> list[str]:
        """The file's own lines in it; what ends in a newline has none after it."""
        rows = self.text.removesuffix("\n").split("\n") if self.text else []
        before, after = self.props
        return rows[before : len(rows) - after]


class Unreadable(Exception):
    """A source that does not parse: the line (of the text, from 1; of the file, once a source is known) and
    why."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line
        self.why = why


def parse(text: str) -> ast.Module:
    """The tree of a source, indented as a whole or not. Raises Unreadable."""
    if len(text) > LIMIT:
        raise Unreadable(1, f"it is longer than {LIMIT:,} characters")
    if len(text) > DENSE and sum(1 for _ in TOKEN.finditer(text)) > DENSE:
        raise Unreadable(1, f"it is too large: more than {DENSE:,} words and signs")
    text = text.removeprefix("\ufeff")
    try:
        return _parse(text)
    except Unreadable:
        loose = textwrap.dedent(text)
        if loose == text:
            raise
        return _parse(loose)


def tree_of(text: str) -> ast.Module | None:
    try:
        return parse(text)
    except Unreadable:
        return None


def _parse(text: str) -> ast.Module:
    # A reviewed file's bad escapes would be printed on the server's stderr; the file name keeps the
    # filter to our parses.
    warnings.filterwarnings("ignore", module=FILE)
    try:
        return ast.parse(text, filename=FILE)
    except SyntaxError as error:
        raise Unreadable(error.lineno or 1, error.msg or "invalid syntax") from None
    except (RecursionError, MemoryError):
        raise Unreadable(1, "it is nested too deeply to read") from None
    except (ValueError, OverflowError) as error:  # NUL bytes, lone surrogates, integers of 5,000 digits
        raise Unreadable(
            1, str(error).partition("(")[0].strip() or "it holds characters Python does not take"
        ) from None


def looks_like_code(tree: ast.Module) -> bool:
    """Whether a tree is more than words that happen to parse ("yes", "a, b", "note: this", "continue")."""
    return not all(_is_prose(node) for node in tree.body)


def _is_prose(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Compare(ops=ops)):
            return all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in ops)
        case ast.Expr(value=ast.Await(value=value)):
            return isinstance(value, WORDLIKE)
        case ast.Expr(value=value):
            return isinstance(value, WORDLIKE)
        case ast.Return(value=value) | ast.Raise(exc=value) | ast.Assert(test=value):
            return value is None or isinstance(value, (ast.Name, ast.BoolOp))
        case ast.AnnAssign(value=None) | ast.Import() | ast.ImportFrom():
            return True
        case ast.Delete() | ast.Global() | ast.Nonlocal():
            return True
    return isinstance(node, (ast.Pass, ast.Break, ast.Continue))


def words_in(text: str) -> frozenset[str]:
    """Names written in a row, as a set."""
    return frozenset(text.split())


def plain_name(text: str) -> bool:
    """Whether a span of code only names something, such as `open()` or `total`."""
    return re.fullmatch(r"[\w.]+(?:\(\))?", text) is not None
