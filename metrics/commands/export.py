"""`bench export`: one panel to take along, as a page, as Markdown or as JSON."""

import argparse
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, Failure, usage
from metrics.commands.output import Console
from metrics.commands.server import Server

ENDINGS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json"}


def export(args: argparse.Namespace, console: Console, server: Server) -> int:
    form = args.form or _form(args.out, console)
    if args.out is None:
        if console.as_json and form != "json":
            raise usage(
                f"export: --json prints JSON, and --{form} is none",
                f"name a file for it: bench export {args.panel} --{form} -o panel.{form}",
            )
        text = asked(server, args.panel, form).decode("utf-8")
        console.say(text) if form == "md" else console.write(text)
        return DONE
    if args.out.exists():
        raise usage(f"{args.out} is there already", "give a name that is not, or remove that file first")
    told = keep(args.out, asked(server, args.panel, form))
    report: dict[str, Any] = {"panel": args.panel, "format": form, "file": str(args.out), "bytes": told}
    console.show(report, f"wrote {args.panel} to {args.out}\n")
    return DONE


def asked(server: Server, panel: str, form: str) -> bytes:
    """The file as the server makes it, all of it: half a page is none."""
    return b"".join(server.download("/api/panel/export?" + urlencode({"panel": panel, "format": form})))


def keep(path: Path, content: bytes) -> int:
    """Write the file; how many bytes it has. Raises Failure "output" where it cannot be written."""
    try:
        return path.write_bytes(content)
    except OSError as trouble:
        why = trouble.strerror or str(trouble)
        raise Failure(507, f"{path} cannot be written: {why}", kind="output") from None


def _form(out: Path | None, console: Console) -> str:
    """What the file's name asks for; else what can be read where it is printed."""
    ending = out.suffix.lower() if out else ""  # Markdown under a name in .pdf is no PDF: refused
    if ending and ending not in ENDINGS:
        raise usage(
            f"export: there is no format for {ending}",
            f"end the name in {', '.join(ENDINGS)}, or say what it is to hold: --html, --md",
        )
    return ENDINGS.get(ending) or ("json" if console.as_json else "md")


COMMANDS = (
    Command(
        "export",
        "Writes one panel with its question, answers and verdicts to take along: Markdown, a page in one "
        "HTML file that needs nothing else, or JSON.",
        export,
        (
            argument("panel", metavar="PANEL", help="the panel's id, such as p20261129-142220-1a2b3c4d"),
            argument(
                "--html", one_of="f", action="store_const", const="html", dest="form", help="one HTML file"
            ),
            argument("--md", one_of="f", action="store_const", const="md", dest="form", help="Markdown"),
            argument(
                "-o",
                "--out",
                type=Path,
                metavar="FILE",
                help="where to; without it stdout. Its ending says the format: .html, .md, .json",
            ),
        ),
        (
            "bench export p20261129-142220-1a2b3c4d",
            "bench export p20261129-142220-1a2b3c4d -o retry.html",
            "bench export p20261129-142220-1a2b3c4d --json",
        ),
    ),
)
