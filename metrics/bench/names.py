"""What a model name means: `bench/<collection>`, the bare name, and `:all | :merged | :route` behind either.

Ollama's clients append `:latest` to a name without a tag; it means no mode.
"""

from metrics.bench import collections
from metrics.records import Problem

MODES = ("all", "merged", "route")
PREFIX = "bench/"


def resolve(model: object, reply: str | None = None) -> tuple[str, str]:
    """(collection, mode) that `model` asks for. `reply` is the body's own wish (`bench.reply`).

    Problem 400: no name, or name and body contradict each other; 404: no such collection. Both list what there is.
    """
    if not isinstance(model, str) or not model.strip():
        raise Problem(400, f'name a collection in "model", such as "bench/core". {collections.menu()}', param="model")
    name, _, suffix = model.strip().removeprefix(PREFIX).partition(":")
    if suffix == "latest":
        suffix = ""
    if suffix and suffix not in MODES:
        raise Problem(404, f'"{model}" ends in ":{suffix}"; the modes are :all, :merged and :route', **_UNKNOWN)
    if name not in collections.all():
        raise Problem(404, f'there is no collection "{name}". {collections.menu()}', **_UNKNOWN)
    if suffix and reply and suffix != reply:
        raise Problem(400, f'"model" asks for :{suffix} and "bench.reply" for {reply}; say one of them', param="model")
    return name, suffix or reply or collections.get(name).reply


_UNKNOWN = {"param": "model", "code": "model_not_found"}
