"""Schemas as callers send them, in the one form that chat completions take: JSON Schema.

Gemini's own form is OpenAPI's of 2021 as its protocol buffers print it: types in capitals, `nullable`, counts
as strings. What is JSON Schema already comes out as it went in.
"""

from typing import Any

from metrics.bounds import DEEPEST, shallow
from metrics.records import Problem

_MAPS = frozenset(("properties", "patternProperties", "$defs", "definitions"))  # names of the caller's own
_LISTS = frozenset(("anyOf", "oneOf", "allOf", "prefixItems"))
_NESTED = frozenset(("items", "additionalProperties", "not"))
_COUNTS = frozenset(("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"))
_NAMES = {
    "any_of": "anyOf",
    "additional_properties": "additionalProperties",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_properties": "minProperties",
    "max_properties": "maxProperties",
    "defs": "$defs",
    "ref": "$ref",
}
# What only Gemini reads: the order to write properties in.
_DROPPED = frozenset(("nullable", "propertyOrdering", "property_ordering"))


def checked(value: Any, where: str) -> dict[str, Any]:
    """A JSON Schema as it was sent. Problem 400 naming `where`: no object, or nested without end."""
    if not isinstance(value, dict):
        raise Problem(400, f"{where} must be an object: a schema", param=where)
    if not shallow(value):
        raise Problem(400, f"{where} is nested more than {DEEPEST} levels deep", param=where)
    return value


def from_openapi(value: Any, where: str) -> dict[str, Any]:
    """Gemini's `parameters` or `responseSchema` as JSON Schema. Problem 400 as from `checked`."""
    lowered: dict[str, Any] = _lowered(checked(value, where))
    return lowered


def _lowered(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    schema: dict[str, Any] = {}
    for key, inner in value.items():
        name = str(_NAMES.get(key, key))
        if name not in _DROPPED:
            schema[name] = _keyword(name, inner)
    if schema.get("type") is None:
        schema.pop("type", None)
    return _nullable(schema) if value.get("nullable") is True else schema


def _keyword(name: str, value: Any) -> Any:
    if name == "type":
        return _type(value)
    if name in _MAPS and isinstance(value, dict):
        return {own: _lowered(inner) for own, inner in value.items()}
    if name in _LISTS and isinstance(value, list):
        return [_lowered(inner) for inner in value]
    if name in _COUNTS and isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:18])
    return _lowered(value) if name in _NESTED else value


def _type(value: Any) -> Any:
    if isinstance(value, list):
        return [_type(item) for item in value]
    if not isinstance(value, str):
        return value
    return None if value == "TYPE_UNSPECIFIED" else value.lower()


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """JSON Schema says "or null" in the type, in the list of values, or as one more alternative."""
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    if isinstance(schema.get("anyOf"), list):
        schema["anyOf"] = [*schema["anyOf"], {"type": "null"}]
    return schema
