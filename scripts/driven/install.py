"""The agents' programs, each in a folder of its own, in the versions that package.json and requirements.txt
pin."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NPM = ("install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
PATIENCE = 420.0  # seconds for one


def pinned() -> dict[str, str]:
    """Every package and its version."""
    packages = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    lines = (HERE / "requirements.txt").read_text(encoding="utf-8").split()
    return {**packages, **dict(line.split("==") for line in lines)}


def install(folder: Path, package: str) -> str:
    """Have `package` in `folder`; what went wrong, or nothing. What is there already stays."""
    home = place(folder, package)
    if there(home, package):
        return ""
    home.mkdir(parents=True, exist_ok=True)
    if not by_npm(package):
        return python(home, package)
    npm = shutil.which("npm")
    if not npm:
        return "there is no npm; it needs Node 20 or later"
    one = {"private": True, "dependencies": {package: pinned()[package]}}
    (home / "package.json").write_text(json.dumps(one), encoding="utf-8")
    return done(npm, *NPM, "--prefix", home) or ("" if there(home, package) else "npm did not install it")


def python(home: Path, package: str) -> str:
    problem = "" if (home / "venv").exists() else done(sys.executable, "-m", "venv", home / "venv")
    pip = [binaries(home, package) / "python", "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    return problem or done(*pip, f"{package}=={pinned()[package]}")


def there(home: Path, package: str) -> bool:
    """Whether the pinned version is installed. npm leaves it in the package, pip in a folder's name."""
    if not by_npm(package):
        found = f"{package.replace('-', '_')}-{pinned()[package]}.dist-info"
        return any(home.glob(f"venv/lib/*/site-packages/{found}"))
    try:
        said = json.loads((home / "node_modules" / package / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(said.get("version") == pinned()[package])


def by_npm(package: str) -> bool:
    return f"{package}==" not in (HERE / "requirements.txt").read_text(encoding="utf-8")


def place(folder: Path, package: str) -> Path:
    return folder / package.replace("/", "-").lstrip("@")


def binaries(home: Path, package: str) -> Path:
    """The folder that holds the programs."""
    if by_npm(package):
        return home / "node_modules" / ".bin"
    return home / "venv" / ("Scripts" if os.name == "nt" else "bin")


def done(*words: object) -> str:
    """Runs it; the end of what it said if it failed."""
    try:
        ran = subprocess.run(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return f"it took more than {PATIENCE:.0f} s"
    said = " ".join((ran.stdout + ran.stderr).split())
    return said[-400:] or f"exit {ran.returncode}" if ran.returncode else ""
