"""Who of a collection can take a route turn, who cannot and why, and what is known of those that can.

A member that rests or fails again and again is a candidate still: it stands last, for when nobody else is
left. Everything here reads what is kept in memory; nothing is called and nothing is decided.
"""

from collections.abc import Sequence
from dataclasses import replace

from metrics.bench import collections, endpoints, roster
from metrics.bench.roster import Model
from metrics.client.dialects import DIALECTS
from metrics.evidence import reliability
from metrics.evidence.reliability import Health
from metrics.limits import budgets, tokens
from metrics.play import seating
from metrics.records import Problem, Request, Skipped, Target
from metrics.store import stamps
from metrics.values import dataclass

TOO_SMALL = "reads only"
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a turn asks of whoever takes it: `size` in tokens, by estimate, its tools included; 0 where no
    window is known that it could exceed; `held` are those fields of HELD that it has; `models` and
    `budget` as in Request, `most` the tokens that its answer may have."""

    tools: bool
    images: bool
    size: int
    held: tuple[str, ...] = ()
    models: frozenset[str] | None = None
    budget: int | None = None
    most: int | None = None


def candidates(request: Request, now: float) -> tuple[list[Candidate], tuple[Skipped, ...]]:
    """The members that can take `request`, in the collection's order, and those that cannot. Problem 404 for
    an unknown collection."""
    members, bench = collections.get(request.collection).members, roster.all()
    known = any(alias in bench and bench[alias].context is not None for alias in members)
    measured = known or request.budget is not None
    asked = _Asked(
        tools=bool(request.tools),
        images=tokens.images(request.messages) > 0,
        size=tokens.estimate(request.messages) + tokens.of_tools(request.tools) if measured else 0,
        held=tuple(name for name in HELD if request.native.get(name)),
        models=request.models,
        budget=request.budget,
        most=request.options.get("max_tokens"),
    )
    fit: list[Candidate] = []
    skipped: list[Skipped] = []
    for alias in members:
        model = bench.get(alias)
        reason = _absent(alias) if model is None else _unfit(model, asked)
        if model is None or reason:
            skipped.append(Skipped("member", alias, reason or ""))
        else:
            fit.append(_candidate(model, now))
    if not all(candidate.model.builtin for candidate in fit):
        fit = [_standing_back(candidate) for candidate in fit]
    return fit, tuple(skipped)


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
    return seating.shape_of(collections.get(request.collection), tokens.images(request.messages) > 0)


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


def _candidate(model: Model, now: float) -> Candidate:
    health = reliability.health(model.model_id, now)
    paid = not model.builtin and endpoints.get(model.endpoint).kind == "local"
    target = roster.target(model.alias)
    return Candidate(model, target, *_hindered(health, now), last=health.answered, paid=paid)


def _hindered(health: Health, now: float) -> tuple[str | None, float | None]:
    """Why the model should not be the first, and until when; (None, None) when nothing speaks against it."""
    if health.failing:
        return f"is failing: {health.failing}", None
    if health.until is None:
        return None, None
    why = f" ({health.why})" if health.why else ""
    return f"rests for another {stamps.lasting(health.until - now)}{why}", health.until


def _standing_back(candidate: Candidate) -> Candidate:
    """A practice player lets models go first: it is a program, and whoever asks wants a model."""
    if not candidate.model.builtin or candidate.hindrance:
        return candidate
    return replace(candidate, hindrance="is a program, and stands in only when no model can")
