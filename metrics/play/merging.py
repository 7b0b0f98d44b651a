"""One answer out of many: who merges, and what the merger is asked.

The merger is told to keep the disagreements: two models that say the same are not yet right, and the value of
a panel is what only one of them saw.
"""

from collections.abc import Sequence

from metrics.bench import roster
from metrics.bench.roster import Model
from metrics.evidence import verdicts
from metrics.limits import budgets, tokens
from metrics.play import ids
from metrics.records import Answer, Message, Panel, Seat, Target

SYSTEM = """You merge the answers of several language models to one request into one answer for whoever asked.
- Begin with what most helps them act.
- Say where the answers agree, and where they contradict each other; name each model at what it said.
- Keep a finding that only one model made, and say which one made it.
- Agreement is not proof: do not present a claim as certain because several repeat it.
- Add nothing of your own that no answer supports. If you see that a claim is wrong, say so and why."""

NOT_A_MODEL = (
    "nothing was merged: only practice programs sit here, and a program cannot merge. All answers follow"
)


def choose(panel: Panel, answers: Sequence[Answer]) -> Seat | str:
    """The merger's seat, or a sentence saying why nothing is merged."""
    useful = [answer for answer in answers if answer.answered]
    if len(useful) < 2:
        return "only one seat answered, so there was nothing to merge" if useful else "no seat answered"
    bench = roster.all()
    candidates = _in_preference(
        panel, [bench[a.seat.target.alias] for a in useful if a.seat.target.alias in bench], bench
    )
    able = [model for model in candidates if not model.builtin]
    if not able:
        return NOT_A_MODEL
    size = tokens.estimate(messages(panel, answers))
    fitting = [model for model in able if model.context is None or size <= model.context]
    if not fitting:
        names = ", ".join(f"{model.alias} reads {model.context:,}" for model in able)
        return f"the answers together need about {size:,} tokens and no merger reads that much: {names}"
    affordable = [model for model in fitting if _affords(panel, answers, model, size)]
    if not affordable:
        return "merging could cost more than this request has left, so nothing was merged. All answers follow"
    return Seat(ids.merger(panel.id), "merger", _target(affordable[0]), how="merger")


def _affords(panel: Panel, answers: Sequence[Answer], model: Model, size: int) -> bool:
    """Whether what the request itself may cost leaves room for this merger."""
    budget = panel.request.budget
    if budget is None:
        return True
    left = budgets.of_request(budget - sum(answer.cost or 0 for answer in answers))
    return left.refusal(budgets.estimate(_target(model), size, None)) is None


def _in_preference(panel: Panel, seated: Sequence[Model], bench: dict[str, Model]) -> list[Model]:
    """The collection's merger first, then members by useful verdicts, then the seated in their order; those
    alone that the key may be answered by."""
    record = verdicts.record(panel.request.collection)
    ranked = sorted(seated, key=lambda model: -record.get(model.alias, {}).get("useful", 0))
    named = [bench[panel.merger]] if panel.merger in bench else []
    allowed = panel.request.models
    models = dict.fromkeys([*named, *ranked])
    return [model for model in models if allowed is None or model.alias in allowed]


def messages(panel: Panel, answers: Sequence[Answer]) -> list[Message]:
    """What the merger is asked: the request's own words, then each answer under its model's name."""
    request = "\n\n".join(
        f"[{message.get('role')}] {text}"
        for message in panel.request.messages
        for text in tokens.texts([message])
    )
    labelled = "\n\n".join(
        f"=== Answer of {answer.seat.target.alias} ===\n{answer.text}"
        for answer in answers
        if answer.answered
    )
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": f"=== The request ===\n{request}\n\n{labelled}"},
    ]


def _target(model: Model) -> Target:
    return roster.target(model.alias)
