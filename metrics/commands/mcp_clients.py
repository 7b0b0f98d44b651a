"""The MCP clients that `bench mcp install` knows: a row each, with where its configuration lies and how a
server stands in it.

No key is ever written: where the server wants one, the entry names the variable that holds it, in the
client's own spelling. Sources: code.claude.com/docs/en/mcp, cursor.com/docs/mcp, Codex's config.toml
reference, code.visualstudio.com/docs/copilot/reference/mcp-configuration, opencode.ai/docs/mcp-servers.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]

KEY = "BENCHWARMERS_KEY"
PATIENCE = 900  # seconds that a panel may take, for clients whose own limit is shorter


@dataclass(frozen=True, slots=True)
class Link:
    """What there is to enter. `command` starts the stdio twin; `keyed`: the server is shown a key; `stdio`:
    the twin is wanted, not the address."""

    url: str
    command: Sequence[str]
    keyed: bool = False
    stdio: bool = False


Entry = Callable[[Link], Json]
Where = Callable[[Mapping[str, str], Path], Path]


@dataclass(frozen=True, slots=True)
class Client:
    """`path` leads to the object that holds the servers by name; `check` is how its user sees that it
    worked. `toml`: its file is TOML, else JSON with comments."""

    name: str
    title: str
    file: Where
    path: tuple[str, ...]
    entry: Entry
    check: str
    toml: bool = False


def headers(link: Link, spelled: str) -> Json:
    return {"headers": {"Authorization": f"Bearer {spelled}"}} if link.keyed else {}


def program(link: Link) -> Json:
    return {"command": link.command[0], "args": list(link.command[1:])}


def claude(link: Link) -> Json:
    if link.stdio:
        return {"type": "stdio", **program(link)}
    return {"type": "http", "url": link.url, **headers(link, f"${{{KEY}}}")}


def cursor(link: Link) -> Json:
    return program(link) if link.stdio else {"url": link.url, **headers(link, f"${{env:{KEY}}}")}


def codex(link: Link) -> Json:
    if link.stdio:
        variables = {"env_vars": [KEY]} if link.keyed else {}
        return {**program(link), **variables, "tool_timeout_sec": PATIENCE}
    token = {"bearer_token_env_var": KEY} if link.keyed else {}
    return {"url": link.url, **token, "tool_timeout_sec": PATIENCE}


def vscode(link: Link) -> Json:
    if link.stdio:
        return {"type": "stdio", **program(link)}
    return {"type": "http", "url": link.url, **headers(link, f"${{env:{KEY}}}")}


def opencode(link: Link) -> Json:
    if link.stdio:
        return {"type": "local", "command": list(link.command), "enabled": True}
    return {"type": "remote", "url": link.url, "enabled": True, **headers(link, f"{{env:{KEY}}}")}


def claude_file(env: Mapping[str, str], home: Path) -> Path:
    return Path(env.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json"


def codex_file(env: Mapping[str, str], home: Path) -> Path:
    return Path(env.get("CODEX_HOME") or home / ".codex") / "config.toml"


def vscode_file(env: Mapping[str, str], home: Path, platform: str = sys.platform) -> Path:
    if platform == "win32":
        folder = Path(env.get("APPDATA") or home / "AppData" / "Roaming")
    elif platform == "darwin":
        folder = home / "Library" / "Application Support"
    else:
        folder = config_home(env, home)
    return folder / "Code" / "User" / "mcp.json"


def opencode_file(env: Mapping[str, str], home: Path) -> Path:
    """The file that is there: with comments or without."""
    if env.get("OPENCODE_CONFIG"):
        return Path(env["OPENCODE_CONFIG"])
    folder = config_home(env, home) / "opencode"
    with_comments = folder / "opencode.jsonc"
    return with_comments if with_comments.exists() else folder / "opencode.json"


def config_home(env: Mapping[str, str], home: Path) -> Path:
    return Path(env.get("XDG_CONFIG_HOME") or home / ".config")


CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        Client("claude", "Claude Code", claude_file, ("mcpServers",), claude, "claude mcp list"),
        Client(
            "cursor",
            "Cursor",
            lambda env, home: home / ".cursor" / "mcp.json",
            ("mcpServers",),
            cursor,
            "restart it and look under Customize, MCPs",
        ),
        Client("codex", "Codex", codex_file, ("mcp_servers",), codex, "codex mcp list", toml=True),
        Client("vscode", "VS Code", vscode_file, ("servers",), vscode, "run: MCP: List Servers"),
        Client("opencode", "opencode", opencode_file, ("mcp",), opencode, "opencode mcp list"),
    )
}


def home_of(env: Mapping[str, str]) -> Path:
    named = env.get("USERPROFILE") if os.name == "nt" else env.get("HOME")
    return Path(named) if named else Path.home()
