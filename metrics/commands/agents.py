"""The coding agents that `bench launch` can start: a row each, with how one process of it finds the server.

Nothing of the user's is written: an agent is told by variables and words, or by a file in a folder that goes
away with it. Where an agent lets a setting be laid over its own configuration, it is; so the user's other
settings, sessions and tools stay. What each reads was tried with the versions that scripts/agents.py pins.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENDPOINT = "bench"  # what the server is called inside an agent's configuration
HEADER = "X-Bench-Launch"
WINDOW = 128_000  # tokens, where nobody knows the members' windows: agents want a figure
LONGEST_ANSWER = 32_000


@dataclass(frozen=True, slots=True)
class Link:
    """What there is to tell an agent. `base` is the server's root; `key` what it shows there; `token` names
    the launch (the same as `key`, where the server wants no key); `folder` is for files of this launch;
    `env` is the user's environment. `window` is in tokens; `sees` whether a member reads pictures."""

    base: str
    model: str
    key: str
    token: str
    folder: Path
    env: Mapping[str, str]
    window: int = WINDOW
    sees: bool = False

    @property
    def openai(self) -> str:
        return f"{self.base}/v1"

    @property
    def answer(self) -> int:
        """The longest answer to ask for, in tokens."""
        return min(LONGEST_ANSWER, self.window // 4)

    @property
    def headers(self) -> dict[str, str]:
        """What must be sent beside the key, for the launch to be told by."""
        return {} if self.key == self.token else {HEADER: self.token}

    def file(self, name: str) -> str:
        return str(self.folder / name)


@dataclass(frozen=True, slots=True)
class Wiring:
    """What one process gets: variables, variables it must not see, words before the user's own, and by name
    in the launch's folder files with their content and links with what they lead to."""

    env: Mapping[str, str]
    unset: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agent:
    """`install` is how a person gets `binary`; `tells` whether it can send a launch's token beside a real
    key; `tools` whether it calls tools, so that a member must."""

    name: str
    title: str
    binary: str
    install: str
    wire: Callable[[Link], Wiring]
    tells: bool = True
    tools: bool = True


def claude(link: Link) -> Wiring:
    """Claude Code's documented variables, and the same as --settings: `env` in a user's settings would win
    over the environment. Any of the variables taken away would lead it elsewhere."""
    models = ["ANTHROPIC_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL", "ANTHROPIC_SMALL_FAST_MODEL"]
    models += [f"ANTHROPIC_DEFAULT_{size}_MODEL" for size in ("HAIKU", "SONNET", "OPUS")]
    theirs = link.env.get("ANTHROPIC_CUSTOM_HEADERS", "")
    ours = [f"{name}: {value}" for name, value in link.headers.items()]
    headers = "\n".join([*theirs.splitlines(), *ours])
    env = {
        "ANTHROPIC_BASE_URL": link.base,
        "ANTHROPIC_AUTH_TOKEN": link.key,
        **dict.fromkeys(models, link.model),
        **({"ANTHROPIC_CUSTOM_HEADERS": headers} if ours else {}),
    }
    return Wiring(
        env,
        ("ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"),
        ("--settings", link.file("settings.json")),
        {"settings.json": _json({"env": env})},
    )


def codex(link: Link) -> Wiring:
    """Settings on the line win over config.toml. A value that is no TOML is taken as text, so nothing needs
    quotes, which batch files on Windows would lose. Its web search runs at OpenAI and would be refused."""
    provider = f"model_providers.{ENDPOINT}"
    settings = {
        "model": link.model,
        "model_provider": ENDPOINT,
        f"{provider}.name": "Benchwarmers",
        f"{provider}.base_url": link.openai,
        f"{provider}.wire_api": "responses",
        f"{provider}.env_key": "BENCH_LAUNCH_KEY",
        **{f"{provider}.env_http_headers.{name}": "BENCH_LAUNCH" for name in link.headers},
        "web_search": "disabled",
    }
    env = {"BENCH_LAUNCH_KEY": link.key, **({"BENCH_LAUNCH": link.token} if link.headers else {})}
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return Wiring(env, words=tuple(words))


def opencode(link: Link) -> Wiring:
    """A configuration in a variable is laid over all of its files; its AI SDK providers are built in."""
    kinds = ["text", *(["image"] if link.sees else [])]
    model = {
        "name": link.model,
        "tool_call": True,
        "attachment": link.sees,
        "modalities": {"input": kinds, "output": ["text"]},
        "limit": {"context": link.window, "output": link.answer},
    }
    options = {"baseURL": link.openai, "apiKey": link.key, "headers": link.headers}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Benchwarmers",
        "options": options,
        "models": {link.model: model},
    }
    named = f"{ENDPOINT}/{link.model}"
    config = {
        "model": named,
        "small_model": named,
        "enabled_providers": [ENDPOINT],
        "provider": {ENDPOINT: provider},
    }
    return Wiring({"OPENCODE_CONFIG_CONTENT": _json(config)})


