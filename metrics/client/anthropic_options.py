"""The fields of a Messages request beside its conversation: how much, how, with which tools.

The idea: what the caller of this very API sent goes out as it came, as far as the model takes it; what others
asked in chat's words is said in this API's, and what it has no words for is named. A field is taken away only
where the model would refuse the whole request for it. Fields: anthropic 2.14.0,
types/message_create_params.py; sampling as the reference had it before (temperature from 0 to 1).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from metrics.client import anthropic_tools as tools
from metrics.client import declared, quirks, room
from metrics.client.anthropic_manners import EFFORTS, Manners
from metrics.client.anthropic_tools import of
from metrics.client.anthropic_turns import Told
from metrics.records import Target

# Thinking tokens that a word of effort comes to, where a model takes a number.
BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 32000}
LEAST_BUDGET = 1024
LEAST_ANSWER = 1024  # tokens that thinking must leave
LEAST_TOP_P = 0.95  # beside thinking

THINKS = ("enabled", "adaptive")

# Native fields that are not for the caller to say, or have a step of their own here; the rest goes out.
_PLACED = frozenset(
    {
        *("model", "messages", "system", "stream", "max_tokens", "headers"),
        *("tools", "tool_choice", "thinking", "output_config", "metadata"),
    }
)
_SAID = frozenset(
    {
        *("max_tokens", "max_completion_tokens", "temperature", "top_p", "stop", "user"),
        *("tools", "tool_choice", "parallel_tool_calls", "response_format", "reasoning_effort"),
    }
)
# What says no more than leaving it out.
_MOOT: Mapping[str, Any] = {"n": 1, "logprobs": False, "presence_penalty": 0, "frequency_penalty": 0}


@dataclass(slots=True)
class _Asked:
    """One request being put together. `own` are the fields of this API's own caller, None of any other's;
    `fields` those of the body so far, `changed` what was altered, in words."""

    target: Target
    manners: Manners
    options: Mapping[str, Any]
    own: Mapping[str, Any] | None
    told: Told
    fields: dict[str, Any] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)

    def native(self, name: str) -> Any:
        return (self.own or {}).get(name)

    @property
    def thinks(self) -> bool:
        return of(self.fields.get("thinking"), "type") in THINKS


def fields(
    target: Target,
    manners: Manners,
    options: Mapping[str, Any],
    own: Mapping[str, Any] | None,
    told: Told,
) -> tuple[dict[str, Any], list[str]]:
    """The body's fields but for model, system, messages and stream; and what of the request was altered.
    `own` are native fields, None where the caller's API is another."""
    asked = _Asked(target, manners, options, own, told)
    asked.fields |= {name: value for name, value in (own or {}).items() if name not in _PLACED}
    for step in (_tools, _format, _thinking, _effort, _limit, _sampling, _stops, _user, _edits, _rest):
        step(asked)
    trimmed, left = quirks.without(asked.fields, quirks.for_target(target).drop)
    return trimmed, [*asked.changed, *left]


# --- in what form


def _tools(asked: _Asked) -> None:
    options = asked.options
    if options.get("tools") is None and options.get("tool_choice") is None:
        return
    listed = [tool for tool in options.get("tools") or () if isinstance(tool, dict)]
    wish = declared.choice(options.get("tool_choice"), asked.changed)
    kept = [tool for tool in listed if wish.shows(tool)]
    if len(kept) < len(listed):  # this API has no word for it but to declare no others
        asked.changed.append("tools that tool_choice does not allow left out")
    if not kept:
        return
    made = tools.written(kept, asked.native("tools"))
    asked.fields["tools"] = quirks.plainer(made, quirks.for_target(asked.target))
    if told := tools.choice(wish, options.get("parallel_tool_calls")):
        asked.fields["tool_choice"] = told


