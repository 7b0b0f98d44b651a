"""What code may do where: one row per rule of the house, each a test of one syntax node.

The rows speak of product code: metrics/, suite/ and the mains at the top. Scripts and tests keep only the
rows that say so."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scripts.checks.tree import Check, Module, Tree

MAINS = ("cli.py", "serve.py", "gateway.py", "mcp_server.py")
TALKERS = ("metrics/commands/", *MAINS)
# The server loop, the relay and the scheduler: where anything at all is caught, logged and answered for.
LAST_RESORTS = (
    "metrics/web/http.py",
    "metrics/web/connection.py",
    "metrics/play/relay.py",
    "metrics/care/scheduler.py",
)

FILE_CALLS = {
    "open",
    "io.open",
    "codecs.open",
    "gzip.open",
    "os.open",
    "os.fdopen",
    "os.replace",
    "os.rename",
    "os.remove",
    "os.unlink",
    "os.mkdir",
    "os.makedirs",
    "os.rmdir",
    "os.truncate",
    "os.chmod",
}
FILE_METHODS = {
    "read_text",
    "read_bytes",
    "write_text",
    "write_bytes",
    "unlink",
    "mkdir",
    "rmdir",
    "touch",
    "chmod",
}
FILE_MODULES = {"sqlite3", "shutil", "tempfile", "mmap", "fcntl", "msvcrt", "dbm", "shelve"}
SAYING = {"print", "sys.stdout.write", "sys.stderr.write", "traceback.print_exc", "traceback.print_exception"}
LEAVING = {"exit", "quit", "sys.exit", "os._exit", "os.abort"}
MODE = re.compile(r"[rwax][bt+]*\Z")
ARCHIVES = ("tarfile", "zipfile")  # whose open() is never text
TEXT_CALLS = {"open": 3, "io.open": 3, "os.fdopen": 3}  # call -> place of `encoding` among the arguments


@dataclass(frozen=True, slots=True)
class Rule:
    """`breach` says what is wrong with a node of the classes it `looks_at`, or None. `free` are path prefixes
    where the rule does not hold."""

    name: str
    looks_at: tuple[type[ast.AST], ...]
    breach: Callable[[ast.AST], str | None]
    free: tuple[str, ...] = ()
    everywhere: bool = False  # in scripts/ and tests/ too


def opens(node: ast.AST) -> str | None:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        )
        used = [name for name in names if name.partition(".")[0] in FILE_MODULES]
        return f"imports {used[0]}; only store/ keeps files" if used else None
    if not isinstance(node, ast.Call):
        return None
    called = _called(node)
    method = called.rpartition(".")[2]
    if called in FILE_CALLS or method in FILE_METHODS or (method == "open" and _has_mode(node)):
        return f"calls {called}(); only store/ opens data files"
    return None


def says(node: ast.AST) -> str | None:
    if isinstance(node, ast.Call) and _called(node) in SAYING:
        return (
            f"calls {_called(node)}(); only cli.py, commands/ and the mains print. Return it, or take a log"
        )
    return None


def leaves(node: ast.AST) -> str | None:
    if isinstance(node, ast.Call) and _called(node) in LEAVING:
        return f"calls {_called(node)}(); only cli.py, commands/ and the mains exit. Raise a Problem"
    if isinstance(node, ast.Raise) and node.exc and "SystemExit" in ast.unparse(node.exc):
        return "raises SystemExit; only cli.py, commands/ and the mains exit. Raise a Problem"
    return None


def catches_all(node: ast.AST) -> str | None:
    """A handler that only cleans up and raises again is fine."""
    if not isinstance(node, ast.ExceptHandler) or _raises_again(node):
        return None
    caught = ast.unparse(node.type) if node.type else ""
    if re.search(r"\b(Base)?Exception\b", caught or "Exception"):
        return f"catches {caught or 'everything'}; name what can go wrong, or let it reach the server loop"
    return None


def forks(node: ast.AST) -> str | None:
    if isinstance(node, ast.Call) and _called(node) in ("os.fork", "os.forkpty", "pty.fork"):
        return f"calls {_called(node)}(), which Windows does not have and threads do not survive"
    return None


def guesses_encoding(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call) or any(word.arg in ("encoding", None) for word in node.keywords):
        return None
    called = _called(node)
    owner, _, method = called.rpartition(".")
    if owner in ARCHIVES:
        return None
    if method in ("read_text", "write_text"):
        bare = len(node.args) <= (0 if method == "read_text" else 1)
    elif called in TEXT_CALLS:
        bare = len(node.args) <= TEXT_CALLS[called] and "b" not in _mode(node, 1)
    else:
        bare = method == "open" and _has_mode(node) and "b" not in _mode(node, 0)
    return f"{called}() without encoding=: text differs between systems" if bare else None


# Calls at module level that only tell one room of another, with the reason.
WIRING = {
    "metrics/limits/ledger.py": "reliability stands above the ledger, which keeps its counters for it",
}

RULES = (
    Rule(
        "only store/ opens data files",
        (ast.Call, ast.Import, ast.ImportFrom),
        opens,
        free=("metrics/store/", "metrics/web/static.py", *TALKERS),  # static.py reads ui/, which is no data
    ),
    Rule("only cli.py, commands/ and the mains print", (ast.Call,), says, free=(*TALKERS, *LAST_RESORTS)),
    Rule("only cli.py, commands/ and the mains exit", (ast.Call, ast.Raise), leaves, free=TALKERS),
    Rule(
        "everything is caught only where it is logged",
        (ast.ExceptHandler,),
        catches_all,
        free=LAST_RESORTS,
    ),
    Rule("no os.fork", (ast.Call,), forks, everywhere=True),
    # The example is there for the panels to find its mistakes.
    Rule(
        "text files name their encoding",
        (ast.Call,),
        guesses_encoding,
        free=("examples/pricing.py",),
        everywhere=True,
    ),
)


def checks(tree: Tree) -> list[Check]:
    found = [Check(rule.name, tuple(_breaches(tree, rule))) for rule in RULES]
    return [*found, Check("nothing works at import", tuple(_at_import(tree)))]


def _breaches(tree: Tree, rule: Rule) -> Iterator[str]:
    for module in tree.modules.values() if rule.everywhere else _product(tree):
        if module.path.startswith(rule.free or ("\0",)):
            continue
        for node in module.nodes(*rule.looks_at):
            if breach := rule.breach(node):
                yield f"{module.path}:{getattr(node, 'lineno', 1)} {breach}"


def _at_import(tree: Tree) -> Iterator[str]:
    """Module level is for names: a call whose result nobody keeps, or a with or while, is work."""
    for module in tree.below("metrics/", "suite/"):
        for node in module.syntax.body if module.syntax else ():
            called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
            wires = called and module.path in WIRING
            if (called and not wires) or isinstance(node, ast.With | ast.While):
                yield f"{module.path}:{node.lineno} works when it is imported; put it in a function"


def _product(tree: Tree) -> list[Module]:
    return tree.below("metrics/", "suite/", *MAINS)


def _called(node: ast.Call) -> str:
    """The dotted name of what is called: "open", "sys.stdout.write"; of a method of something else,
    ".name"."""
    names: list[str] = []
    at: ast.expr = node.func
    while isinstance(at, ast.Attribute):
        names.insert(0, at.attr)
        at = at.value
    return ".".join([at.id if isinstance(at, ast.Name) else "", *names])


def _mode(node: ast.Call, place: int) -> str:
    given = [word.value for word in node.keywords if word.arg == "mode"] or node.args[place : place + 1]
    return str(given[0].value) if given and isinstance(given[0], ast.Constant) else ""


def _has_mode(node: ast.Call) -> bool:
    """Whether `x.open(...)` opens a file: its arguments begin with a mode. Other things are opened too."""
    return bool(MODE.match(_mode(node, 0)))


def _raises_again(node: ast.ExceptHandler) -> bool:
    last = node.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None
