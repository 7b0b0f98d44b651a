"""Arguments of tool calls: as objects, for the APIs that write them so, and as the text that chat has."""

import json
from collections.abc import Mapping
from typing import Any

from metrics.client import objects
from metrics.records import Target


def called(call: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and arguments of a call in chat's shape; a custom call's text is its `input`.

    Arguments that are no object, as a model may have written them, are told as the text they are: whoever
    reads on should see what went wrong.
    """
    if isinstance(custom := call.get("custom"), dict):
        return str(custom.get("name")), {"input": custom.get("input") or ""}
    function = call["function"]
    text = function.get("arguments") or "{}"
    value = as_object(text) if isinstance(text, str) else text
    return str(function["name"]), value if isinstance(value, dict) else {"arguments": text}


def as_object(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, if it is one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def told(value: Any) -> str:
    """Arguments, or a piece of them, of an API that writes them as text; some servers send the object
    itself."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def as_text(arguments: Any, target: Target) -> str:
    """The arguments of a new call as chat has them, JSON text; {} for none. Problem 502 for what JSON cannot
    hold: nested without end, or a number past all counting."""
    try:
        return json.dumps(
            {} if arguments is None else arguments,
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        )
    except (ValueError, RecursionError):
        raise objects.problem(target, "called a tool with arguments that are no JSON", "garbage") from None
