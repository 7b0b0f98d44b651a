"""`bench init`: makes the data folder and can save a first endpoint in it; works without a server.

Nothing is started and nothing is called. Where a server has the folder already, the endpoint goes through it,
so that it is tried as usual; where none has, it is written down as it is.
"""

import argparse
from pathlib import Path
from typing import Any

from metrics.commands import keys
from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, Failure, usage
from metrics.commands.output import Console, quoted
from metrics.commands.server import HERE_PORT, Server
from metrics.store import home

STARTER = Path(__file__).resolve().parents[2] / "examples" / "home"
SNIPPET = "OPENAI_BASE_URL={base}/v1\nOPENAI_API_KEY=any\n# the model's name: bench/core"


def init(args: argparse.Namespace, console: Console, server: Server) -> int:
    wanted = endpoint(args, console)
    chosen = home.choose(args.folder, console.env)
    created = not chosen.exists()
    folder = home.open_home(args.folder, console.env, STARTER)
    owner = home.owner()
    if wanted:
        keep(wanted, owner)
    report = envelope(folder, created, owner, wanted, server)
    report["next"] = console.spelled(following(owner, folder if args.folder else None))
    console.show(report, in_words(report))
    return DONE


def endpoint(args: argparse.Namespace, console: Console) -> dict[str, Any] | None:
    """The endpoint that the line names, with its key: {name, base, key?}. Nothing is asked under --yes."""
    if args.endpoint is None:
        if args.key_env or args.key_stdin:
            raise usage("init: a key, but no endpoint for it", "bench init --endpoint NAME URL --key-stdin")
        return None
    name, base = args.endpoint
    key = keys.given(args, console) if args.yes else keys.key(args, console, name, base)
    return {"name": name, "base": base, **({} if key is None else {"key": key})}


def keep(wanted: dict[str, Any], owner: dict[str, int] | None) -> None:
    """Saves the endpoint: through the server that has the folder, else directly."""
    if owner is None:
        write_down(wanted)
    elif owner.get("port"):
        Server(f"http://127.0.0.1:{owner['port']}").post("/api/endpoint", wanted)
    else:
        raise Failure(503, "a server has this folder, but its port is not known yet", kind="overloaded")


def write_down(wanted: dict[str, Any]) -> None:
    # Imported here: no other command may know these rooms, and none should pay for loading them.
    from metrics.bench import credentials, endpoints

    name, base = str(wanted["name"]), endpoints.base_url("base", wanted["base"])
    endpoints.save(endpoints.Endpoint(name=name, base=base), by="init")
    if "key" in wanted:
        credentials.save(name, str(wanted["key"]), by="init")


def envelope(
    folder: Path, created: bool, owner: dict[str, int] | None, wanted: dict[str, Any] | None, server: Server
) -> dict[str, Any]:
    """What `--json` prints. The fields that stay empty here are those of the wizard of a later version."""
    base = f"http://127.0.0.1:{owner['port']}" if owner and owner.get("port") else server.base
    return {
        "action": "onboarding",
        "home": str(folder),
        "created": created,
        "running": owner is not None,
        "providers_configured": [wanted["name"]] if wanted else [],
        "providers_skipped_interactive": [],
        "harnesses_installed": [],
        "after": "exit",
        "snippet": SNIPPET.format(base=base),
    }


def following(owner: dict[str, int] | None, named: Path | None) -> str:
    """The next command: it means the folder that was made, where the line and not the environment `named`
    it."""
    if not owner:
        return f"bench serve --home {quoted(str(named))}" if named else "bench serve"
    port = owner.get("port") or HERE_PORT
    return "bench status" if port == HERE_PORT else f"bench status --url http://127.0.0.1:{port}"


def in_words(report: dict[str, Any]) -> str:
    lines = [f"{'made' if report['created'] else 'kept'} the data folder {report['home']}"]
    lines += [f"saved the endpoint {name}" for name in report["providers_configured"]]
    reason = "a server has it" if report["running"] else "start the server"
    return "".join(f"{line}\n" for line in [*lines, f"{reason}: {report['next']}"])


COMMANDS = (
    Command(
        "init",
        "Makes the data folder, and can save a first endpoint in it. Starts, calls and overwrites nothing.",
        init,
        (
            argument(
                "folder",
                nargs="?",
                type=Path,
                metavar="FOLDER",
                help="where (BENCHWARMERS_HOME, else your data folder)",
            ),
            argument("--endpoint", nargs=2, metavar=("NAME", "URL"), help="save this endpoint"),
            *keys.OPTIONS,
            argument("-y", "--yes", action="store_true", help="ask nothing"),
        ),
        (
            "bench init",
            "bench init ./data --endpoint openai https://api.openai.com/v1 --key-env OPENAI_API_KEY",
        ),
    ),
)
