"""The npm package: the application's folder, and a launcher for Node without dependencies that finds a
Python for it."""

import json
from pathlib import PurePosixPath

from scripts.packages import documents, manifest

LAUNCHER = "scripts/npm"
NODE = ">=18"
TOP = ("LICENSE", "NOTICE")


def name() -> str:
    return f"{manifest.stem()}.tgz"


def entries() -> dict[str, bytes]:
    """Every file of the package by its path below `package/`."""
    held = manifest.folder()
    launcher = {
        str(PurePosixPath(path).relative_to(LAUNCHER)): content
        for path, content in manifest.files([LAUNCHER])
    }
    readme = (manifest.ROOT / "README.md").read_text(encoding="utf-8")
    inside = [path.removeprefix(f"{manifest.NAME}/") for path in held]
    return {
        **held,
        **launcher,
        **dict(manifest.files(TOP)),
        "README.md": documents.shipped(readme, "README.md", inside, below=f"{manifest.NAME}/").encode(),
        "package.json": package_json().encode(),
    }


def package_json() -> str:
    project = manifest.project()
    told = {
        "name": project["name"],
        "version": manifest.version(),
        "description": project["description"],
        "keywords": project["keywords"],
        "license": project["license"],
        "author": project["authors"][0]["name"],
        "bin": {command: f"bin/{command}.js" for command in sorted(project["scripts"])},
        "engines": {"node": NODE},
        "files": ["bin", "lib", manifest.NAME, "NOTICE"],
    }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"
