"""The agents, a row each: which package, how it is run headless, and what it cannot do.

Most run as their users would start them here, by `bench launch`; those that launch does not know, or knows
with another API, are told by the configuration that README's table gives. An agent is unmodified, has an
empty home of its own, and no address but the server's.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KEY = "any-key"
ENDPOINT = "bench"


@dataclass(frozen=True)
class Errand:
    """One run. `base` is the server's root; `token` the secret in a file of `work`; `image` the name of a
    picture there, if one is to be shown; `edits` whether files are to be changed."""

    home: Path
    work: Path
    base: str
    model: str
    prompt: str
    image: str = ""
    edits: bool = False
    token: str = ""

    @property
    def picture(self) -> str:
        return str(self.work / self.image)


@dataclass(frozen=True)
class Row:
    """`words` is what follows the program's name; `launch` the agent as `bench launch` calls it; `files` what
    its home holds, by name, where it is not launched. `typed`: the prompt goes to stdin. `cannot` maps a job
    to the reason why it is not given."""

    name: str
    package: str
    binary: str
    words: Callable[[Errand], list[str]]
    launch: str = ""
    files: Callable[[Errand], Mapping[str, str]] = lambda errand: {}
    env: Mapping[str, str] = field(default_factory=dict)
    typed: bool = False
    reads_pictures: bool = False  # it looks at pictures with its own tool for reading
    gives_up: bool = False  # a turn that broke off is not tried again by the agent itself
    proxies: bool = True  # whether a proxy can be named without being asked for this computer
    cannot: Mapping[str, str] = field(default_factory=dict)


def claude(errand: Errand) -> list[str]:
    turns = ["--output-format", "json", "--max-turns", "12"]
    return ["-p", errand.prompt, "--dangerously-skip-permissions", *turns]


def codex(errand: Errand) -> list[str]:
    shown = ["-i", errand.picture, "--"] if errand.image else []
    free = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json"]
    return ["exec", *free, *shown, errand.prompt]


def opencode(errand: Errand) -> list[str]:
    return ["run", "--auto", *(["-f", errand.picture] if errand.image else [])]


def opencode_by_name(errand: Errand) -> list[str]:
    return [*opencode(errand), "-m", f"{ENDPOINT}/{errand.model}"]


def gemini(errand: Errand) -> list[str]:
    return ["-p", at_image(errand), "--yolo", "--skip-trust", "-o", "json"]


def qwen(errand: Errand) -> list[str]:
    return [at_image(errand), "--yolo", "-o", "json"]


def at_image(errand: Errand) -> str:
    return f"@{errand.image} {errand.prompt}" if errand.image else errand.prompt


def pi(errand: Errand) -> list[str]:
    shown = [f"@{errand.picture}"] if errand.image else []
    return ["-p", "--offline", "--no-session", *shown, errand.prompt]


def pi_by_name(errand: Errand) -> list[str]:
    return ["--provider", ENDPOINT, "--model", errand.model, *pi(errand)]


def cline(errand: Errand) -> list[str]:
    shown = f" @{errand.picture}" if errand.image else ""
    return ["--auto-approve", "true", "--json", "-t", "100", errand.prompt + shown]


def continued(errand: Errand) -> list[str]:
    return ["-p", errand.prompt, "--config", str(errand.home / "config.yaml"), "--auto"]


def aider(errand: Errand) -> list[str]:
    quiet = "--no-git --no-check-update --no-analytics --no-show-release-notes --no-detect-urls"
    shown = ["--read", "input.txt", "--file", "output.txt"] if errand.edits else []
    edit = ["--edit-format", "whole", "--yes-always", "--map-tokens", "0", "--no-suggest-shell-commands"]
    return [*edit, *quiet.split(), *shown, "--message", errand.prompt]


# --- configuration of those that are not launched


def opencode_files(npm: str) -> Callable[[Errand], Mapping[str, str]]:
    def files(errand: Errand) -> Mapping[str, str]:
        modalities = {"input": ["text", "image"], "output": ["text"]}
        limit = {"context": 200_000, "output": 8_192}
        model = {"tool_call": True, "attachment": True, "modalities": modalities, "limit": limit}
        options = {"baseURL": f"{errand.base}/v1", "apiKey": KEY}
        provider = {"npm": npm, "options": options, "models": {errand.model: model}}
        named = f"{ENDPOINT}/{errand.model}"
        settings = {"model": named, "small_model": named, "provider": {ENDPOINT: provider}}
        return {".config/opencode/opencode.json": json.dumps(settings)}

    return files


def pi_files(api: str, suffix: str) -> Callable[[Errand], Mapping[str, str]]:
    def files(errand: Errand) -> Mapping[str, str]:
        model: dict[str, Any] = {"id": errand.model, "input": ["text", "image"], "contextWindow": 200_000}
        provider = {"baseUrl": errand.base + suffix, "api": api, "apiKey": KEY, "models": [model]}
        return {".pi/agent/models.json": json.dumps({"providers": {ENDPOINT: provider}})}

    return files


def continue_files(errand: Errand) -> Mapping[str, str]:
    model = {
        "name": ENDPOINT,
        "provider": "openai",
        "model": errand.model,
        "apiBase": f"{errand.base}/v1",
        "apiKey": KEY,
        "roles": ["chat", "edit", "apply"],
        "capabilities": ["tool_use", "image_input"],
    }
    settings = {"name": ENDPOINT, "version": "1.0.0", "schema": "v1", "models": [model]}
    return {"config.yaml": json.dumps(settings)}  # JSON is YAML too


CLAUDE = {
    "IS_SANDBOX": "1",  # what it asks of root before it goes without permissions
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}
OPENCODE = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
}
CONTINUE = {"CONTINUE_TELEMETRY_ENABLED": "0", "CONTINUE_ALLOW_ANONYMOUS_TELEMETRY": "0"}
NPM_CLAUDE, NPM_OPENCODE = "@anthropic-ai/claude-code", "opencode-ai"
NPM_PI = "@mariozechner/pi-coding-agent"
NO_TOOLS = {"parallel": "it calls no tools", "image": "it sends pictures only to models of its own table"}

ROWS = (
    Row("claude", NPM_CLAUDE, "claude", claude, launch="claude", env=CLAUDE, reads_pictures=True),
    Row("codex", "@openai/codex", "codex", codex, launch="codex"),
    Row("opencode", NPM_OPENCODE, "opencode", opencode, launch="opencode", env=OPENCODE, typed=True),
    *(
        Row(
            f"opencode-{name}",
            NPM_OPENCODE,
            "opencode",
            opencode_by_name,
            files=opencode_files(npm),
            env=OPENCODE,
            typed=True,
        )
        for name, npm in (("anthropic", "@ai-sdk/anthropic"), ("responses", "@ai-sdk/openai"))
    ),
    Row(
        "gemini",
        "@google/gemini-cli",
        "gemini",
        gemini,
        launch="gemini",
        env={"GEMINI_CLI_NO_RELAUNCH": "1"},
    ),
    Row("qwen", "@qwen-code/qwen-code", "qwen", qwen, launch="qwen", gives_up=True, proxies=False),
    Row("pi", NPM_PI, "pi", pi, launch="pi", env={"PI_TELEMETRY": "0"}),
    *(
        Row(f"pi-{name}", NPM_PI, "pi", pi_by_name, files=pi_files(api, suffix), env={"PI_TELEMETRY": "0"})
        for name, api, suffix in (
            ("anthropic", "anthropic-messages", ""),
            ("responses", "openai-responses", "/v1"),
        )
    ),
    Row("cline", "cline", "cline", cline, launch="cline", env={"CLINE_TELEMETRY": "0"}, gives_up=True),
    Row(
        "continue",
        "@continuedev/cli",
        "cn",
        continued,
        files=continue_files,
        env=CONTINUE,
        cannot={"image": "headless it attaches no pictures"},
    ),
    Row(
        "aider",
        "aider-chat",
        "aider",
        aider,
        launch="aider",
        env={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        cannot=NO_TOOLS,
    ),
)
AGENTS = {row.name: row for row in ROWS}
