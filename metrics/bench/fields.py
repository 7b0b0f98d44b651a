"""What a field of an edit may hold, in sentences a person can act on.

One table per form: field name -> Check. A Check takes the field's name and the value as JSON gave it and
returns the value to keep, or raises a Problem(400) that names the field. Forms are read with `take`, which
also refuses unknown names.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from metrics.records import Price, Problem, Tier

Check = Callable[[str, Any], Any]

NAME = re.compile(r"[a-z0-9-]{2,32}")
ALIAS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,63}")
PRICES = ("input", "output", "cache_read", "cache_write")
PLANS = ("free", "flat")


def wrong(field: str, should: str, value: Any) -> Problem:
    """The refusal of one field: `should` completes the sentence '"field" must be …'."""
    return Problem(400, f'"{field}" must be {should}, not {shown(value)}', param=field)


def shown(value: Any) -> str:
    """A value as a message may quote it: short, and an object or a list by its kind only."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}…"'
        case int() | float():
            return str(value)[:60]
        case Mapping():
            return "an object"
        case _:
            return "a list"


def take(
    form: Mapping[str, Any], table: Mapping[str, Check], *, required: Sequence[str] = ()
) -> dict[str, Any]:
    """The checked fields of `form`. Unknown ones are refused: a mistyped name must not be dropped without a
    word."""
    for field in form:
        if field not in table:
            raise Problem(400, f'"{field}" is not a field here; these are: {", ".join(table)}', param=field)
    for field in required:
        if form.get(field) is None:
            raise Problem(400, f'"{field}" is missing', param=field)
    return {field: table[field](field, value) for field, value in form.items()}


def text(longest: int = 300, *, empty: bool = True) -> Check:
    """A text of at most `longest` characters, without control characters, stripped."""

    def check(field: str, value: Any) -> str:
        if not isinstance(value, str):
            raise wrong(field, "a text", value)
        kept = value.strip()
        if not kept and not empty:
            raise Problem(400, f'"{field}" must not be empty', param=field)
        if len(kept) > longest:
            raise Problem(
                400, f'"{field}" is {len(kept)} characters long; the most is {longest}', param=field
            )
        if any(ord(char) < 32 and char not in "\n\t" or 0xD800 <= ord(char) < 0xE000 for char in kept):
            raise Problem(400, f'"{field}" holds control characters; leave them out', param=field)
        return kept

    return check


def line(longest: int = 300) -> Check:
    """A text on one line that is not empty."""

    def check(field: str, value: Any) -> str:
        kept: str = text(longest, empty=False)(field, value)
        if "\n" in kept or "\t" in kept:
            raise Problem(400, f'"{field}" must be on one line, without tabs', param=field)
        return kept

    return check


def whole(least: int, most: int) -> Check:
    def check(field: str, value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise wrong(field, f"a whole number from {least} to {most}", value)
        return int(value)

    return check


def number(least: float, most: float, unit: str = "") -> Check:
    between = f"a number from {least:g} to {most:g}{unit and ' ' + unit}"

    def check(field: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong(field, between, value)
        if not least <= value <= most:
            raise wrong(field, between, value)
        return value

    return check


def one_of(*choices: str) -> Check:
    def check(field: str, value: Any) -> str:
        if value not in choices or not isinstance(value, str):
            raise wrong(field, f"one of {', '.join(choices)}", value)
        return value

    return check


def flag(field: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise wrong(field, "true or false", value)
    return value


def maybe(check: Check) -> Check:
    """`check`, or null or an empty text, which both say "none"."""
    return lambda field, value: None if value is None or value == "" else check(field, value)


def name(field: str, value: Any) -> str:
    """The name of an endpoint or a collection."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise wrong(field, "2 to 32 lower-case letters, digits or dashes", value)
    return value


def alias(field: str, value: Any) -> str:
    if not isinstance(value, str) or not ALIAS.fullmatch(value):
        raise wrong(
            field,
            "2 to 64 letters, digits, dots, dashes or underscores, starting with a letter or digit",
            value,
        )
    return value


def words(most: int, each: Check) -> Check:
    """A list of at most `most` different values that `each` accepts, in the given order."""

    def check(field: str, value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise wrong(field, "a list", value)
        kept = [each(field, item) for item in value]
        if len(kept) > most:
            raise Problem(400, f'"{field}" holds {len(kept)} entries; the most is {most}', param=field)
        for item in kept:
            if kept.count(item) > 1:
                raise Problem(400, f'"{field}" names {shown(item)} twice', param=field)
        return kept

    return check


def tag(field: str, value: Any) -> str:
    kept: str = line(32)(field, value)
    if kept != kept.lower() or "," in kept:
        raise wrong(field, "lower-case words", kept)
    return kept


def price(field: str, value: Any) -> Price:
    """USD per million tokens. What is left out is unknown, which is never free. `tiers` are a list of
    {"above": input tokens, and the prices that differ}, `plan` is free or flat."""
    if not isinstance(value, Mapping):
        raise wrong(field, f"an object with {', '.join(PRICES)} in USD per million tokens", value)
    table = dict.fromkeys(PRICES, _AMOUNT) | {"tiers": maybe(_tiers), "plan": maybe(one_of(*PLANS))}
    kept = take(value, table)
    return Price(**{name: part for name, part in kept.items() if part is not None})


_AMOUNT = maybe(number(0, 1e6, "(USD per million tokens)"))
_TIER: dict[str, Check] = {"above": whole(1, 1_000_000_000), **dict.fromkeys(PRICES, _AMOUNT)}


def _tiers(field: str, value: Any) -> tuple[Tier, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(tier, Mapping) for tier in value):
        raise wrong(field, 'a list of objects such as {"above": 200000, "input": 6}', value)
    kept = [Tier(**take(tier, _TIER, required=("above",))) for tier in value[:20]]
    if len({tier.above for tier in kept}) < len(value):
        raise Problem(400, f'"{field}" has two tiers above the same size, or more than 20', param=field)
    return tuple(sorted(kept, key=lambda tier: tier.above))
