"""From a request to a Panel: who must sit, who may, who does not and why.

The facts are gathered here, once, and the choice among explorers is left to the pure function in `policy.py`.
What was known, the seed and the choice are kept with the panel, so that any seat can be explained and decided
again.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.bench import collections, roster, settings
from metrics.bench.collections import Collection
from metrics.bench.roster import Model
from metrics.evidence import reliability, verdicts, waits
from metrics.limits import tokens
from metrics.play import ids, policy
from metrics.records import Panel, Problem, Request, Seat, Skipped, Target
from metrics.store import stamps

# Which roles a kind of task admits to the explorer chairs (contract, section 3).
ADMITS = {
    "general": {"general"},
    "design": {"general"},
    "prose": {"general"},
    "review": {"general", "code"},
    "code": {"general", "code"},
    "enumeration": {"general", "code", "light"},
    "quick": {"general", "light"},
    "vision": {"general", "light", "vision"},
}


@dataclass(frozen=True, slots=True)
class Draw:
    """The two things seating cannot know by itself: the time (epoch s) and randomness (bits -> int)."""

    now: float
    bits: Callable[[int], int]


@dataclass(frozen=True, slots=True)
class _Question:
    """A request as seating sees it."""

    request: Request
    collection: Collection
    shape: str
    shape_by: str
    size: int
    images: bool


def convene(request: Request, draw: Draw) -> Panel:
    """Seat a panel for `request`. Raises Problem: 404 unknown collection, 400 nobody can take it, 413 too
    large for a member."""
    question = _question(request)
    bench = roster.all()
    _check_named(question, bench)
    skipped: list[Skipped] = []
    members = _members(question, bench, skipped)
    guests = _guests(question, bench, members, skipped)
    explorers, decision = _explorers(question, members, guests, draw, skipped)
    if not members and not guests and not explorers:
        raise _nobody(question, skipped)
    panel_id = ids.panel(draw.now, f"{draw.bits(32):08x}")
    return Panel(
        id=panel_id,
        request=request,
        shape=question.shape,
        shape_by=question.shape_by,
        seats=tuple(_seats(panel_id, members, guests, explorers, decision)),
        skipped=tuple(skipped),
        merger=question.collection.merger,
        deadline=request.deadline or question.collection.deadline or float(settings.get("deadline")),
        decision=decision,
        at=draw.now,
    )


def _question(request: Request) -> _Question:
    collection = collections.get(request.collection)
    images = tokens.images(request.messages) > 0
    shape, by = shape_of(collection, images)
    return _Question(request, collection, shape, by, tokens.estimate(request.messages), images)


def shape_of(collection: Collection, images: bool) -> tuple[str, str]:
    """The kind of task a request is, and what says so: collection | images | default."""
    if collection.shape:
        return collection.shape, "collection"
    return ("vision", "images") if images else ("general", "default")


def _members(question: _Question, bench: dict[str, Model], skipped: list[Skipped]) -> list[Model]:
    """The collection's members that can take the request. A member whose window is known to be too small
    refuses it all."""
    sitting: list[Model] = []
    small: list[Model] = []
    for alias in question.collection.members:
        model = bench.get(alias)
        if model is None:
            skipped.append(Skipped("member", alias, "is not on the bench (retired or removed)"))
        elif left_out := _left_out(question, model):
            skipped.append(Skipped("member", alias, left_out))
        elif question.images and model.vision is not True:
            skipped.append(Skipped("member", alias, "is not known to read images"))
        elif _too_small(model, question.size):
            small.append(model)
        else:
            sitting.append(model)
    if small:
        names = ", ".join(f"{model.alias} reads {model.context:,}" for model in small)
        raise Problem(
            413,
            f"this needs about {question.size:,} tokens: {names}. Shorten it, or ask larger ones",
            code="context_length_exceeded",
            retryable=False,
        )
    return sitting


def _guests(
    question: _Question, bench: dict[str, Model], members: Sequence[Model], skipped: list[Skipped]
) -> list[Model]:
    """The models that `with` names, or `only` beside the members: they take explorer chairs, as many as there
    are."""
    sitting: list[Model] = []
    chairs = _chairs(len(members))
    others = [alias for alias in question.request.only if alias not in question.collection.members]
    for alias in dict.fromkeys((*question.request.invited, *others)):
        model = bench.get(alias)
        if model is None:
            raise Problem(
                400,
                f'"with" names "{alias}", which is not on the bench; `bench models` lists who is',
                param="with",
            )
        reason = _unfit(question, model)
        if model in members:
            skipped.append(Skipped("explorer", alias, "sits already, as a member"))
        elif reason:
            skipped.append(Skipped("explorer", alias, reason))
        elif len(sitting) >= chairs:
            skipped.append(
                Skipped("explorer", alias, f"no chair is left: {chairs} beside {len(members)} members")
            )
        else:
            sitting.append(model)
    return sitting


def _chairs(members: int) -> int:
    """How many may sit beside so many members."""
    return max(0, min(int(settings.get("max_explorers")), int(settings.get("max_calls")) - members))


def _explorers(
    question: _Question, members: Sequence[Model], guests: Sequence[Model], draw: Draw, skipped: list[Skipped]
) -> tuple[list[Model], dict[str, Any]]:
    """The explorers and the record of how they were chosen (judgement.md, section 3)."""
    chairs = max(0, min(question.collection.explorers, _chairs(len(members))) - len(guests))
    chairs = 0 if question.request.only else chairs
    candidates, excluded = _pool(question, (*members, *guests), draw.now) if chairs else ([], [])
    told = {skip.alias for skip in skipped}  # a member that does not sit has its reason already
    skipped += [
        Skipped("explorer", bar["alias"], bar["reason"])
        for bar in excluded
        if bar["reason"] != SEATED and bar["alias"] not in told
    ]
    waited = waits.of(question.collection.name) if candidates else {}
    state: dict[str, dict[str, Any]] = {
        "last": {model.alias: reliability.last_answered(model.model_id) for model in candidates},
        "waits": {model.alias: waited.get(model.model_id, 0) for model in candidates},
    }
    seed = draw.bits(48)
    choice = policy.seat(state, {"candidates": [model.alias for model in candidates], "k": chairs}, seed)
    by_alias = {model.alias: model for model in candidates}
    decision = {
        "seed": seed,
        "policy": policy.NAME,
        "opt": policy.OPTIONS,
        "k": chairs,
        "members": [model.alias for model in members],
        "candidates": [_candidate(model, state) for model in candidates],
        "excluded": excluded,
        "seats": [
            {"alias": alias, "model_id": by_alias[alias].model_id, **choice["why"][alias]}
            for alias in choice["seats"]
        ]
        + [{"alias": guest.alias, "model_id": guest.model_id, "how": "asked", "p": None} for guest in guests],
        "record_rev": verdicts.revision(),
        "record_digest": _digest(state),
    }
    return [by_alias[alias] for alias in choice["seats"]], decision


SEATED = "sits already"
NOT_THEIRS = "is not among the models of this key"
NOT_WANTED = "is left out by the request"


def _pool(
    question: _Question, seated: Sequence[Model], now: float
) -> tuple[list[Model], list[dict[str, str]]]:
    """Who of the pool may explore now, and who may not and why."""
    taken = {model.model_id for model in seated}
    candidates: list[Model] = []
    excluded: list[dict[str, str]] = []
    for model in roster.pool():
        reason = SEATED if model.model_id in taken else _barred(question, model, now)
        if reason:
            excluded.append({"alias": model.alias, "model_id": model.model_id, "reason": reason})
        else:
            candidates.append(model)
    return candidates, excluded


def _candidate(model: Model, state: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A candidate in the record. What this policy does not weigh is null: it is the next one's."""
    last, wait = state["last"][model.alias], state["waits"][model.alias]
    known = {"alias": model.alias, "model_id": model.model_id, "wait": wait, "last": last}
    return {**known, "E": None, "n": None, "cost": None}


