"""Schemas as Gemini takes them in `parametersJsonSchema` and `responseJsonSchema`: JSON Schema, in part.

The idea: these two fields are JSON Schema, where the older `parameters` and `responseSchema` are protocol
buffers that refuse a whole request for one keyword they have no field for. What they support is a list
(ai.google.dev/api/generate-content, responseJsonSchema), so KEPT is that list, and what else can be said in
its words is: `const` as an `enum`, `allOf` as one schema, `exclusiveMinimum` of an integer as its `minimum`.
References are put in place, and one that leads back to itself ends in a plain object: Gemini unrolls circles
only where a property is not required. Keywords of nobody's are dropped, since some of its servers refuse them
(github.com/code-yeongyu/senpi/pull/647).
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

KEPT = frozenset(
    ("type", "format", "title", "description", "enum", "minItems", "maxItems", "minimum", "maximum")
    + ("properties", "required", "additionalProperties", "items", "prefixItems", "anyOf", "oneOf")
    + ("propertyOrdering",)
    # Fields of Gemini's own Schema, which its other form has taken from the start.
    + ("pattern", "minLength", "maxLength", "minProperties", "maxProperties", "default")
)
MOST = 4000  # schemas in one; references that branch again and again would make it grow without end
DEEPEST = 60

Schema = dict[str, Any]
# What most schemas are made of, and nothing else: taken as it is.
_PLAIN = frozenset(("type", "format", "title", "description", "pattern", "minLength", "maxLength", "default"))
_LISTS = ("anyOf", "oneOf", "prefixItems")
_INNER = ("items", "additionalProperties")
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array"}


def parameters(schema: Any) -> Schema | None:
    """The arguments of a function: always an object, None when it has none (the field is then left out)."""
    made = reduced(schema) if isinstance(schema, dict) else {}
    made["type"] = "object"
    more = made.get("additionalProperties", False)
    alternatives = "anyOf" in made or "oneOf" in made
    return made if made.get("properties") or more is not False or alternatives else None


def reduced(schema: Mapping[str, Any]) -> Schema:
    """`schema` in Gemini's words, without references."""
    return _Reducer(schema).schema(schema, (), 0)


class _Reducer:
    """One schema being rewritten: its root, for references, and how much has been written."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._made = 0

    def schema(self, value: Any, inside: tuple[str, ...], depth: int) -> Schema:
        """`inside` are the references that led here."""
        self._made += 1
        if not isinstance(value, dict):
            return {}  # `true`: anything
        if self._made > MOST or depth > DEEPEST:
            return _cut(value)
        if value.keys() <= _PLAIN:
            return dict(value)
        if isinstance(reference := value.get("$ref"), str):
            return self._referred(reference, value, inside, depth)
        value = self._joined(value, inside)
        made = {name: inner for name, inner in value.items() if name in KEPT}
        for name in _LISTS:
            if isinstance(value.get(name), list):
                made[name] = [self.schema(inner, inside, depth + 1) for inner in value[name]]
        for name in _INNER:
            if isinstance(value.get(name), dict):
                made[name] = self.schema(value[name], inside, depth + 1)
        _tuple(value, made, [self.schema(i, inside, depth + 1) for i in _items(value)])
        if "properties" in made:
            made["properties"] = self._properties(made["properties"], inside, depth)
        _values(value, made)
        _bounds(value, made)
        _nullable(value, made)
        return made

    def _properties(self, value: Any, inside: tuple[str, ...], depth: int) -> Schema:
        """A property of `false` can have no value, and is left out."""
        if not isinstance(value, dict):
            return {}
        return {
            str(name): self.schema(inner, inside, depth + 1)
            for name, inner in value.items()
            if inner is not False
        }

    def _referred(
        self, reference: str, beside: Mapping[str, Any], inside: tuple[str, ...], depth: int
    ) -> Schema:
        """What a reference stands for, and what is said beside it."""
        found = self._found(reference)
        own = {name: inner for name, inner in beside.items() if name != "$ref"}
        if found is None:
            return self.schema(own, inside, depth)
        if reference in inside:
            return _cut({**found, **own})
        return self.schema({**found, **own}, (*inside, reference), depth + 1)

    def _found(self, reference: str) -> Mapping[str, Any] | None:
        """The schema at a JSON pointer of this document; None for another document's, and for none."""
        if not reference.startswith("#"):
            return None
        found: Any = self._root
        for name in unquote(reference[1:]).split("/")[1:]:
            name = name.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list):
                found = found[int(name)] if name.isdigit() and int(name) < len(found) else None
            else:
                found = found.get(name) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else None

    def _joined(self, value: Mapping[str, Any], inside: tuple[str, ...]) -> Mapping[str, Any]:
        """`allOf` as one schema: all properties, all that is required, of the rest the first that speaks."""
        if not isinstance(value.get("allOf"), list):
            return value
        joined: Schema = {name: inner for name, inner in value.items() if name != "allOf"}
        for part in self._parts(value["allOf"], inside):
            for name, inner in part.items():
                if name == "properties" and isinstance(inner, dict):
                    joined[name] = {**inner, **joined.get(name, {})}
                elif name == "required" and isinstance(inner, list):
                    joined[name] = [*dict.fromkeys([*joined.get(name, []), *inner])]
                else:
                    joined.setdefault(name, inner)
        return joined

    def _parts(self, parts: list[Any], inside: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
        for part in parts:
            seen = set(inside)
            while isinstance(part, dict) and isinstance(part.get("$ref"), str) and part["$ref"] not in seen:
                seen.add(part["$ref"])
                part = self._found(part["$ref"])
            if isinstance(part, dict):
                yield self._joined(part, (*inside, *seen)) if len(inside) < DEEPEST else part


def _cut(value: Mapping[str, Any]) -> Schema:
    """What is left of a schema that would go on for ever: what it is, not what is in it."""
    kind = value.get("type")
    kind = kind if isinstance(kind, str) else "object"
    told = value.get("description")
    return {"type": kind, **({"description": told} if isinstance(told, str) else {})}


def _items(value: Mapping[str, Any]) -> list[Any]:
    """The places of a tuple as they were written before 2020: a list in `items`."""
    items = value.get("items")
    return items if isinstance(items, list) else []


def _tuple(value: Mapping[str, Any], made: Schema, places: list[Schema]) -> None:
    if isinstance(value.get("items"), list):
        del made["items"]
        made["prefixItems"] = places
    elif isinstance(value.get("items"), bool):
        del made["items"]


def _values(value: Mapping[str, Any], made: Schema) -> None:
    """`enum` is for strings and numbers: null is a type, and true and false need no list."""
    listed = [value["const"]] if "const" in value else value.get("enum")
    if not isinstance(listed, list):
        made.pop("enum", None)
        return
    if "type" not in made:
        kinds = [*dict.fromkeys(_TYPES.get(type(one), "null") for one in listed)]
        made["type"] = kinds[0] if len(kinds) == 1 else kinds
    made["enum"] = [one for one in listed if isinstance(one, str | int | float) and not isinstance(one, bool)]
    if len(made["enum"]) + listed.count(None) < len(listed) or not made["enum"]:
        del made["enum"]


def _bounds(value: Mapping[str, Any], made: Schema) -> None:
    for exclusive, name, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
        bound = value.get(exclusive)
        whole = isinstance(bound, int) and not isinstance(bound, bool) and value.get("type") == "integer"
        if whole and bound is not None and name not in made:
            made[name] = bound + step


def _nullable(value: Mapping[str, Any], made: Schema) -> None:
    """OpenAPI's word for what JSON Schema says in the type."""
    if value.get("nullable") is True and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
