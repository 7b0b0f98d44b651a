"""Whether what came is what a case expects. Every check returns the sentences of what did not hold.

    status                         a number, or several that are all right
    client, headers                [path, op, value] of the reply's JSON; [name, op, value] of its headers
    contains, not_contains, matches, ends_with, body_empty, max_seconds
    assembled                      text, tool_calls, stop, incomplete_reason, usage
    order                          types of events, in this order
    no_finished_tool_call          a call whose arguments were cut does not look whole
    upstream, upstream_headers     [call, path, op, value]; `path~text` is the text of content in parts
    upstream_calls, upstream_by_member     a number or {max}
    turns                          so many requests: each sends back what came and goes on; the last reply is
                                   judged. `one_member`: all went to the same one. `second`: what to expect of
                                   the same request again
    upstream_body_contains, upstream_body_not_contains, upstream_not_contain_in
    upstream_path, upstream_path_not_contains
    ledger                         [name, op, value] of the last row
    sink_headers_not_contain       what the server behind $SINK must not have been sent; `sink_connections`:
                                   how many it may have seen
    replies                        for `raw`: what to expect of each; `closed`: the connection is closed then;
                                   `or_closed`: instead of this reply it may be
    any_of                         alternatives, each laid over the rest

Where both 200 and a refusal are right, a refusal without any upstream call is the end of it.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tests.cases.replies import Assembled, assemble
from tests.cases.wire import Heard, Reply
from tests.provider import Received

Expect = Mapping[str, Any]
ANSWERS = ("/chat/completions", "/messages", "/responses", "/api/chat", "enerateContent")
KINDS: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "object": dict,
    "array": list,
    "number": (int, float),
    "boolean": bool,
}
NOTHING = object()


def reply(got: Reply | None, asked: Mapping[str, Any], case: Mapping[str, Any], sent: "Sent") -> list[str]:
    """An exchange of one request and one reply against the case's `expect`."""
    expect = case["expect"]
    tries = [{**expect, **other} for other in expect.get("any_of", [{}])]
    return min((_one(got, asked, case["format"], each, sent) for each in tries), key=len)


def _one(got: Reply | None, asked: Mapping[str, Any], name: str, expect: Expect, sent: "Sent") -> list[str]:
    wrong = status(got, expect)
    if got is None:
        return wrong
    wrong += of_reply(got, expect)
    wrong += sent.counted(expect)
    both = isinstance(expect.get("status"), list) and 200 in expect["status"]
    if got.status >= 400 and both and not sent.calls:
        return wrong
    answer = got.status == 200 and asked["path"].partition("?")[0].endswith(ANSWERS)
    said = assemble(got, name) if answer else None
    if said:
        wrong += _said(said, expect)
    return wrong + sent.judged(expect)


def status(got: Reply | None, expect: Expect) -> list[str]:
    wanted = expect.get("status", 200)
    wanted = wanted if isinstance(wanted, list) else [wanted]
    if got is None:
        return [f"no reply instead of {wanted}"]
    return [] if got.status in wanted else [f"{got.status} instead of {wanted}: {got.text[:200]}"]


def of_reply(got: Reply, expect: Expect) -> list[str]:
    text, body = got.text, got.json()
    wrong = [f"the reply lacks {part!r}" for part in expect.get("contains", ()) if part not in text]
    wrong += [f"the reply has {part[:60]!r} in it" for part in expect.get("not_contains", ()) if part in text]
    wrong += [f"the reply does not match {p!r}" for p in expect.get("matches", ()) if not re.search(p, text)]
    for path, op, value in expect.get("client", ()):
        wrong += holds(f"the reply's {path}", at(body, path), op, _meant(body, op, value))
    for name, op, value in expect.get("headers", ()):
        wrong += holds(f"the header {name}", got.headers.get(name.lower(), NOTHING), op, value)
    if not text.rstrip().endswith(expect.get("ends_with", "")):
        wrong.append(f"the reply ends with {text[-60:]!r}")
    if expect.get("body_empty") and got.body:
        wrong.append(f"the body is not empty: {text[:60]!r}")
    if got.seconds > expect.get("max_seconds", 60):
        wrong.append(f"it took {got.seconds:.1f} s")
    return wrong + (["the reply ends before its end"] if got.cut else [])


