"""The documents say what the product has, and what they say holds.

Both directions: each command, option, route, setting and variable stands in README.md or docs/; each command
in a code block and each link leads somewhere. Modules open with a docstring and have a test module that
mirrors them."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from scripts.checks.spoken import Spoken
from scripts.checks.tree import Check, File, Module, Tree

# Modules whose test stands elsewhere, with the reason; the mirror of every other module is tests/<its path>.
MIRRORED_BY = {
    "metrics/version.py": "tests/scripts/test_package.py",  # read by the packages
    "scripts/folder/__main__.py": "tests/scripts/test_package.py",  # run as it stands in a wheel
    "scripts/onefile/__main__.py": "tests/scripts/packages/test_onefile.py",  # run as it stands in bench.pyz
}

VARIABLE = re.compile(r"(?:BENCH(?:WARMERS)?|OTEL|RENDER|RAILWAY|FLY)_[A-Z]+(?:_[A-Z]+)*_?\Z")
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(?:```|~~~)")
OPTION = re.compile(r"--?[a-z][a-z0-9-]*\Z")
CODE_SPAN = re.compile(r"`[^`\n]*`")


def checks(tree: Tree, spoken: Spoken) -> list[Check]:
    told = "\n".join(file.text or "" for file in manuals(tree))
    lines = [(file.path, *line) for file in documents(tree) for line in command_lines(file)]
    return [
        Check("the product's own tables can be read", (spoken.problem,) if spoken.problem else ()),
        Check("every command is written down", tuple(_commands(spoken, told))),
        Check("every option is written down", tuple(_options(spoken, told))),
        Check("every route is written down", tuple(_routes(spoken, told))),
        Check("every setting is written down", tuple(_settings(spoken, told))),
        Check("every environment variable is written down", tuple(_variables(tree, told))),
        Check("every command in the documents exists", tuple(_run(tree, spoken, lines))),
        Check("every link in the documents leads somewhere", tuple(_links(tree))),
        Check("every module opens with a docstring", tuple(_docstrings(tree))),
        Check("every module has its test module", tuple(_mirrors(tree))),
    ]


def manuals(tree: Tree) -> list[File]:
    """Where a user looks things up."""
    return [file for path, file in tree.files.items() if path == "README.md" or _is(path, "docs/", ".md")]


def documents(tree: Tree) -> list[File]:
    return [file for path, file in tree.files.items() if path.endswith(".md")]


def _is(path: str, folder: str, suffix: str) -> bool:
    return path.startswith(folder) and path.endswith(suffix)


def _commands(spoken: Spoken, told: str) -> Iterator[str]:
    """A command of two words may stand alone ("endpoint add"); one word is told from prose by `bench` before
    it."""
    for name in spoken.commands:
        words = r"\s+".join(map(re.escape, name.split()))
        lead = "" if " " in name else r"(?:bench\s+|cli\.py\s+|`)"
        if not re.search(rf"(?<![\w-]){lead}{words}(?![\w-])", told):
            yield f"`bench {name}` stands neither in README.md nor in docs/"


def _options(spoken: Spoken, told: str) -> Iterator[str]:
    by_option: dict[str, list[str]] = {}
    for command, options in spoken.commands.items():
        for option in options:
            by_option.setdefault(option, []).append(command)
    for option, commands in by_option.items():
        if not _stands(option, told):
            yield f"{option} (of {', '.join(commands)}) stands neither in README.md nor in docs/"


def _routes(spoken: Spoken, told: str) -> Iterator[str]:
    for pattern in spoken.routes:
        pieces = re.split(r"(\{\w+\*?\})", pattern)
        path = "".join(
            r"[{<:]?\w+\*?[}>]?" if piece.startswith("{") else re.escape(piece) for piece in pieces
        )
        if not re.search(rf"(?<![\w/}}]){path}(?![\w/{{-])", told):
            yield f"the route {pattern} stands neither in README.md nor in docs/"


def _settings(spoken: Spoken, told: str) -> Iterator[str]:
    for name in spoken.settings:
        if not re.search(rf"`{re.escape(name)}[`:= ]", told):
            yield f"the setting `{name}` stands neither in README.md nor in docs/"


def _variables(tree: Tree, told: str) -> Iterator[str]:
    seen: dict[str, str] = {}
    for module in tree.modules.values():
        if module.path.startswith(("tests/", "scripts/")):
            continue
        for node in module.nodes(ast.Constant):
            if isinstance(node.value, str) and VARIABLE.match(node.value):
                seen.setdefault(node.value, f"{module.path}:{node.lineno}")
    for name, where in seen.items():
        if not re.search(
            rf"(?<!\w){name}(?:<|\{{|[A-Z])" if name.endswith("_") else rf"(?<!\w){name}(?!\w)", told
        ):
            yield f"the variable {name} ({where}) stands neither in README.md nor in docs/"


def _stands(word: str, told: str) -> bool:
    return bool(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", told))


def command_lines(file: File) -> Iterator[tuple[int, str]]:
    """(line number, command) of every line in a code block that runs `python3 FILE` or `bench`; a line that
    ends in a backslash goes on in the next."""
    lines = file.lines
    for number in code_lines(lines):
        if number > 1 and lines[number - 2].rstrip().endswith("\\"):
            continue
        whole, at = lines[number - 1].strip(), number
        while whole.endswith("\\") and at < len(lines):
            whole, at = f"{whole[:-1]} {lines[at].strip()}", at + 1
        for command in re.split(r"\s(?:\||&&|;)\s", whole.removeprefix("$ ")):
            if command.strip().startswith(("python3 ", "bench ")):
                yield number, command.strip()


def code_lines(lines: list[str]) -> Iterator[int]:
    """The numbers of the lines in code blocks, fenced or indented by four."""
    fenced = False
    for number, line in enumerate(lines, 1):
        if FENCE.match(line.strip()):
            fenced = not fenced
        elif fenced or line.startswith(("    ", "\t")):
            yield number


def _run(tree: Tree, spoken: Spoken, lines: list[tuple[str, int, str]]) -> Iterator[str]:
    for path, number, line in lines:
        try:
            words = shlex.split(line, comments=True)
        except ValueError:  # an ellipsis in quotes, a sketch: at least the first words are looked at
            words = line.split()
        if problem := _wrong(tree, spoken, words):
            yield f"{path}:{number} `{line}`: {problem}"


def _wrong(tree: Tree, spoken: Spoken, words: list[str]) -> str | None:
    if words[0] == "python3":
        if len(words) < 2 or words[1].startswith("-"):
            return None
        if words[1] not in tree.files:
            return f"there is no file {words[1]}"
        if words[1] != "cli.py":
            return None
        words = words[1:]
    names = [" ".join(words[1 : 1 + count]) for count in (2, 1)]
    name = next((name for name in names if name in spoken.commands), None)
    if spoken.problem or len(words) < 2 or words[1].startswith("-"):
        return None
    if name is None:
        return f"there is no command {words[1]!r}"
    known = {*spoken.commands[name], *spoken.everywhere}
    unknown = [
        word for word in words if OPTION.match(word.partition("=")[0]) and word.partition("=")[0] not in known
    ]
    return f"{name} has no option {unknown[0]}" if unknown else None


def _links(tree: Tree) -> Iterator[str]:
    for file in documents(tree):
        code = set(code_lines(file.lines))
        for number, line in enumerate(file.lines, 1):
            prose = "" if number in code else CODE_SPAN.sub("`", line)
            for match in LINK.finditer(prose):
                target = match.group(1) or match.group(2)
                if not re.match(r"[a-z]+:", target) and not _leads(tree, file, target):
                    yield f"{file.path}:{number} links to {target}, which is not there"


def _leads(tree: Tree, file: File, target: str) -> bool:
    name, _, anchor = target.partition("#")
    path = _joined(file.path, name) if name else file.path
    if anchor and path.endswith(".md"):
        return path in tree.files and anchor in anchors(tree.files[path])
    return path is not None and (tree.root / path).exists()


def _joined(path: str, link: str) -> str:
    parts: list[str] = [] if link.startswith("/") else list(PurePosixPath(path).parent.parts)
    for part in link.strip("/").split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def anchors(file: File) -> set[str]:
    """The anchors of a document's headings, as forges make them."""
    headings = re.findall(r"(?m)^#{1,6}\s+(.+?)\s*$", file.text or "")
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _docstrings(tree: Tree) -> Iterator[str]:
    for module in tree.modules.values():
        if module.path.startswith("tests/") or not module.syntax or not module.syntax.body:
            continue
        if not ast.get_docstring(module.syntax):
            yield f"{module.path} does not say what it knows; open it with a docstring"


