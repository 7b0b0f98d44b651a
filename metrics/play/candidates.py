"""Who of a collection can take a route turn, who cannot and why, and what is known of those that can.

A member that rests or fails again and again is a candidate still: it stands last, for when nobody else is
left. Everything here reads what is kept in memory; nothing is called and nothing is decided.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from metrics.bench import collections, endpoints, roster
from metrics.bench.roster import Model
from metrics.client.dialects import DIALECTS
from metrics.evidence import reliability
from metrics.evidence.reliability import Health
from metrics.limits import budgets, tokens
from metrics.play import seating
from metrics.records import Problem, Request, Skipped, Target
from metrics.store import stamps
from metrics.store.files import once_a_moment
from metrics.values import dataclass

TOO_SMALL = "reads only"
# A practice player lets models go first: it is a program, and whoever asks wants a model.
PROGRAM = "is a program, and stands in only when no model can"
NOT_THEIRS = seating.NOT_THEIRS
# Fields that stand for a part of the conversation which only one API's servers hold.
HELD = {"cachedContent": ("gemini", "cannot read what is cached at Google")}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A member that can take the turn. `hindrance` says why it should not be the first to be asked, and
    `until` when that is over, epoch seconds (None: not known); `last` is when it last answered. `findings`
    are what it found in the suite, verified; `paid` says that asking it costs nothing more."""

    model: Model
    target: Target
    hindrance: str | None = None
    until: float | None = None
    last: float | None = None
    findings: int = 0
    paid: bool = False

    @property
    def alias(self) -> str:
        return self.model.alias


class _Asked(NamedTuple):
    """What a turn asks of whoever takes it: `size` in tokens, by estimate, its tools included; 0 where that
    is within every window; `held` are those fields of HELD that it has; `models` and `budget` as in Request,
    `most` the tokens that its answer may have, where that matters to the budget."""

    tools: bool
    images: bool
    size: int
    held: tuple[str, ...]
    models: frozenset[str] | None
    budget: int | None
    most: int | None


@dataclass(frozen=True, slots=True)
class Field:
    """Who of a collection can take the turns that ask the same, in the collection's order and as if all were
    well, and who cannot. `targets` are by alias; `shape` is the kind of task that the turns are, `shape_by`
    what says so."""

    fit: tuple[Candidate, ...]
    targets: Mapping[str, Target]
    skipped: tuple[Skipped, ...]
    shape: str
    shape_by: str


def field(request: Request) -> tuple[Field, int]:
    """The members that can take `request`, and those that cannot; and its size in tokens by estimate, its
    tools included. Problem 404 for an unknown collection."""
    size, images = tokens.measured(request.messages)
    tools, native, budget = request.tools, request.native, request.budget
    size += tokens.of_tools(tools) if tools else 0
    known = _known(request.collection)
    asked = (
        bool(tools),
        images > 0,
        size if size > known.least or budget is not None else 0,
        tuple(filter(native.get, HELD)) if native else (),
        request.models,
        budget,
        None if budget is None else request.options.get("max_tokens"),
    )
    found = known.fields.get(asked)
    if found is None:
        found = known.fields[asked] = _field(request.collection, _Asked(*asked))
    return found, size


def candidates(request: Request, now: float) -> tuple[list[Candidate], tuple[Skipped, ...]]:
    """The members that can take `request` as they are at `now`, and those that cannot. Problem as `field`."""
    found, _ = field(request)
    return [today(one, now) for one in found.fit], found.skipped


