"""How this program came onto this computer, and so how a newer one does.

WAYS is a table, asked in its order: each row knows one installer by what it leaves behind. Nothing is looked
up anywhere but in the program's own folders; that there is a newer version nobody is asked.
"""

import json
import os
import site
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAME = "benchwarmers"
APPLICATION = Path(__file__).resolve().parents[2]  # the folder of the program
VARIABLE = "BENCHWARMERS_INSTALL"  # what a package says of itself, where nothing else tells


@dataclass(frozen=True, slots=True)
class Place:
    """Where this program lies and what runs it. `archive` is the one file that it was unpacked from;
    `origin` what an installer was given instead of the name: a file or a folder."""

    folder: Path
    prefix: Path
    venv: bool
    python: str
    env: Mapping[str, str]
    archive: Path | None = None
    origin: str = ""
    installer: str = ""

    def beside(self, name: str) -> bool:
        """Whether the environment that Python runs in has this file."""
        return (self.prefix / name).is_file()


@dataclass(frozen=True, slots=True)
class Way:
    """`words` is the command that brings a newer version, as a list; `runs`: it can be run from here. `first`
    says what else there is to do, and `remove` how all of it goes but for the data folder."""

    name: str
    words: tuple[str, ...]
    remove: str
    first: str = ""
    runs: bool = True


def place(env: Mapping[str, str]) -> Place:
    """Where this process's program is."""
    info = metadata(APPLICATION)
    return Place(
        APPLICATION,
        Path(sys.prefix),
        sys.prefix != sys.base_prefix,
        sys.executable,
        env,
        archive(),
        origin(_text(info, "direct_url.json")) if info else "",
        _text(info, "INSTALLER").strip() if info else "",
    )


def owns(here: Place, script: Path) -> bool:
    """Whether a command that was found starts the program that is here."""
    real = Path(os.path.realpath(script))
    package = here.folder.parent  # npm's has the launcher beside the program
    ours = package if "node_modules" in package.parts else here.prefix
    return real.is_relative_to(os.path.realpath(ours))


def metadata(folder: Path) -> Path | None:
    """The .dist-info folder that an installer put beside the program's."""
    return next(iter(sorted(folder.parent.glob(f"{NAME}-*.dist-info"))), None)


def record(folder: Path) -> str:
    """The RECORD of the wheel that the program came in; "" where it came in none."""
    info = metadata(folder)
    return _text(info, "RECORD") if info else ""


def archive() -> Path | None:
    """The zip file whose __main__ this process runs."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    parent = Path(main).parent if main else None
    return parent.resolve() if parent and parent.is_file() else None


def origin(direct_url: str) -> str:
    """What an installer was given, as it keeps that (PEP 610): a path, or a web address; "" for a name."""
    try:
        url = str(json.loads(direct_url)["url"])
    except (ValueError, KeyError, TypeError):
        return ""
    parts = urlsplit(url)
    return unquote(parts.path) if parts.scheme == "file" else url


def _text(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except OSError:
        return ""


def way(here: Place) -> Way:
    """How this program was installed."""
    return next(found for row in WAYS if (found := row(here)) is not None)


def _container(here: Place) -> Way | None:
    if here.env.get(VARIABLE) != "container":
        return None
    return Way(
        "container",
        ("docker", "compose", "up", "--detach", "--build"),
        "docker compose down, and remove the image",
        "run it where the image is built, with the newer source there",
        runs=False,
    )


def _archive(here: Place) -> Way | None:
    if here.archive is None:
        return None
    cache = here.folder.parent.parent
    return Way(
        "pyz",
        (),
        f"remove {here.archive} and {cache}",
        f"put the newer bench.pyz in place of {here.archive}",
        runs=False,
    )


def _npm(here: Place) -> Way | None:
    parts = here.folder.parts
    if "node_modules" not in parts:
        return None
    if "_npx" in parts:
        return Way("npx", ("npx", f"{NAME}@latest"), "npm cache npx rm", "a start brings it", runs=False)
    above = Path(*parts[: len(parts) - 1 - parts[::-1].index("node_modules")])
    if (above / "package.json").is_file():
        here_only = ("--prefix", str(above))
        return Way("npm", ("npm", "install", *here_only, f"{NAME}@latest"), f"npm uninstall {NAME}")
    prefix = above.parent if above.name == "lib" else above  # on Windows there is no lib
    words = ("npm", "install", "--global", "--prefix", str(prefix), f"{NAME}@latest")
    return Way("npm", words, f"npm uninstall --global --prefix {prefix} {NAME}")


def _uv_tool(here: Place) -> Way | None:
    if not here.beside("uv-receipt.toml"):
        return None
    return Way("uv tool", ("uv", "tool", "upgrade", NAME), f"uv tool uninstall {NAME}", _came(here))


def _uvx(here: Place) -> Way | None:
    """An environment in uv's cache, which holds them in folders named after their make."""
    if not any(part.startswith(("archive-v", "environments-v")) for part in here.prefix.parts):
        return None
    wanted = ("--from", here.origin, NAME) if here.origin else (f"{NAME}@latest",)
    return Way("uvx", ("uvx", *wanted), f"uv cache clean {NAME}", "a start brings it", runs=False)


def _pipx(here: Place) -> Way | None:
    if not here.beside("pipx_metadata.json"):
        return None
    if here.prefix.parent.name != "venvs":  # an environment for one run, which pipx keeps for some days
        wanted = ("--spec", here.origin, NAME) if here.origin else (NAME,)
        words = ("pipx", "run", "--no-cache", *wanted)
        return Way("pipx run", words, f"remove {here.prefix}", "a start brings it", runs=False)
    return Way("pipx", ("pipx", "upgrade", NAME), f"pipx uninstall {NAME}", _came(here))


def _git(here: Place) -> Way | None:
    if not (here.folder / ".git").exists():
        return None
    words = ("git", "-C", str(here.folder), "pull", "--ff-only")
    return Way("git", words, f"remove {here.folder}")


def _pip(here: Place) -> Way | None:
    """A folder among a Python's packages: pip's, or uv's in its stead."""
    if not (here.folder.name == NAME and (here.folder / "__init__.py").is_file()):
        return None
    wanted = here.origin or NAME
    if here.installer == "uv":
        uv = ("uv", "pip")
        words = (*uv, "install", "--python", here.python, "--upgrade", wanted)
        return Way("uv pip", words, f"uv pip uninstall --python {here.python} {NAME}", _came(here))
    user = () if here.venv or not _in_user_site(here.folder) else ("--user",)
    words = (here.python, "-m", "pip", "install", "--upgrade", *user, wanted)
    return Way("pip", words, f"{here.python} -m pip uninstall {NAME}", _came(here))


def _source(here: Place) -> Way:
    return Way(
        "source",
        (),
        f"remove {here.folder}",
        f"unpack the newer source archive in place of {here.folder}",
        runs=False,
    )


def _came(here: Place) -> str:
    return f"it was installed from {here.origin}: put the newer one there first" if here.origin else ""


def _in_user_site(folder: Path) -> bool:
    user = site.getusersitepackages() if site.ENABLE_USER_SITE else ""
    return bool(user) and folder.is_relative_to(os.path.realpath(user))


COMMANDED = (
    "npm",
    "uv tool",
    "pipx",
    "pip",
    "uv pip",
)  # the ways that put commands where a shell may find them

WAYS: Sequence[Callable[[Place], Way | None]] = (
    _container,
    _archive,
    _npm,
    _uv_tool,
    _uvx,
    _pipx,
    _git,
    _pip,
    _source,
)