def _format(asked: _Asked) -> None:
    """`output_config`: the caller's own, or the schema that it asked the answer to follow."""
    config = dict(asked.native("output_config") or {})
    wish = asked.options.get("response_format")
    if not config and wish is None:
        return
    kind, schema = of(wish, "type"), of(of(wish, "json_schema"), "schema")
    if "format" not in config and kind == "json_schema" and isinstance(schema, dict):
        config["format"] = {"type": kind, "schema": tools.closed(schema)}
    elif "format" not in config and kind not in (None, "text"):
        asked.changed.append(
            f"response_format {kind} left out (there it takes a json_schema with its schema)"
        )
    if config:
        asked.fields["output_config"] = config


# --- how deep


def _thinking(asked: _Asked) -> None:
    """`thinking`, in a form that the model takes."""
    wish = _wished(asked) if asked.own is None else dict(asked.native("thinking") or {})
    if wish.get("type") in THINKS:
        wish = _fitting(asked, wish)
    if wish.get("type") == "enabled" and (why := _forbids(asked)):
        asked.changed.append(f"thinking left out ({why})")
        wish = {}
    if wish:
        asked.fields["thinking"] = wish


def _wished(asked: _Asked) -> dict[str, Any]:
    """Thinking for a word of effort."""
    effort, manners = asked.options.get("reasoning_effort"), asked.manners
    if effort == "none":
        return {"type": "disabled"} if manners.always and not manners.firm else {}
    if not isinstance(effort, str) or effort not in BUDGETS:
        return {}
    if asked.target.reasoning is False:
        asked.changed.append("reasoning_effort left out (this model does not reason)")
        return {}
    if manners.known and "adaptive" in manners.thinking:
        return {"type": "adaptive", "display": "summarized"}
    return {"type": "enabled", "budget_tokens": BUDGETS[effort]}


def _fitting(asked: _Asked, wish: dict[str, Any]) -> dict[str, Any]:
    """Thinking of a type that the model takes; {} when it takes none."""
    kind, taken = str(wish["type"]), asked.manners.thinking
    if kind in taken:
        return wish
    shown = {"display": wish["display"]} if wish.get("display") else {}
    done = f"sent as {min(taken)}" if taken else "left out"
    asked.changed.append(f"thinking of type {kind} {done} (this model takes it no other way)")
    if "adaptive" in taken:
        return {"type": "adaptive", **shown}
    budget = BUDGETS.get(_word(asked) or "high", BUDGETS["high"])
    return {"type": "enabled", "budget_tokens": budget, **shown} if taken else {}


def _forbids(asked: _Asked) -> str:
    """Why a request may not ask for thinking by a budget; "" when it may."""
    if asked.told.unsealed:
        return "what it thought in this turn is lost"
    if of(asked.fields.get("tool_choice"), "type") in ("any", "tool"):
        return "not taken beside a forced tool call"
    return "not taken behind a begun answer" if asked.told.prefilled else ""


def _effort(asked: _Asked) -> None:
    """`output_config.effort`: the word that was asked for, or the highest below it that the model knows."""
    own, word = of(asked.native("output_config"), "effort"), _word(asked)
    if own is None and word is None and "output_config" not in asked.fields:
        return
    fit = own if own and own not in EFFORTS else _nearest(word, asked.manners.efforts)
    if not asked.manners.known:
        fit = own if asked.manners.efforts else None
    if own and fit != own:
        asked.changed.append(
            f"effort {own} {f'sent as {fit}' if fit else 'left out'} (not taken by this model)"
        )
    config = {
        name: value for name, value in asked.fields.pop("output_config", {}).items() if name != "effort"
    }
    config |= {"effort": fit} if fit else {}
    if config:
        asked.fields["output_config"] = config


def _word(asked: _Asked) -> str | None:
    """The effort that was asked for, in this API's words."""
    word = of(asked.native("output_config"), "effort") or asked.options.get("reasoning_effort")
    return "low" if word == "minimal" else word if word in EFFORTS else None


def _nearest(word: str | None, known: tuple[str, ...]) -> str | None:
    if word is None:
        return None
    return next((effort for effort in reversed(EFFORTS[: EFFORTS.index(word) + 1]) if effort in known), None)