def _mirrors(tree: Tree) -> Iterator[str]:
    known = _taken_in(tree)
    for module in tree.modules.values():
        if not _tested(module) or any(path in tree.modules for path in mirrors(module.path)):
            continue
        folder = mirrors(module.path)[0].rpartition("/")[0]
        if module.name not in known.get(folder, ()):
            mirror = mirrors(module.path)[0]
            yield f"{module.path} has no test module {mirror}, and none beside it imports it"


def _taken_in(tree: Tree) -> dict[str, set[str]]:
    """What the test modules of each folder import: a small module may be tested through its neighbour's test,
    as long as that test takes it up by name."""
    taken: dict[str, set[str]] = {}
    for module in tree.modules.values():
        folder, _, file = module.path.rpartition("/")
        if not folder.startswith("tests") or not file.startswith("test_") or not module.syntax:
            continue
        for node in ast.walk(module.syntax):
            if isinstance(node, ast.ImportFrom) and node.module:
                taken.setdefault(folder, set()).add(node.module)
                taken[folder].update(f"{node.module}.{alias.name}" for alias in node.names)
    return taken


def _tested(module: Module) -> bool:
    own = module.path.startswith(("metrics/", "suite/", "scripts/")) or "/" not in module.path
    return own and not module.path.endswith("__init__.py")


def mirrors(path: str) -> list[str]:
    """Where the test of a module may stand: metrics/store/files.py -> tests/store/test_files.py. A package
    inside a room may have one test module for all of it: metrics/play/practice/source.py ->
    tests/play/test_practice.py."""
    if path in MIRRORED_BY:
        return [MIRRORED_BY[path]]
    parts = path.removeprefix("metrics/").removesuffix(".py").split("/")
    found = ["/".join(["tests", *parts[:-1], f"test_{parts[-1]}.py"])]
    for depth in range(len(parts) - 1, 1, -1):
        found.append("/".join(["tests", *parts[: depth - 1], f"test_{parts[depth - 1]}.py"]))
    return found
