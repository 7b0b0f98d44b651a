"""Arguments for a tool, made from its JSON schema and from hints in what the user and earlier tools said.

A value is, in this order: what the schema fixes (const, enum, default, examples), a hint that fits the
property's name, the smallest value the schema allows.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

DEEPEST = 6
FILE = re.compile(r"(?:^|_)(?:file|path|filename|file_?path|notebook_path|target_file|uri)s?$", re.I)
FOLDER = re.compile(r"dir|folder|directory|cwd|root", re.I)
QUERY = re.compile(r"query|pattern|search|^q$|term|keyword|regex|needle", re.I)
PLACE = re.compile(r"city|location|place|where|town", re.I)
LINK = re.compile(r"url|link|href", re.I)
COMMAND = re.compile(r"^(?:cmd|command|script)$", re.I)
FILE_NAME = re.compile(r"(?<![\w/.@-])(?:[\w.-]+/)*[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,5}\b")
QUOTED = re.compile(r"[\"“'`]([^\"”'`\n]{1,100})[\"”'`]")
URL = re.compile(r"https?://[^\s)>\"'`]+")
NUMBER = re.compile(r"(?<![\w.])-?\d{1,12}(?:\.\d{1,6})?(?![\w.]*\w)")
NAME = re.compile(r"(?<=[a-z,:] )[A-Z][\w-]+(?: [A-Z][\w-]+)*")
FORMATS = {
    "date": "2025-01-31",
    "date-time": "2025-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "practice@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "127.0.0.1",
    "hostname": "localhost",
}
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hints:
    """What a conversation offers: file names (the user's first, `asked` of them), quotes, addresses,
    numbers, proper names."""

    text: str = ""
    files: tuple[str, ...] = ()
    asked: int = 0
    quotes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    looks: bool = False

    def about(self, file: str) -> "Hints":
        """The same hints with one file before all others."""
        return replace(self, files=(file, *self.files)) if file else self

    def for_a_look(self) -> "Hints":
        """The same hints for a tool that looks around: a path is then a folder's."""
        return replace(self, files=(".",), looks=True)


def hints(text: str, results: Sequence[str]) -> Hints:
    """Hints in the newest user message, and file names in what tools returned when that names none."""
    text = text[-20_000:]
    links = tuple(URL.findall(text))
    asked = tuple(dict.fromkeys(FILE_NAME.findall(URL.sub(" ", text))))
    seen = (
        ()
        if asked
        else tuple(dict.fromkeys(name for result in results for name in FILE_NAME.findall(result[:20_000])))[
            :1
        ]
    )
    return Hints(
        text,
        asked + seen,
        len(asked),
        tuple(QUOTED.findall(text)),
        links,
        tuple(float(number) for number in NUMBER.findall(text)),
        tuple(NAME.findall(text)),
    )


def build(schema: Schema, known: Hints) -> dict[str, Any]:
    """An object with every required property of a schema, and the optional ones that a hint speaks of."""
    made = _value("", schema or {"type": "object"}, known, schema, 0)
    return made if isinstance(made, dict) else {}


def _value(name: str, schema: Schema, known: Hints, root: Schema, depth: int) -> Any:
    schema = _resolved(schema, root)
    if "const" in schema:
        return schema["const"]
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return next(
            (option for option in options if isinstance(option, str) and _said(option, known.text)),
            options[0],
        )
    kind = _kind(schema)
    if kind == "object":
        return _object(schema, known, root, depth)
    hinted = _hinted(name, kind, known)
    if hinted is not None and _fits(hinted, schema):
        return hinted
    if "default" in schema:
        return schema["default"]
    examples = schema.get("examples")
    if isinstance(examples, list) and examples:
        return examples[0]
    if kind == "array":
        return _array(name, schema, known, root, depth)
    return _smallest(name, kind, schema)


def _resolved(schema: Schema, root: Schema, depth: int = 0) -> Schema:
    """A schema with its `$ref`, `allOf`, `anyOf` and `oneOf` folded in: the first alternative that is not
    null."""
    for _ in range(DEEPEST):
        reference = schema.get("$ref")
        several = next(
            (schema[key] for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list) and schema[key]),
            None,
        )
        if isinstance(reference, str):
            schema = _at(root, reference)
        elif isinstance(schema.get("allOf"), list):
            parts = [
                _resolved(part, root, depth + 1)
                for part in schema["allOf"]
                if isinstance(part, dict) and depth < DEEPEST
            ]
            schema = _merged([{key: value for key, value in schema.items() if key != "allOf"}, *parts])
        elif several and "type" not in schema:
            choices = [choice for choice in several if isinstance(choice, dict)]
            schema = next((choice for choice in choices if choice.get("type") != "null"), {})
        else:
            break
    return schema