def _said(said: Assembled, expect: Expect) -> list[str]:
    wrong = list(said.problems)
    wanted = expect.get("assembled", {})
    for key, value in wanted.items():
        if key == "tool_calls":
            wrong += _calls(said.tool_calls, value)
        elif key == "usage":
            for name, number in value.items():
                wrong += holds(f"usage {name}", said.usage.get(name, NOTHING), "eq", number)
        else:
            wrong += holds(key, getattr(said, key), "in" if isinstance(value, list) else "eq", value)
    if wanted and said.error:
        wrong.append(f"the answer has an error in it: {said.error}")
    wrong += _in_order(said.events, expect.get("order", ()))
    if expect.get("no_finished_tool_call"):
        whole = [call for call in said.tool_calls if call["arguments"] is not None and call["raw"].strip()]
        wrong += [f"a cut call looks whole: {call['name']}({call['raw']})" for call in whole]
    return wrong


def _calls(got: Sequence[Mapping[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> list[str]:
    if len(got) != len(wanted):
        return [f"{len(got)} tool calls instead of {len(wanted)}: {[(c['name'], c['raw']) for c in got]}"]
    wrong = [
        sentence
        for number, (call, want) in enumerate(zip(got, wanted, strict=True))
        for key, value in want.items()
        for sentence in holds(f"the {key} of call {number}", call[key], "eq", value)
    ]
    ids = [call["id"] for call in got]
    return wrong + ([f"ids that are not distinct: {ids}"] if len(set(ids)) < len(ids) else [])


def _in_order(came: Iterable[str], wanted: Iterable[str]) -> list[str]:
    rest = iter(came)
    missing = [event for event in wanted if event not in rest]  # `in` reads on
    return [f"the event {missing[0]} is missing, or out of order"] if missing else []


def heard(got: Heard, case: Mapping[str, Any], sent: "Sent") -> list[str]:
    """What came back on one socket against the case's `replies`."""
    expect = case["expect"]
    wrong = list(got.problems)
    wanted = expect.get("replies") or [expect]
    for number, (want, one) in enumerate(zip(wanted, got.replies, strict=True), 1):
        if one is None and want.get("or_closed") and not got.rest:
            continue
        found = status(one, want) + (of_reply(one, want) if one else [])
        wrong += [f"reply {number}: {sentence}" for sentence in found]
    if wanted[-1].get("closed") and not got.ended:
        wrong.append("the connection stays open")
    if got.rest:
        wrong.append(f"bytes behind the last reply: {got.rest[:60]!r}")
    return wrong + sent.counted(expect)


class Sent:
    """What the members were asked, in order: (member's name, request)."""

    def __init__(self, calls: Sequence[tuple[str, Received]]) -> None:
        self.calls = calls

    def counted(self, expect: Expect) -> list[str]:
        wrong: list[str] = []
        if "upstream_calls" in expect:
            wrong += _count("upstream calls", len(self.calls), expect["upstream_calls"])
        for name, wanted in expect.get("upstream_by_member", {}).items():
            wrong += _count(f"calls of {name}", sum(member == name for member, _ in self.calls), wanted)
        asked = sorted({member for member, _ in self.calls})
        if expect.get("one_member") and len(asked) != 1:
            wrong.append(f"the turns went to {', '.join(asked) or 'nobody'}")
        return wrong

    def judged(self, expect: Expect) -> list[str]:
        wrong = [f"call {n} was sent no JSON" for n, (_, call) in enumerate(self.calls) if not _is_json(call)]
        if wrong:
            return wrong
        for number, path, op, value in expect.get("upstream", ()):
            call = self._call(number)
            body = call.json if call else NOTHING
            wrong += holds(f"upstream[{number}] {path}", at(body, path), op, _meant(body, op, value))
        for number, name, op, value in expect.get("upstream_headers", ()):
            call = self._call(number)
            found = call.headers.get(name.lower(), NOTHING) if call else NOTHING
            wrong += holds(f"upstream[{number}] header {name}", found, op, value)
        texts = [call.body.decode() for _, call in self.calls]
        for part in expect.get("upstream_body_contains", ()):
            wrong += [f"the upstream body lacks {part!r}"] if any(part not in text for text in texts) else []
        for part in expect.get("upstream_body_not_contains", ()):
            wrong += [f"the upstream body has {part!r}"] if any(part in text for text in texts) else []
        for place in expect.get("upstream_not_contain_in", ()):
            found = [at(call.json, place["path"]) for _, call in self.calls[:1]]
            if any(place["text"] in json.dumps(one) for one in found if one is not NOTHING):
                wrong.append(f"upstream {place['path']} has {place['text'][:40]!r} in it")
        for text in expect.get("upstream_path_not_contains", ()):
            wrong += [f"an address has {text!r} in it" for _, call in self.calls if text in call.path]
        if "upstream_path" in expect:
            last = self._call(-1)
            wrong += holds("the upstream path", last.path if last else NOTHING, "eq", expect["upstream_path"])
        return wrong

    def _call(self, number: int) -> Received | None:
        return self.calls[number][1] if -len(self.calls) <= number < len(self.calls) else None


def _is_json(call: Received) -> bool:
    try:
        return call.json is not None
    except ValueError:
        return False


def _count(what: str, got: int, wanted: Any) -> list[str]:
    fine = got <= wanted["max"] if isinstance(wanted, dict) else got == wanted
    return [] if fine else [f"{got} {what} instead of {wanted}"]


def ledger(rows: Sequence[Mapping[str, Any]], wanted: Iterable[tuple[str, str, Any]]) -> list[str]:
    if not rows:
        return ["the call has no row in the ledger"]
    last = {name: value for name, value in rows[-1].items() if value is not None}
    return [
        s for name, op, value in wanted for s in holds(f"ledger {name}", last.get(name, NOTHING), op, value)
    ]


# --- values and operators


def at(node: Any, path: str) -> Any:
    """The value at `a.0.b`, NOTHING where there is none."""
    for key in path.removesuffix("~text").split("."):
        try:
            node = node[int(key)] if isinstance(node, list) else node[key]
        except (LookupError, ValueError, TypeError):
            return NOTHING
    if path.endswith("~text") and isinstance(node, list):
        return "\n".join(part.get("text", "") for part in node if isinstance(part, dict))
    return node


def _meant(tree: Any, op: str, value: Any) -> Any:
    """The value to compare with: that of another place for `eq_path` and `ne_path`."""
    return at(tree, value) if op in ("eq_path", "ne_path") else value


OPS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda got, value: got == value and isinstance(got, bool) == isinstance(value, bool),
    "ne": lambda got, value: bool(got != value),
    "present": lambda got, _: got not in (None, ""),
    "type": lambda got, kind: (
        isinstance(got, KINDS[kind]) and (kind == "boolean" or not isinstance(got, bool))
    ),
    "matches": lambda got, pattern: bool(
        re.search(pattern, got if isinstance(got, str) else json.dumps(got))
    ),
    "has": lambda got, value: value in got,
    "len": lambda got, value: len(got) == value,
    "gte": lambda got, value: float(got) >= value,
    "lte": lambda got, value: float(got) <= value,
    "absent_or_lte": lambda got, value: float(got) <= value,
    "between": lambda got, value: value[0] <= float(got) <= value[1],
    "approx": lambda got, value: abs(float(got) - value[0]) <= value[1],
    "in": lambda got, values: got in values,
    "absent": lambda got, _: False,
}


def holds(what: str, got: Any, op: str, value: Any) -> list[str]:
    if got is NOTHING:
        fine = op.startswith("absent") or (op == "in" and None in value)
    else:
        try:
            fine = OPS[op.removesuffix("_path")](got, value)
        except (TypeError, ValueError):
            fine = False
    if fine:
        return []
    shown = "nothing" if got is NOTHING else json.dumps(got, ensure_ascii=False)[:160]
    return [f"{what} is {shown}, not {op} {json.dumps(value, ensure_ascii=False, default=str)[:120]}"]
