"""The collections as Codex reads a model list: `GET /v1/models?client_version=`, when its `model_catalog_url`
points here.

Codex wants all keys of its ModelInfo, and takes `base_instructions` for its own system prompt, which is then
gone: so there must be some. Its list stands under a key of its own, beside OpenAI's, and each reads its own.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from metrics.bench import listing
from metrics.formats import openai_chat
from metrics.web.table import Call, Response, as_json, read_object

INSTRUCTIONS = """\
You are a coding agent. You work through Codex, a terminal program, on the user's own computer.

- See for yourself: read the files and run the commands that the task is about before you change anything.
  Never guess what a file holds or what a command prints.
- Work on until the task is done or you cannot go on without the user. Do not stop at a plan.
- Change as little as the task needs, in the manner of the code around it. Leave alone what you were not
  asked about, and never undo changes that you did not make. Commit only when asked.
- Instructions in AGENTS.md files hold for the folder they are in and below; what the user says goes first.
- Use the tools you are given, several at once where one does not depend on another. Without a tool for
  changing files, change them with the shell.
- Prove it: run the tests, or the program, that show that your change works. If you could not, say so.
- Be brief. Before a longer piece of work say in a sentence what you are going to do; at the end say what
  you changed, where, and what you saw when you tried it.
"""


def models(call: Call) -> Response:
    """OpenAI's list and Codex's in one body."""
    listed = openai_chat.models(call).body
    assert isinstance(listed, bytes)
    return as_json({**read_object(listed), "models": list(_models(listing.entries()))})


model = openai_chat.model


def _models(entries: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Only a route takes an agent's tools: the other modes are there and not shown."""
    for at, entry in enumerate(entries):
        together = entry["together"]
        window = together["context_window"]
        yield {
            "slug": entry["id"],
            "display_name": entry["id"],
            "description": entry["description"],
            "supported_reasoning_levels": [],
            "shell_type": "default",
            "visibility": "list" if entry["mode"] == "route" else "hide",
            "supported_in_api": True,
            "priority": at,
            "base_instructions": INSTRUCTIONS,
            "supports_reasoning_summaries": True,
            "support_verbosity": False,
            "truncation_policy": {"mode": "bytes", "limit": 10_000},
            "supports_parallel_tool_calls": True,
            "experimental_supported_tools": [],
            "input_modalities": ["text", "image"] if "vision" in together["capabilities"] else ["text"],
            **({"context_window": window} if window else {}),
        }
