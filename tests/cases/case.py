"""Case files, and the runs that each stands for.

The idea: a variant or another format is a change to the case, made here; whoever plays a run sees a plain
case with nothing left to choose.
"""

import copy
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cases import formats

FILES = Path(__file__).with_name("files")

Case = dict[str, Any]

# What a variant says about the sending; all else in it is more to expect.
SENDING = ("name", "later", "send", "send_hex", "send_repeat", "encode", "request_headers", "patch")


@dataclass(frozen=True)
class Run:
    """`label` tells a case's runs apart; `later` as in the case."""

    case: Case
    label: str = ""
    later: str | None = None


def load(names: Iterable[str] = ()) -> list[Case]:
    """The cases that have a name of `names` as their id, in their area or in their file's name; all without
    any. LookupError for a name that means none."""
    found = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(FILES.glob("*.json"))}
    wanted = list(names)
    for name in wanted:
        if not any(_means(name, stem, case) for stem, case in found.items()):
            raise LookupError(f"no case is called {name!r}; tests/cases/files has {', '.join(found)}")
    return [
        case for stem, case in found.items() if not wanted or any(_means(name, stem, case) for name in wanted)
    ]


def _means(name: str, stem: str, case: Case) -> bool:
    return name in (case["id"], case["area"]) or name in stem


def runs(case: Case) -> list[Run]:
    variants = case["expect"].get("variants")
    made = [_variant(case, variant) for variant in variants] if variants else [Run(_bare(case))]
    for name, expect in case["expect"].get("also", {}).items():
        made.append(_in_format(case, name, expect))
    return [Run(run.case, run.label, run.later or case.get("later")) for run in made]


def _bare(case: Case) -> Case:
    """The case without its variants and other formats."""
    expect = {key: value for key, value in case["expect"].items() if key not in ("variants", "also")}
    return copy.deepcopy({**case, "expect": expect})


def _variant(case: Case, variant: Mapping[str, Any]) -> Run:
    made = _bare(case)
    for path, value in variant.get("patch", {}).items():
        _set(made, path.split("."), copy.deepcopy(value))
    if "send" in variant:
        for place in ("request", "upstream"):
            made[place] = mapped(made.get(place), _sent(variant["send"]))
    if "request_headers" in variant:
        made["request"].setdefault("headers", {}).update(variant["request_headers"])
    made["request"] |= {key: variant[key] for key in ("send_hex", "send_repeat", "encode") if key in variant}
    for key, value in variant.items():
        if key not in SENDING:
            before = made["expect"].get(key)
            adds_up = isinstance(value, list) and isinstance(before, list) and key != "status"
            made["expect"][key] = [*before, *value] if adds_up else value
    name = variant.get("name") or variant.get("send")
    return Run(made, name if isinstance(name, str) else json.dumps(name)[:60], variant.get("later"))


def _in_format(case: Case, name: str, expect: Mapping[str, Any]) -> Run:
    made = _bare(case)
    made |= {"format": name, "request": formats.same(case["request"]["body"], name)}
    made["expect"] = {"status": made["expect"].get("status", 200), **expect}
    return Run(made, name)


def _sent(value: Any) -> Callable[[str], Any]:
    """What stands where a case says $VARIANT: the value itself, or its text inside of a text."""

    def put(text: str) -> Any:
        if text == "$VARIANT":
            return copy.deepcopy(value)
        return text.replace("$VARIANT", value) if isinstance(value, str) else text

    return put


def mapped(node: Any, change: Callable[[str], Any]) -> Any:
    """A JSON value with each of its strings changed, keys too. A list put in place of a list's item is spread
    out."""
    if isinstance(node, str):
        return change(node)
    if isinstance(node, Mapping):
        return {change(key): mapped(value, change) for key, value in node.items()}
    if not isinstance(node, list):
        return node
    out: list[Any] = []
    for item in node:
        new = mapped(item, change)
        spread = isinstance(item, str) and isinstance(new, list)
        out += new if spread else [new]
    return out


def filled(node: Any, names: Mapping[str, object]) -> Any:
    """A JSON value with the placeholders of `names` filled in."""

    def fill(text: str) -> str:
        for name in sorted(names, key=len, reverse=True):
            text = text.replace(f"${name}", str(names[name]))
        return text

    return mapped(node, fill)


def _set(node: Any, path: list[str], value: Any) -> None:
    *way, last = path
    for key in way:
        node = node[int(key)] if isinstance(node, list) else node.setdefault(key, {})
    node[int(last) if isinstance(node, list) else last] = value
