"""Tools, the choice among them, and schemas, as the Messages API has them.

The idea: chat's functions in, this API's tools out; a tool of this API's own caller goes out as it came, with
the fields that chat has no words for. Shapes: anthropic 2.14.0, types/tool_param.py, tool_choice_param.py and
lib/_parse/_transform.py (what a schema of structured outputs may hold).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from metrics.client import declared

Tool = Mapping[str, Any]

CHOICES = {"auto": "auto", "required": "any", "none": "none"}
ANYTHING: Mapping[str, Any] = {"type": "object", "properties": {}}

_INSIDE = ("properties", "$defs", "definitions")
_LISTED = ("anyOf", "allOf", "oneOf")
# Keywords that are refused: they are told in words.
_NARROWER = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
)


def written(tools: Iterable[Tool], own: Any) -> list[dict[str, Any]]:
    """`tools` as this API declares them; those of the same name in `own`, its caller's list, as they came."""
    theirs = {str(of(tool, "name")): tool for tool in own or () if isinstance(tool, dict)}
    return [
        _as_sent(theirs[declared.name(tool)]) if declared.name(tool) in theirs else _made(tool)
        for tool in tools
    ]


def _as_sent(tool: Tool) -> dict[str, Any]:
    return {name: value for name, value in tool.items() if value is not None}


def _made(tool: Tool) -> dict[str, Any]:
    """A custom tool is a function of one string."""
    function = declared.body(tool)
    schema = function.get("parameters")
    made: dict[str, Any] = {"name": declared.name(tool)}
    if function.get("description"):
        made["description"] = function["description"]
    if "custom" in tool:
        made["input_schema"] = declared.TEXT
    else:
        made["input_schema"] = {"type": "object", **schema} if isinstance(schema, dict) else ANYTHING
    if function.get("strict") is True:
        made["strict"] = True
    return {**made, **({"cache_control": tool["_cache"]} if tool.get("_cache") else {})}


def choice(wish: declared.Choice, parallel: Any) -> dict[str, Any]:
    """`tool_choice` for chat's choice and its parallel_tool_calls; {} where neither says anything."""
    told: dict[str, Any] = {}
    if wish.names and not wish.listed:
        told = {"type": "tool", "name": wish.names[0]}
    elif wish.mode:
        told = {"type": CHOICES[wish.mode]}
    if parallel is False and told.get("type") != "none":
        told = {"type": "auto", **told, "disable_parallel_tool_use": True}
    return told


def closed(schema: Any) -> Any:
    """A schema as structured outputs want it: every object says that it takes no more than it names, one of
    several is `anyOf`, and what narrows a value is part of its description."""
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    narrower: list[str] = []
    for name, value in schema.items():
        if name in _NARROWER or (name == "minItems" and value not in (0, 1)):
            narrower.append(f"{name}: {value}")
        elif name in _INSIDE and isinstance(value, dict):
            made[name] = {key: closed(inner) for key, inner in value.items()}
        elif name in _LISTED and isinstance(value, list):
            made["anyOf" if name == "oneOf" else name] = [closed(inner) for inner in value]
        else:
            made[name] = closed(value) if name == "items" else value
    if narrower:
        said = [made["description"]] if made.get("description") else []
        made["description"] = "\n\n".join([*said, f"{{{', '.join(narrower)}}}"])
    if made.get("type") == "object" or "properties" in made:
        made["additionalProperties"] = False
    return made


def of(value: Any, name: str) -> Any:
    """A field of what may be no object."""
    return value.get(name) if isinstance(value, dict) else None