def _at(root: Schema, reference: str) -> Schema:
    at: Any = root
    for step in reference.removeprefix("#/").split("/"):
        at = at.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(at, dict) else None
    return at if isinstance(at, dict) else {}


def _merged(parts: Sequence[Schema]) -> Schema:
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            if key == "properties" and isinstance(value, dict):
                whole[key] = {**whole.get(key, {}), **value}
            elif key == "required" and isinstance(value, list):
                whole[key] = [*whole.get(key, []), *value]
            else:
                whole.setdefault(key, value)
    return whole


def _kind(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if isinstance(one, str) and one != "null"), "null")
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _object(schema: Schema, known: Hints, root: Schema, depth: int) -> dict[str, Any]:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    required = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    optional = [
        name
        for name in properties
        if name not in required and FILE.search(name) and known.files and not known.looks and depth == 0
    ]
    if depth >= DEEPEST:
        return {}
    return {
        name: _value(name, _schema(properties.get(name)), known, root, depth + 1)
        for name in [*required, *optional]
    }


def _schema(value: object) -> Schema:
    return value if isinstance(value, dict) else {}


def _array(name: str, schema: Schema, known: Hints, root: Schema, depth: int) -> list[Any]:
    least = schema.get("minItems")
    count = max(least if isinstance(least, int) else 0, 1 if _schema(schema.get("items")) else 0)
    if depth >= DEEPEST:
        return []
    singular = name.removesuffix("s")
    return [
        _value(singular, _schema(schema.get("items")), known, root, depth + 1) for _ in range(min(count, 10))
    ]


def _said(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def _hinted(name: str, kind: str, known: Hints) -> Any:
    """A value from the conversation that the property's name calls for; None if there is none."""
    if kind in ("integer", "number"):
        return next(
            (
                int(number) if kind == "integer" else number
                for number in known.numbers
                if kind == "number" or number == int(number)
            ),
            None,
        )
    if kind != "string":
        return None
    table: tuple[tuple[re.Pattern[str], Sequence[str]], ...] = (
        (FILE, known.files),
        (LINK, known.links),
        (PLACE, known.names),
        (QUERY, known.quotes),
    )
    for pattern, values in table:
        if pattern.search(name) and values:
            return values[0]
    return None


def _fits(value: Any, schema: Schema) -> bool:
    """Whether a hint keeps within the schema's bounds."""
    if isinstance(value, str):
        # `pattern` is not tried: running a stranger's expression can take for ever.
        return _within(len(value), schema.get("minLength"), schema.get("maxLength"))
    multiple = schema.get("multipleOf")
    exact = not isinstance(multiple, (int, float)) or not multiple or value % multiple == 0
    low, high = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    return (
        exact
        and _within(value, schema.get("minimum"), schema.get("maximum"))
        and value != low
        and value != high
        and _within(value, low, high)
    )


def _within(value: float, low: object, high: object) -> bool:
    return not (isinstance(low, (int, float)) and value < low) and not (
        isinstance(high, (int, float)) and value > high
    )


def _smallest(name: str, kind: str, schema: Schema) -> Any:
    if kind == "boolean":
        return False
    if kind in ("integer", "number"):
        return _number(kind, schema)
    return None if kind == "null" else _string(name, schema)


def _number(kind: str, schema: Schema) -> float:
    step = schema.get("multipleOf")
    step = step if isinstance(step, (int, float)) and step > 0 else 1
    low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    value: float = step
    if isinstance(low, (int, float)):
        value = -(-low // step) * step
    elif isinstance(above, (int, float)):
        value = (above // step + 1) * step
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if isinstance(high, (int, float)) and value > high:
        value = high // step * step
    return int(value) if kind == "integer" else value


def _string(name: str, schema: Schema) -> str:
    defaults = (
        (FOLDER, "."),
        (FILE, "README.md"),
        (COMMAND, "ls"),
        (LINK, "https://example.com/"),
        (PLACE, "Paris"),
        (QUERY, "*"),
    )
    usual = FORMATS.get(str(schema.get("format")), "")
    text = usual or next((value for pattern, value in defaults if pattern.search(name)), name or "practice")
    least, most = schema.get("minLength"), schema.get("maxLength")
    if isinstance(least, int):
        text = text.ljust(min(least, 10_000), "x")
    return text[:most] if isinstance(most, int) and most >= 0 else text