def _digest(state: dict[str, dict[str, Any]]) -> str:
    """Tells whether a later replay works from the same facts."""
    written = json.dumps(state, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.blake2b(written, digest_size=8).hexdigest()


def _barred(question: _Question, model: Model, now: float) -> str | None:
    """Why a model of the pool may not explore now; None: it may."""
    if model.role not in ADMITS.get(question.shape, ADMITS["general"]):
        return (
            f"its role is {model.role}; {question.shape} seats {' and '.join(sorted(ADMITS[question.shape]))}"
        )
    until = reliability.cooling(model.model_id, now)
    if until is not None:
        return f"rests for another {stamps.lasting(until - now)}"
    failing = reliability.failing(model.model_id, now)
    return f"is failing: {failing}" if failing else _unfit(question, model)


def _left_out(question: _Question, model: Model) -> str | None:
    """Why whoever asks does not want the model, or may not be answered by it."""
    request = question.request
    if request.models is not None and model.alias not in request.models:
        return NOT_THEIRS
    wanted = not request.only or model.alias in (*request.only, *request.invited)
    return NOT_WANTED if not wanted or model.alias in request.without else None


def _check_named(question: _Question, bench: dict[str, Model]) -> None:
    """Problem 400 for a name in `only` or `without` that means nobody: a slip would seat the wrong ones."""
    request = question.request
    for field, aliases in (("only", request.only), ("without", request.without)):
        for alias in aliases:
            if alias not in bench and alias not in question.collection.members:
                raise Problem(
                    400,
                    f'"bench.{field}" names "{alias}", which is not on the bench; '
                    "`bench models` lists who is",
                    param=f"bench.{field}",
                )


def _unfit(question: _Question, model: Model) -> str | None:
    if left_out := _left_out(question, model):
        return left_out
    if question.images and model.vision is not True:
        return "is not known to read images"
    if _too_small(model, question.size):
        return f"reads {model.context:,} tokens, this needs about {question.size:,}"
    return None


def _too_small(model: Model, size: int) -> bool:
    return model.context is not None and size > model.context


def _nobody(question: _Question, skipped: Sequence[Skipped]) -> Problem:
    reasons = "; ".join(f"{skip.alias} {skip.why}" for skip in skipped) or "it has no members"
    return Problem(
        400,
        f"nobody in {question.collection.name} can take this request: {reasons}. Add a member that can with "
        f"`bench collection save {question.collection.name} --add ALIAS`",
        retryable=False,
    )


def _seats(
    panel_id: str,
    members: Sequence[Model],
    guests: Sequence[Model],
    explorers: Sequence[Model],
    decision: dict[str, Any],
) -> list[Seat]:
    how = {row["alias"]: row for row in decision["seats"]}
    seats = [
        Seat(ids.member(panel_id, number), "member", _target(model))
        for number, model in enumerate(members, start=1)
    ]
    for number, model in enumerate((*guests, *explorers), start=1):
        chosen = how[model.alias]
        seats.append(
            Seat(ids.explorer(panel_id, number), "explorer", _target(model), chosen["how"], chosen["p"])
        )
    return seats


def _target(model: Model) -> Target:
    return roster.target(model.alias)
