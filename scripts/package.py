#!/usr/bin/env python3
"""The packages, built from one list of files: `python3 scripts/package.py` writes all of them into dist/.

    wheel sdist   for pip, pipx and uv; this file is also the PEP 517 backend by which those build them
    npm           for npm and npx: a launcher that finds a Python
    pyz           bench.pyz, one file
    container     what an image is built from: `docker build - < FILE`
    folder        the application's folder alone, as every package holds it

What is in them stands in scripts/packages/manifest.py. Builds are reproducible byte for byte: entries are
sorted, their modes fixed, and their time is SOURCE_DATE_EPOCH or a fixed one."""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]  # a build frontend knows this folder alone

from scripts.packages import archives, manifest, npm, onefile, wheel  # noqa: E402

Settings = Mapping[str, Any] | None


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Writes the wheel into `wheel_directory`; its file name."""
    archives.zip(Path(wheel_directory, wheel.name()), wheel.entries(), wheel.order)
    return wheel.name()


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Writes the source archive into `sdist_directory`; its file name."""
    name = f"{manifest.stem()}.tar.gz"
    entries = dict(manifest.files(manifest.SOURCES)) | {"PKG-INFO": wheel.metadata()["METADATA"]}
    archives.tar(Path(sdist_directory, name), entries, manifest.stem())
    return name


def build_npm(out: str) -> str:
    """Writes the npm package into the folder `out`; its file name."""
    archives.tar(Path(out, npm.name()), npm.entries(), "package")
    return npm.name()


def build_pyz(out: str) -> str:
    """Writes bench.pyz into the folder `out`; its file name."""
    archives.zip(Path(out, onefile.NAME), onefile.entries(), program=True)
    return onefile.NAME


def build_container(out: str) -> str:
    """Writes the context that an image is built from into the folder `out`; its file name."""
    name = f"{manifest.stem()}-container.tar.gz"
    archives.tar(Path(out, name), dict(manifest.files(manifest.CONTEXT)), "")
    return name


def build_folder(out: str) -> str:
    """Writes the application's folder into the folder `out`, which must not have one yet; its name."""
    if Path(out, manifest.NAME).exists():
        raise FileExistsError(
            f"{Path(out, manifest.NAME)} is there already: remove it, or choose another --out"
        )
    for path, content in manifest.folder().items():
        target = Path(out, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(manifest.mode(path))
    return manifest.NAME


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Writes the .dist-info folder alone; its name."""
    folder = Path(metadata_directory, wheel.info_folder())
    for path, content in wheel.metadata().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return wheel.info_folder()


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return []


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    return []


PACKAGES: Mapping[str, Callable[[str], str]] = {
    "wheel": build_wheel,
    "sdist": build_sdist,
    "npm": build_npm,
    "pyz": build_pyz,
    "container": build_container,
}
KINDS = {**PACKAGES, "folder": build_folder}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="package.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)} (all packages, when none is named)"
    )
    parser.add_argument("--out", default=str(manifest.ROOT / "dist"), metavar="DIR", help="where to (dist)")
    options = parser.parse_args(argv)
    for kind in options.kinds:
        if kind not in KINDS:
            parser.error(f"there is no package {kind!r}; there are: {', '.join(KINDS)}")
    Path(options.out).mkdir(parents=True, exist_ok=True)
    for kind in options.kinds or PACKAGES:
        try:
            path = Path(options.out, KINDS[kind](options.out))
        except OSError as trouble:
            print(f"{kind}: {trouble}", file=sys.stderr)
            return 1
        print(f"{path}  {path.stat().st_size:,} bytes" if path.is_file() else path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
