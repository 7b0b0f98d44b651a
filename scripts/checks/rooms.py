"""Who may import whom: the rooms of the house in their order, from the ground up.

A room may use the rooms above it in ORDER, never one below it, never in a circle. All that is known about the
order stands in the tables here; the functions only look the imports up in them."""

import ast
import graphlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from scripts.checks.tree import Check, Module, Tree

# The ground comes first. What stands in the same tuple is one room. Names without a dot are rooms of metrics/
# or stand at the top; a later slice finds its rooms here already.
ORDER = (
    "version",
    "values",
    "records",
    "events",
    "bus",
    "desk",
    "http1",
    "coding",
    "line",
    "longjson",
    "bounds",
    "compact",
    "memory",
    "store",
    "client",
    "bench",
    "evidence",
    "limits",
    "web",
    "formats",
    "play",
    "suite",
    "evals",
    "care",
    "telemetry",
    "mcp",
    "dashboard",
    "gateway",
    "serve",
    "commands",
    "cli",
    "mcp_server",
    "scripts",
    "tests",
)
TOP = ("suite", "gateway", "serve", "cli", "mcp_server", "scripts", "tests")

# Importer, imported, why not: what the order alone would allow.
APART = (
    (
        "metrics.formats",
        "metrics.client",
        "formats/ and client/ meet in events.py and never import each other",
    ),
    (
        "metrics.client",
        "metrics.formats",
        "formats/ and client/ meet in events.py and never import each other",
    ),
)

# Importer, imported, why it may: an import inside a function that runs only when the importer is the program.
EXCUSED = {("gateway", "serve"): "gateway.py run by itself lives the life of serve.py with fewer routes"}

# commands/ are clients of a running server: besides each other they know only these. The local ones may look
# into the data folder themselves: `bench cost` reads a whole ledger, which the server must not do.
COMMANDS_KNOW = {"version", "records", "events", "http1", "client", "commands", "serve", "gateway"}
LOCAL_COMMANDS = {"init", "backup", "disk", "doctor", "ledger", "login", "cost"}
LOCAL_KNOW = {"store", "bench", "limits", "care"}

SOCKETS = {
    "_socket",
    "asyncio",
    "ftplib",
    "http.client",
    "http.server",
    "select",
    "selectors",
    "smtplib",
    "socket",
    "socketserver",
    "ssl",
    "urllib.request",
    "xmlrpc",
}
# These two open sockets; line.py moves bytes over those that are open, for both.
MAY_USE_SOCKETS = {"metrics/web/http.py", "metrics/client/transport.py", "metrics/line.py"}
FREE = ("scripts/", "tests/", "examples/")  # what works on the house, or tries it
# These drive third-party packages, which the user or .ci/run installs, or stand in the package themselves.
DEVELOPERS = ("tests/clients/", "examples/", "scripts/folder/")


@dataclass(frozen=True, slots=True)
class Import:
    """`module` imports `name`, a module as far as the tree shows; `line` says where."""

    module: Module
    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.module.path}:{self.line} imports {self.name}"


def checks(tree: Tree) -> list[Check]:
    imports = [
        each
        for module in tree.modules.values()
        for each in imports_of(module, tree)
        if (module.name, each.name) not in EXCUSED
    ]
    return [
        Check("every room stands in the order", tuple(_strangers(tree))),
        Check("no room uses one below it", tuple(_upside_down(imports))),
        Check("no imports in a circle", tuple(_circle(imports))),
        Check("formats/ and client/ stay apart", tuple(_apart(imports))),
        Check("commands/ are clients of a server", tuple(_commands(imports))),
        Check("only web/http.py and client/transport.py touch sockets", tuple(_sockets(imports))),
        Check("only the standard library is imported", tuple(_third_party(imports))),
        Check("imports are absolute", tuple(_relative(tree))),
        Check("no module hides one of the standard library", tuple(_shadows(tree))),
    ]


def imports_of(module: Module, tree: Tree) -> Iterator[Import]:
    """Every import in `module`, those inside functions too, as the modules they load."""
    for plain in module.nodes(ast.Import):
        yield from (Import(module, alias.name, plain.lineno) for alias in plain.names)
    for node in module.nodes(ast.ImportFrom):
        if node.module and not node.level:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                known = inner in tree.names or inner in SOCKETS
                yield Import(module, inner if known else node.module, node.lineno)


