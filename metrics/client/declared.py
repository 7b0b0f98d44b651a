"""The tools that a request declares, and which of them may be called: chat's shapes, read once for the APIs
that have others.

Shapes: OpenAI's API description 2.3.0 (ChatCompletionTool, CustomToolChatCompletions,
ChatCompletionToolChoiceOption). A chat server gets both as they were sent; what here makes no sense was
never looked at before, so it is left out, and named.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

MODES = ("auto", "required", "none")
# A custom tool, which takes text, as a function: what `called` reads its calls by.
TEXT: Mapping[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}


def body(tool: Any) -> Mapping[str, Any]:
    """What a tool, or a choice of one, says within its kind; {} for nothing."""
    found = (tool.get("custom") or tool.get("function")) if isinstance(tool, dict) else None
    return found if isinstance(found, dict) else {}


def name(tool: Any) -> str:
    """Its name; "" for none."""
    found = body(tool).get("name")
    return found if isinstance(found, str) else ""


class Choice(NamedTuple):
    """Which tools may be called. `mode` is one of MODES, "" where nothing is said; `names` are the only ones,
    None for all. `listed`: they are allowed, where otherwise the one there is must be called."""

    mode: str = ""
    names: tuple[str, ...] | None = None
    listed: bool = False

    def shows(self, tool: Any) -> bool:
        """Whether the model may know of a tool."""
        return not self.listed or name(tool) in (self.names or ())


def choice(value: Any, changed: list[str]) -> Choice:
    """`tool_choice`; one that nobody can follow is named in `changed`."""
    if value is None:
        return Choice()
    if value in MODES:
        return Choice(str(value))
    if isinstance(value, dict):
        if value.get("type") == "allowed_tools":
            plan = value.get("allowed_tools")
            plan = plan if isinstance(plan, dict) else value
            mode, tools = plan.get("mode", "auto"), plan.get("tools")
            if mode in MODES and isinstance(tools, list):
                return Choice(str(mode), tuple(filter(None, map(name, tools))), listed=True)
        elif named := name(value):
            return Choice("required", (named,))
    changed.append("tool_choice left out (there is no such choice)")
    return Choice()