def _edits(asked: _Asked) -> None:
    """An edit of the context that clears thinking is refused in a request that asks for none."""
    plan = asked.fields.get("context_management")
    edits = of(plan, "edits")
    if not isinstance(edits, list) or asked.thinks:
        return
    kept = [edit for edit in edits if not str(of(edit, "type")).startswith("clear_thinking")]
    if not kept:
        del asked.fields["context_management"]
    elif len(kept) < len(edits):
        asked.fields["context_management"] = {**(plan or {}), "edits": kept}


# --- how much


def _limit(asked: _Asked) -> None:
    """`max_tokens`, which must be there, and above a thinking budget."""
    options, manners = asked.options, asked.manners
    wish = options.get("max_completion_tokens") or options.get("max_tokens")
    if isinstance(wish, int):
        raises = asked.own is None and asked.thinks
        most, why = room.budget(wish, asked.target, raises)
        asked.changed += [f"max_tokens {why}"] if why else []
    elif manners.known:
        most = min(asked.target.max_output or manners.most, manners.most)
    else:
        most = asked.target.max_output or manners.most
    asked.fields["max_tokens"] = most
    budget = of(asked.fields.get("thinking"), "budget_tokens") or 0
    if isinstance(budget, int) and budget >= most:
        _cut_budget(asked, budget, most)


def _cut_budget(asked: _Asked, budget: int, most: int) -> None:
    if most < LEAST_BUDGET + LEAST_ANSWER:
        del asked.fields["thinking"]
        asked.changed.append(f"thinking left out (no room for it in {most} tokens)")
        return
    lower = max(LEAST_BUDGET, most - max(LEAST_ANSWER, most // 4))
    asked.fields["thinking"] = {**asked.fields["thinking"], "budget_tokens": lower}
    asked.changed.append(f"thinking budget cut from {budget} to {lower} (it is a part of max_tokens)")


def _sampling(asked: _Asked) -> None:
    """temperature and top_p, as many as the model takes; thinking leaves no say in them."""
    options = asked.options
    named = {name: options[name] for name in ("temperature", "top_p") if options.get(name) is not None}
    if not named and "top_k" not in asked.fields:
        return
    for name, value in list(named.items()):
        if asked.thinks and not (value == 1 if name == "temperature" else value >= LEAST_TOP_P):
            _drop(asked, named, name, "beside thinking")
    for name in ("top_p", "temperature"):
        if name in named and len(named) > asked.manners.sampling:
            _drop(asked, named, name, "beside temperature" if asked.manners.sampling else "by this model")
    if asked.thinks and "top_k" in asked.fields:
        _drop(asked, asked.fields, "top_k", "beside thinking")
    elif not asked.manners.sampling and "top_k" in asked.fields:
        _drop(asked, asked.fields, "top_k", "by this model")
    if named.get("temperature", 0) > 1:
        asked.changed.append(f"temperature cut from {named['temperature']:g} to 1 (the most there)")
        named["temperature"] = 1
    asked.fields |= named


def _drop(asked: _Asked, holder: dict[str, Any], name: str, why: str) -> None:
    del holder[name]
    asked.changed.append(f"{name} left out (not taken {why})")


def _stops(asked: _Asked) -> None:
    stops = asked.options.get("stop")
    if stops is None:
        return
    listed = [stops] if isinstance(stops, str) else list(stops or ())
    kept = [stop for stop in listed if isinstance(stop, str) and stop.strip()]
    if len(kept) < len(listed):
        asked.changed.append("stop strings of blanks alone left out (refused there)")
    if kept:
        asked.fields["stop_sequences"] = kept


def _user(asked: _Asked) -> None:
    user, metadata = asked.options.get("user"), asked.native("metadata")
    if metadata:
        asked.fields["metadata"] = metadata
    elif isinstance(user, str) and user:
        asked.fields["metadata"] = {"user_id": user}


def _rest(asked: _Asked) -> None:
    """Names what the API has no place for."""
    for name, value in asked.options.items():
        if name not in _SAID and value is not None and value != _MOOT.get(name, ...):
            asked.changed.append(f"{name} left out (there is no such option there)")