def pi(link: Link) -> Wiring:
    """An extension adds a provider for this process; models.json would have to be the user's own."""
    model = {
        "id": link.model,
        "name": link.model,
        "reasoning": False,
        "input": ["text", *(["image"] if link.sees else [])],
        "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0),
        "contextWindow": link.window,
        "maxTokens": link.answer,
    }
    provider = {
        "name": "Benchwarmers",
        "baseUrl": link.openai,
        "apiKey": "BENCH_LAUNCH_KEY",
        "api": "openai-completions",
        "headers": link.headers,
        "models": [model],
    }
    script = f"export default (pi) => pi.registerProvider({json.dumps(ENDPOINT)}, {_json(provider)});\n"
    words = ("-e", link.file("bench.js"), "--provider", ENDPOINT, "--model", link.model)
    return Wiring({"BENCH_LAUNCH_KEY": link.key}, words=words, files={"bench.js": script})


def gemini(link: Link) -> Wiring:
    """Who signed in with Google has that in their settings, and the system's, which would win, must be
    root's: so it gets a home with the user's settings but for that, and links to all else in theirs."""
    home = Path(link.env.get("GEMINI_CLI_HOME") or Path.home(), ".gemini")
    settings = _over(home / "settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    theirs = link.env.get("GEMINI_CLI_CUSTOM_HEADERS", "")
    headers = ", ".join(filter(None, [theirs, *(f"{key}: {value}" for key, value in link.headers.items())]))
    env = {
        "GEMINI_API_KEY": link.key,
        "GOOGLE_GEMINI_BASE_URL": link.base,
        "GEMINI_MODEL": link.model,
        "GEMINI_CLI_HOME": str(link.folder),
        **({"GEMINI_CLI_CUSTOM_HEADERS": headers} if link.headers else {}),
    }
    return Wiring(
        env,
        ("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"),
        ("-m", link.model),
        {".gemini/settings.json": _json(settings)},
        {f".gemini/{name}": str(home / name) for name in _names(home) if name != "settings.json"},
    )


def qwen(link: Link) -> Wiring:
    """It leaves pictures out unless its settings say that the model reads them; the system's win over the
    user's, so they are what this launch lays over both."""
    name = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
    place = Path(link.env.get(name) or _system_folder() / "settings.json")
    able = {"modalities": {"image": link.sees}, "contextWindowSize": link.window}
    mine = {
        "security": {"auth": {"selectedType": "openai"}},
        "model": {"name": link.model, "generationConfig": {**able, "customHeaders": link.headers}},
    }
    env = {
        "OPENAI_API_KEY": link.key,
        "OPENAI_BASE_URL": link.openai,
        "OPENAI_MODEL": link.model,
        name: link.file("settings.json"),
    }
    words = ("--auth-type", "openai", "-m", link.model)
    return Wiring(env, (), words, {"settings.json": _json(_over(place, mine))})


def cline(link: Link) -> Wiring:
    """Its providers stand in a file of their own, as `cline auth` writes it."""
    settings = {
        "provider": "openai-compatible",
        "apiKey": link.key,
        "model": link.model,
        "baseUrl": link.openai,
    }
    saved = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    kept = {
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {"openai-compatible": saved},
    }
    env = {"CLINE_PROVIDER_SETTINGS_PATH": link.file("providers.json")}
    words = ("-P", "openai-compatible", "-m", link.model)
    return Wiring(env, (), words, {"providers.json": _json(kept)})


def aider(link: Link) -> Wiring:
    """Words win over its configuration files and .env; the key stays off the line, where others see it."""
    named = f"openai/{link.model}"
    env = {"AIDER_OPENAI_API_KEY": link.key, "OPENAI_API_KEY": link.key}
    models = ("--model", named, "--weak-model", named, "--editor-model", named)
    return Wiring(env, (), ("--openai-api-base", link.openai, *models, "--no-show-model-warnings"))


NPM = "npm install -g "

AGENTS = {
    agent.name: agent
    for agent in (
        Agent("claude", "Claude Code", "claude", f"{NPM}@anthropic-ai/claude-code", claude),
        Agent("codex", "Codex", "codex", f"{NPM}@openai/codex", codex),
        Agent("opencode", "opencode", "opencode", f"{NPM}opencode-ai", opencode),
        Agent("pi", "pi", "pi", f"{NPM}@mariozechner/pi-coding-agent", pi),
        Agent("gemini", "Gemini CLI", "gemini", f"{NPM}@google/gemini-cli", gemini),
        Agent("qwen", "Qwen Code", "qwen", f"{NPM}@qwen-code/qwen-code", qwen),
        Agent("cline", "Cline", "cline", f"{NPM}cline", cline, tells=False),
        Agent("aider", "aider", "aider", "pipx install aider-chat", aider, tells=False, tools=False),
    )
}


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


def _over(place: Path, mine: dict[str, Any]) -> dict[str, Any]:
    """`mine` over the settings that stand in `place`, if any can be read there."""
    try:
        theirs = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return mine
    return _merged(theirs, mine) if isinstance(theirs, dict) else mine


def _system_folder() -> Path:
    """Where Qwen Code looks for the system's settings (its settings.ts)."""
    if os.name == "nt":
        return Path("C:\\ProgramData\\qwen-code")
    if sys.platform == "darwin":
        return Path("/Library/Application Support/QwenCode")
    return Path("/etc/qwen-code")


def _names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return []


def _merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = {
        name: _merged(under[name], value)
        for name, value in over.items()
        if isinstance(value, dict) and isinstance(under.get(name), dict)
    }
    return {**under, **over, **both}
