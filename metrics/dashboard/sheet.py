"""A panel in words: what a file that is taken along tells of it, in whatever form it is written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metrics.evidence import panels

ROLES = {"member": "member", "explorer": "explorer", "merger": "merged the answers"}
ENDED = {"length": "cut at its limit of tokens", "content_filter": "stopped by a content filter"}


@dataclass(frozen=True, slots=True)
class Answer:
    """One seat: who, in `facts` how it went, what was said and what that was worth. `claims` are (decision,
    quote)."""

    call: str
    alias: str
    answered: bool
    facts: tuple[str, ...]
    verdict: str
    note: str
    claims: tuple[tuple[str, str], ...]
    text: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A panel. `question` is None where its words are not kept."""

    id: str
    title: str
    facts: tuple[tuple[str, str], ...]
    system: str
    question: str | None
    answers: tuple[Answer, ...]
    merged: Answer | None
    skipped: tuple[tuple[str, str], ...]
    words_kept: bool


def of(kept: Mapping[str, Any]) -> Sheet:
    """From what /api/panel/{id} tells: {panel, body, verdicts, claims}."""
    row, body = kept["panel"], kept.get("body") or {}
    seats = sorted(row.get("seats", ()), key=_place)
    answers = [_answer(seat, kept, body) for seat in seats]
    merged = [each for each, seat in zip(answers, seats, strict=True) if seat.get("seat") == "merger"]
    messages = body.get("messages")
    question = _said(messages, ("user", "assistant", "tool")) if messages else None
    return Sheet(
        id=row["panel"],
        title=_title(question or row.get("task") or "A question whose words are not kept"),
        facts=tuple(_facts(row, seats)),
        system=_said(messages or (), ("system", "developer")),
        question=question,
        answers=tuple(
            each for each, seat in zip(answers, seats, strict=True) if seat.get("seat") != "merger"
        ),
        merged=merged[0] if merged else None,
        skipped=tuple((str(skip.get("alias")), str(skip.get("why"))) for skip in row.get("skipped") or ()),
        words_kept=bool(body),
    )


def _place(seat: Mapping[str, Any]) -> tuple[bool, str]:
    """As they sat: members first; records list them as they finished."""
    return seat.get("seat") != "member", str(seat.get("call"))


def _answer(seat: Mapping[str, Any], kept: Mapping[str, Any], body: Mapping[str, Any]) -> Answer:
    call = str(seat["call"])
    verdict = (kept.get("verdicts") or {}).get(call) or {}
    answered = seat.get("status") in panels.ANSWERED
    return Answer(
        call=call,
        alias=str(seat.get("alias")),
        answered=answered,
        facts=tuple(_how(seat, answered)),
        verdict=_verdict(verdict) if answered else "",
        note=str(verdict.get("note") or ""),
        claims=tuple(
            ("real finding" if claim["decision"] == "real" else "false claim", str(claim["quote"]))
            for claim in (kept.get("claims") or {}).get(call, ())
        ),
        text=str((body.get("answers") or {}).get(call) or ""),
        reasoning=str((body.get("reasoning") or {}).get(call) or ""),
    )


def _verdict(verdict: Mapping[str, Any]) -> str:
    useful = verdict.get("useful")
    if useful is None:
        return "not judged"
    return ("useful" if useful else "not useful") + (", the best of the panel" if verdict.get("best") else "")


def _how(seat: Mapping[str, Any], answered: bool) -> Iterable[str]:
    """The seat's line of figures; what is not known is said."""
    yield ROLES.get(str(seat.get("seat")), str(seat.get("seat")))
    if seat.get("model_id"):
        yield str(seat["model_id"])
    if seat.get("status") == "pending":
        yield "still at work when this was recorded"
        return
    if not answered:
        yield f"failed: {seat.get('message') or seat.get('error') or seat.get('status')}"
        return
    yield f"{float(seat.get('seconds') or 0):.1f} s"
    tokens = seat.get("tokens") or {}
    out = tokens.get("out")
    about = "about " if tokens.get("estimated") else ""
    yield "tokens unknown" if out is None else f"{about}{out:,} tokens"
    yield money(seat.get("cost"))
    if seat.get("finish") in ENDED:
        yield ENDED[seat["finish"]]


def money(usd: float | None) -> str:
    """A cost in words. Unknown is never nothing."""
    if usd is None:
        return "cost unknown"
    if usd == 0:
        return "no cost"
    if usd < 0.01:  # two figures that mean something, not in powers of ten
        return "$" + f"{float(f'{usd:.2g}'):.12f}".rstrip("0")
    return f"${usd:.3f}" if usd < 1 else f"${usd:,.2f}"


def _facts(row: Mapping[str, Any], seats: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    sat = [seat for seat in seats if seat.get("seat") != "merger"]
    gave = [seat for seat in sat if seat.get("status") in panels.ANSWERED]
    yield "Asked", str(row.get("at"))
    yield "Collection", f"bench/{row.get('collection')}"
    yield "Shape", str(row.get("shape") or "unknown")
    yield "Answered", f"{len(gave)} of {len(sat)} seats"
    yield "Cost", _total([seat.get("cost") for seat in seats if seat.get("status") in panels.ANSWERED])
    yield "Panel", str(row.get("panel"))


def _total(costs: list[float | None]) -> str:
    known = [cost for cost in costs if cost is not None]
    if not costs or len(known) == len(costs):
        return money(sum(known))
    unpriced = f"{len(costs) - len(known)} of unknown price"
    return f"at least {money(sum(known))}, {unpriced}" if sum(known) else f"cost unknown, {unpriced}"


def _title(words: str) -> str:
    line = next((line.strip() for line in words.splitlines() if line.strip()), "")
    return line if len(line) <= 160 else line[:159] + "…"


def _said(messages: Iterable[Mapping[str, Any]], roles: tuple[str, ...]) -> str:
    """What those roles said; who said it where it was a conversation."""
    said = [(str(each.get("role")), _words(each.get("content"))) for each in messages]
    said = [(role, words) for role, words in said if role in roles and words]
    if len(said) < 2:
        return "".join(words for _, words in said)
    return "\n\n".join(f"**{role}:**\n\n{words}" for role, words in said)


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "\n\n".join(
        str(part.get("text") or "") if part.get("type") == "text" else f"({part.get('type')}, not kept)"
        for part in parts
        if isinstance(part, dict)
    )
