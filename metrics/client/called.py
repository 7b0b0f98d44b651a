"""A tool call of the conversation so far, for APIs that write its arguments as an object."""

import json
from collections.abc import Mapping
from typing import Any


def called(call: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and arguments of a call in chat's shape; a custom call's text is its `input`.

    Arguments that are no object, as a model may have written them, are told as the text they are: whoever
    reads on should see what went wrong.
    """
    if isinstance(custom := call.get("custom"), Mapping):
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
