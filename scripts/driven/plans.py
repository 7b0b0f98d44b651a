"""What the scripted model says next: a plan in the user's own words, played step by step with whatever tools
the agent offers.

    PLAN {"steps": [{"do": "read" | "write" | "run" | "call", …}], "together": false, "final": "DONE {call}"}
    ECHO words

`{token}` is the secret that the first tool result (or else a message) holds, `{picture}` the size of the
latest picture, `{call}` the id of a panel's first seat in a result: a final text proves that all of them
reached the model. Where an agent has no tool of a step's kind, its shell does it. A step that is a `call`
names its `tool`, of an MCP server, and the `arguments`.
"""

import base64
import json
import re
import shlex
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

TOKEN = re.compile(r"TOKEN-[0-9a-f]+")
SEAT = re.compile(r"p\d{8}-\d{6}-[0-9a-f]{8}\.member1")
DIRECTIVE = re.compile(r"(?:^|[\s>\"])(PLAN|ECHO) (.+)", re.DOTALL)

# What agents call the tool for a kind of step, in lower case with every sign an underscore.
TOOLS = {
    "read": ("read", "read_file", "readfile", "view", "read_files"),
    "write": ("write", "write_file", "write_to_file", "create_file", "editor", "builtin_create_new_file"),
    "run": (
        "bash",
        "shell",
        "exec_command",
        "run_shell_command",
        "run_command",
        "run_commands",
        "execute_command",
        "run_terminal_command",
    ),
}
ENDS = ("attempt_completion", "submit_and_exit")  # some agents end by a call, not by words

# The part of a step that an argument wants, by its name without underscores.
PARTS = {
    "path": "path",
    "filepath": "path",
    "file": "path",
    "files": "path",
    "paths": "path",
    "absolutepath": "path",
    "content": "text",
    "contents": "text",
    "text": "text",
    "filetext": "text",
    "newtext": "text",
    "command": "command",
    "commands": "command",
    "cmd": "command",
}
DULL: Json = {"integer": 1, "number": 1, "boolean": False, "null": None}


@dataclass(frozen=True)
class Said:
    """The model's turn: words, and calls as (name, arguments)."""

    text: str
    calls: tuple[tuple[str, Json], ...] = ()


def next_turn(body: Mapping[str, Any]) -> Said:
    """What the model answers to a chat completions request."""
    messages, tools = list(body["messages"]), [tool["function"] for tool in body.get("tools") or ()]
    at, kind, rest = directive(messages)
    if kind == "ECHO":
        return Said(rest.splitlines()[0].strip())
    if kind != "PLAN":
        return Said("nothing was asked")
    try:
        plan, _ = json.JSONDecoder().raw_decode(rest)
    except ValueError:
        return Said("a title")  # a side request that quotes the start of the job
    return played(plan, messages, at, tools)


def directive(messages: Sequence[Json]) -> tuple[int, str, str]:
    """(the index of its message, PLAN or ECHO, what follows) of the newest in the user's words."""
    for at in range(len(messages) - 1, -1, -1):
        found = DIRECTIVE.search(words(messages[at])) if messages[at]["role"] == "user" else None
        if found:
            return at, found[1], found[2]
    return 0, "", ""


def played(plan: Json, messages: Sequence[Json], at: int, tools: Sequence[Json]) -> Said:
    """The plan's next step or steps, or its end."""
    after = messages[at + 1 :]
    done = sum(len(message.get("tool_calls") or ()) for message in after if message["role"] == "assistant")
    steps = plan["steps"] if plan.get("together") else plan["steps"][: done + 1]
    left = [filled(step, messages) for step in steps[done:]]
    if left and not tools:
        return Said("a title")
    if left:
        return Said(f"Step {done + 1}.", tuple(call(step, tools) for step in left))
    final = filled({"text": plan["final"]}, messages)["text"]
    end = offered(ENDS, tools)
    if end and not any(
        message["role"] == "assistant" and calls_of(message, end["name"]) for message in after
    ):
        return Said("", ((end["name"], arguments(end, {"text": final}, say=final)),))
    return Said(final)


def calls_of(message: Json, name: str) -> bool:
    return any(one["function"]["name"] == name for one in message.get("tool_calls") or ())


