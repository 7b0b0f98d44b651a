"""What a model name means: `bench/<collection>`, the bare name, and `:all | :merged | :route` behind either.

Ollama's clients append `:latest` to a name without a tag; it means no mode. Claude Code shows only models
whose id begins with "claude", so every collection has such names too; they are looked up in a table, never
taken apart.
"""

from metrics.bench import collections, scope
from metrics.records import Problem

MODES = ("all", "merged", "route")
PREFIX = "bench/"
CLAUDE = "claude-bench-"


def resolve(model: object, reply: str | None = None, to_ask: bool = True) -> tuple[str, str]:
    """(collection, mode) that `model` asks for. `reply` is the body's own wish (`bench.reply`).

    Problem 400: no name, or name and body contradict each other; 403: outside the scope of whoever asks, in
    its mode too if it is `to_ask` for; 404: no such collection (the menu lists what there is); 503: its entry
    in collections.json is not one.
    """
    asked = model.strip() if isinstance(model, str) else ""
    if not asked:
        raise Problem(
            400, f'name a collection in "model", such as "bench/core". {collections.menu()}', param="model"
        )
    name, suffix = (asked.startswith(CLAUDE) and _claude(asked)) or _plain(asked)
    scope.check(name)
    found = collections.all().get(name)
    if found is None:
        raise collections.SHELF.broken(name) or _unknown(
            f'there is no collection "{name[:80]}". {collections.menu()}'
        )
    if suffix and reply and suffix != reply:
        raise Problem(
            400, f'"model" asks for :{suffix} and "bench.reply" for {reply}; say one of them', param="model"
        )
    mode = suffix or reply or found.reply
    if to_ask:
        scope.check(name, mode)
    return name, mode


def _plain(model: str) -> tuple[str, str]:
    name, _, suffix = model.removeprefix(PREFIX).partition(":")
    if suffix in MODES or suffix in ("", "latest"):
        return name, "" if suffix == "latest" else suffix
    raise _unknown(f'"{model[:80]}" ends in ":{suffix[:40]}"; the modes are :all, :merged and :route')


def _claude(model: str) -> tuple[str, str] | None:
    table = {claude(name, mode): (name, mode) for name in collections.all() for mode in MODES}
    return table.get(model)


def claude(collection: str, mode: str) -> str:
    """The name under which Claude Code lists a collection in a mode."""
    return f"{CLAUDE}{collection}-{mode}"


def _unknown(message: str) -> Problem:
    return Problem(404, message, param="model", code="model_not_found")