def today(able: Candidate, now: float) -> Candidate:
    """The candidate as it is at `now`."""
    health = reliability.health(able.target.model_id, now)
    hindrance, until = _hindered(health, now)
    why = hindrance or able.hindrance
    return Candidate(able.model, able.target, why, until, health.answered, able.findings, able.paid)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a collection in a moment: the smallest window of its members, in tokens, and by what a
    turn asked (_Asked) who can take it."""

    least: float
    fields: dict[tuple[Any, ...], Field]


@once_a_moment
def _known(name: str) -> _Known:
    bench = roster.all()
    windows = [bench[alias].context for alias in collections.get(name).members if alias in bench]
    return _Known(min((window for window in windows if window is not None), default=math.inf), {})


def _field(name: str, asked: _Asked) -> Field:
    collection, bench = collections.get(name), roster.all()
    fit: list[Candidate] = []
    skipped: list[Skipped] = []
    for alias in collection.members:
        model = bench.get(alias)
        reason = _absent(alias) if model is None else _unfit(model, asked)
        if model is None or reason:
            skipped.append(Skipped("member", alias, reason or ""))
        else:
            fit.append(_able(model))
    if not all(one.model.builtin for one in fit):
        fit = [replace(one, hindrance=PROGRAM) if one.model.builtin else one for one in fit]
    targets = {one.target.alias: one.target for one in fit}
    return Field(tuple(fit), targets, tuple(skipped), *seating.shape_of(collection, asked.images))


def nobody(request: Request, skipped: Sequence[Skipped]) -> Problem:
    """What to tell a caller whose turn no member can take: 413 when only its size stands in the way, else
    400."""
    told = "; ".join(f"{skip.alias} {skip.why}" for skip in skipped) or "it has no members"
    small = bool(skipped) and all(skip.why.startswith(TOO_SMALL) for skip in skipped)
    closed = bool(skipped) and all(skip.why == NOT_THEIRS for skip in skipped)
    if request.budget is not None and any(budgets.THIS in skip.why for skip in skipped):
        return budgets.refused(f"no member of {request.collection} can take this turn: {told}")
    return Problem(
        413 if small else 403 if closed else 400,
        f"no member of {request.collection} can take this turn: {told}",
        retryable=False,
        code="context_length_exceeded" if small else None,
    )


def kind(request: Request) -> tuple[str, str]:
    """The shape of the request and what says so."""
    found, _ = field(request)
    return found.shape, found.shape_by


def _absent(alias: str) -> str:
    if alias in roster.retired():
        return f"is not on the bench: it is retired (`bench model restore {alias}` brings it back)"
    return "is not on the bench (removed)"


def _unfit(model: Model, asked: _Asked) -> str | None:
    """Why this member cannot take the turn; None: it can."""
    if asked.models is not None and model.alias not in asked.models:
        return NOT_THEIRS
    if model.ad_hoc and not model.builtin:  # of ours, one is there to play an agent's turns
        return "is ad hoc: it sits in panels that invite it, and takes no turns"
    if not model.chats:
        return f"has the role {model.role}, which takes no turns"
    if reason := _unreachable(model.endpoint):
        return reason
    for api, why in map(HELD.__getitem__, asked.held):
        if endpoints.get(model.endpoint).api != api:
            return why
    if asked.tools and model.tools is not True:
        word = "calls no tools" if model.tools is False else "is not known to call tools"
        return f"{word} (`bench model add … --tools yes` says that it does)"
    if asked.images and model.vision is not True:
        return "cannot read images" if model.vision is False else "is not known to read images"
    if model.context is not None and asked.size > model.context:
        return f"{TOO_SMALL} {model.context:,} tokens, this needs about {asked.size:,}"
    return _too_dear(model, asked)


def _too_dear(model: Model, asked: _Asked) -> str | None:
    """Why the turn could cost more than the request itself allows."""
    if asked.budget is None:
        return None
    expected = budgets.estimate(roster.target(model.alias), asked.size, asked.most)
    return budgets.Room([budgets.of_request(asked.budget)]).take(expected)


def _unreachable(name: str) -> str | None:
    endpoint = endpoints.all().get(name)
    if endpoint is None:
        return f"belongs to the endpoint {name}, which is gone or cannot be read"
    if endpoint.api not in DIALECTS:
        return f"speaks {endpoint.api}, which this version does not"
    return None


def _able(model: Model) -> Candidate:
    paid = not model.builtin and endpoints.get(model.endpoint).kind == "local"
    return Candidate(model, roster.target(model.alias), paid=paid)


def _hindered(health: Health, now: float) -> tuple[str | None, float | None]:
    """Why the model should not be the first, and until when; (None, None) when nothing speaks against it."""
    if health.failing:
        return f"is failing: {health.failing}", None
    if health.until is None:
        return None, None
    why = f" ({health.why})" if health.why else ""
    return f"rests for another {stamps.lasting(health.until - now)}{why}", health.until