def filled(step: Json, messages: Sequence[Json]) -> Json:
    found = {"{token}": secret(messages), "{picture}": picture(messages), "{call}": seat(messages)}
    return {name: replaced(value, found) for name, value in step.items()}


def replaced(said: Any, found: Mapping[str, str]) -> Any:
    """A value with the marks in its texts filled in."""
    if isinstance(said, dict):
        return {name: replaced(value, found) for name, value in said.items()}
    if isinstance(said, str):
        for mark, value in found.items():
            said = said.replace(mark, value)
    return said


def seat(messages: Sequence[Json]) -> str:
    """The first that a tool's result names."""
    results = "\n".join(words(message) for message in messages if message["role"] == "tool")
    found = SEAT.search(results)
    return found[0] if found else "NO-CALL"


def secret(messages: Sequence[Json]) -> str:
    """The first in a tool's result; for agents without tools, in any message."""
    results = [words(message) for message in messages if message["role"] == "tool"]
    for text in (*results, *map(words, messages)):
        if found := TOKEN.search(text):
            return found[0]
    return "NO-TOKEN"


def picture(messages: Sequence[Json]) -> str:
    """The size of the latest picture, from its own bytes; it must be a data URL in standard base64."""
    for url in reversed(list(pictures(messages))):
        data = base64.b64decode(url.partition(";base64,")[2], validate=True)
        if data.startswith(b"\x89PNG"):
            return "{}x{}".format(*struct.unpack(">II", data[16:24]))
    return "no picture"


def pictures(messages: Sequence[Json]) -> Iterator[str]:
    for message in messages:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            if part["type"] == "image_url":
                yield part["image_url"]["url"]


def words(message: Json) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text") or "" for part in content)
    return content or ""


# --- calling what an agent offers


def call(step: Json, tools: Sequence[Json]) -> tuple[str, Json]:
    """The step as a call of the tool that does it: one of its own kind, or the shell."""
    if step["do"] == "call":
        named = offered((step["tool"],), tools)
        return (named["name"], step["arguments"]) if named else (f"no_tool_{step['tool']}", {})
    tool = offered(TOOLS[step["do"]], tools)
    if tool is None:
        step, tool = by_shell(step), offered(TOOLS["run"], tools)
    if tool is None:
        return f"no_tool_to_{step['do']}", {}
    return tool["name"], arguments(tool, step)


def offered(names: Sequence[str], tools: Sequence[Json]) -> Json | None:
    """The first of `names` that is among the tools, alone or after a prefix."""
    by_name = {re.sub(r"\W", "_", tool["name"]).lower(): tool for tool in tools}
    for name in names:
        if name in by_name:
            return by_name[name]
    return next((tool for name in names for full, tool in by_name.items() if full.endswith(f"_{name}")), None)


def by_shell(step: Json) -> Json:
    path = shlex.quote(step.get("path", ""))
    lines = {"read": f"cat {path}", "write": f"printf %s {shlex.quote(step.get('text', ''))} > {path}"}
    return {**step, "do": "run", "command": lines.get(step["do"], step.get("command", ""))}


def arguments(tool: Json, step: Json, say: str = "") -> Json:
    schema = tool.get("parameters") or {}
    needed = schema.get("required") or ()
    given = {}
    for name, wanted in (schema.get("properties") or {}).items():
        part = PARTS.get(re.sub(r"[_-]", "", name).lower())
        if name in needed or step.get(part or ""):
            given[name] = value(wanted, step, step.get(part or "") or say)
    return given


def value(schema: Json, step: Json, part: str) -> Any:
    """Something that fits the schema: the step's part where there is one, else the dullest."""
    options = [one for key in ("anyOf", "oneOf") for one in schema.get(key) or ()]
    if options:
        fitting = [one for one in options if one.get("type") == ("string" if part else "null")]
        return value((fitting or options)[0], step, part)
    kind = schema.get("type")
    kind = next((one for one in kind if one != "null"), "null") if isinstance(kind, list) else kind
    if schema.get("enum"):
        return "create" if "create" in schema["enum"] else schema["enum"][0]
    if kind == "array":
        return [value(schema.get("items") or {}, step, part)] if part else []
    if kind == "object":
        return arguments({"parameters": schema}, step)
    return DULL.get(kind, part or "step")