def room(name: str) -> str | None:
    """The room of a module: metrics.store.files -> store; None for what is not ours or has no room."""
    first, _, rest = name.partition(".")
    if first == "metrics":
        return rest.partition(".")[0] or None
    return first if first in TOP else None


def _strangers(tree: Tree) -> Iterator[str]:
    for module in tree.below("metrics/"):
        its = room(module.name)
        if its and its not in ORDER:
            yield f"{module.path}: the room {its!r} has no place in ORDER of scripts/checks/rooms.py"


def _upside_down(imports: list[Import]) -> Iterator[str]:
    for each in imports:
        importer, imported = room(each.module.name), room(each.name)
        if importer in ORDER and imported in ORDER and ORDER.index(imported) > ORDER.index(importer):
            yield f"{each}: {imported} stands below {importer}, which may only use rooms above it"


def _circle(imports: list[Import]) -> Iterator[str]:
    graph: dict[str, set[str]] = {}
    for each in imports:
        if each.name != each.module.name:
            graph.setdefault(each.module.name, set()).add(each.name)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        yield " imports ".join(reversed(error.args[1])) + ": a circle; move what they share above both"


def _apart(imports: list[Import]) -> Iterator[str]:
    for each in imports:
        for importer, imported, why in APART:
            if _inside(each.module.name, importer) and _inside(each.name, imported):
                yield f"{each}: {why}"


def _commands(imports: list[Import]) -> Iterator[str]:
    for each in imports:
        imported = room(each.name)
        if room(each.module.name) != "commands" or imported is None or imported in COMMANDS_KNOW:
            continue
        if imported in LOCAL_KNOW and each.module.name.rpartition(".")[2] in LOCAL_COMMANDS:
            continue
        yield (
            f"{each}: a command asks the server over client/transport; only {_list(LOCAL_COMMANDS)} "
            f"use {_list(LOCAL_KNOW)}"
        )


def _sockets(imports: list[Import]) -> Iterator[str]:
    for each in imports:
        touches = any(_inside(each.name, name) for name in SOCKETS)
        if touches and each.module.path not in MAY_USE_SOCKETS and not each.module.path.startswith(FREE):
            yield f"{each}: only {_list(MAY_USE_SOCKETS)} touch sockets"


def _third_party(imports: list[Import]) -> Iterator[str]:
    for each in imports:
        top = each.name.partition(".")[0]
        known = top in (*TOP, "metrics") or top in sys.stdlib_module_names
        if not known and not each.module.path.startswith(DEVELOPERS):
            yield f"{each}: the product runs on the standard library alone"


def _relative(tree: Tree) -> Iterator[str]:
    for module in tree.modules.values():
        for node in module.nodes(ast.ImportFrom):
            if node.level:
                yield f"{module.path}:{node.lineno} imports relatively; write the whole name"
            if any(alias.name == "*" for alias in node.names):
                yield f"{module.path}:{node.lineno} imports *; name what is meant"


def _shadows(tree: Tree) -> Iterator[str]:
    """A folder is on sys.path when it is the root or a module in it is run; its names then hide those of
    Python."""
    run = {_folder(module.path) for module in tree.modules.values() if _is_main(module)} | {""}
    for path in tree.modules:
        parts = path.split("/")
        inner, name = "/".join(parts[:-1]), parts[-1].removesuffix(".py")
        if name == "__init__":
            inner, name = "/".join(parts[:-2]), parts[-2] if len(parts) > 1 else ""
        if inner in run and name in sys.stdlib_module_names and name != "__main__":
            yield f"{path}: {name!r} is one of Python's own, and {inner or 'the root'} is on sys.path"


def _is_main(module: Module) -> bool:
    return any(
        isinstance(node, ast.If)
        and ast.unparse(node.test) in ("__name__ == '__main__'", "'__main__' == __name__")
        for node in (module.syntax.body if module.syntax else ())
    )


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _inside(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def _list(names: set[str]) -> str:
    return " and ".join(sorted(names))
