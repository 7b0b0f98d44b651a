"""/api/route: who would take a new conversation, with what chance, and who would not and why. Asks nobody."""

import time
from collections.abc import Mapping
from typing import Any

from metrics.bench import fields, names
from metrics.dashboard import frame
from metrics.formats import anthropic, gemini, ollama, openai_chat, openai_completions, openai_responses
from metrics.formats.protocol import Format
from metrics.play import candidates, ranking
from metrics.records import Problem, Request
from metrics.web import roles
from metrics.web.table import Call, Response, json_bytes

# The formats that a request may be written in, each with the path it is read from there.
READ: Mapping[str, tuple[Format, str]] = {
    openai_chat.NAME: (openai_chat, "/v1/chat/completions"),
    openai_responses.NAME: (openai_responses, "/v1/responses"),
    openai_completions.NAME: (openai_completions, "/v1/completions"),
    anthropic.NAME: (anthropic, "/v1/messages"),
    ollama.NAME: (ollama, "/api/chat"),
    gemini.NAME: (gemini, "/v1beta/models/{model}:generateContent"),
}
FORM: dict[str, fields.Check] = {
    "collection": fields.line(200),
    "request": lambda field, value: value,
    "format": fields.one_of(*READ),
    "seed": fields.whole(0, 2**48 - 1),
}
SHORT = {"messages": [{"role": "user", "content": "Hello"}]}  # what is ranked for when no request is given


def explain(call: Call) -> Response:
    """Every member's place and chance for a request, and the decision that `seed` would make of it."""
    form = fields.take(call.json(), FORM, required=("collection",))
    collection, _ = names.resolve(form["collection"])
    request = read(collection, form.get("request"), form.get("format", openai_chat.NAME))
    shape, shape_by = candidates.kind(request)
    told = {"collection": collection, "shape": shape, "shape_by": shape_by}
    try:
        ranked = ranking.order(request, time.time(), form.get("seed", 0))
    except Problem as problem:
        if problem.status not in (400, 413):
            raise
        _, skipped = candidates.candidates(request, time.time())
        refusal = {"status": problem.status, "message": problem.message}
        left_out = [{"alias": skip.alias, "why": skip.why} for skip in skipped]
        return frame.ok(**told, policy=None, candidates=[], skipped=left_out, problem=refusal, decision=None)
    return frame.ok(
        **told,
        policy=ranked.decision["policy"],
        candidates=places(ranked.decision),
        skipped=[{"alias": skip.alias, "why": skip.why} for skip in ranked.skipped],
        problem=None,
        decision=ranked.decision,
    )


def read(collection: str, asked: object, name: str) -> Request:
    """The request as the collection would get it in route mode. Problem 400 for one that cannot be read."""
    if asked is not None and not isinstance(asked, dict):
        raise fields.wrong("request", "an object: the body of a request", asked)
    if asked is None and name != openai_chat.NAME:
        raise Problem(400, '"format" says how "request" is written, and there is none', param="format")
    model = f"{names.PREFIX}{collection}:route"
    body = {**(SHORT if asked is None else asked), "model": model}
    if isinstance(body.get("bench"), dict):
        body["bench"] = {field: value for field, value in body["bench"].items() if field != "reply"}
    api, path = READ[name]
    parts = {"version": "v1beta", "name": f"models/{model}"}
    headers = {"content-type": "application/json"}
    return api.parse(Call("POST", path.replace("{model}", model), headers, json_bytes(body), parts=parts))


def places(decision: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The candidates in the order in which they stand, each with what the policy was told and made of it."""
    known = {one["alias"]: one for one in decision["candidates"]}
    told = []
    for place, alias in enumerate(decision["ranked"], start=1):
        rests = known[alias]["rests"]
        how = "rests" if rests else "leader" if place == 1 else "next"
        told.append({"place": place, **known[alias], **decision["why"][alias], "how": how})
    return told


HANDLERS = (
    frame.post(
        "/api/route",
        explain,
        roles.JUDGE,
        says="""`{collection, request?, format?, seed?}` → `{collection, shape, shape_by, policy,
            candidates: [{place, alias, model_id, p, value, rate, doubt, n, record, last, findings,
            paid, rests, how}], skipped: [{alias, why}], problem, decision}`: who would take a new
            conversation; asks nobody. `request` is a body in the API that `format` names
            (`openai-chat`), `problem` is `{status, message}` when nobody can""",
    ),
)
