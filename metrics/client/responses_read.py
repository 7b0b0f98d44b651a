"""What an answer of the Responses API says, streamed or whole.

Events and their order: OpenAI's API description 2.3.0. Servers like it leave out deltas, `added` events, ids
or the output of the last event (github.com/bytedance/deer-flow/issues/1928), and some give an item another
id in each event; so an item is known by whichever of its id, its place and its kind fits, and every event
that has the whole of something says what the pieces before it did not.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from metrics.client import call_ids, errors, objects, responses_seals, usage
from metrics.client.called import told
from metrics.client.objects import Object
from metrics.events import Closed, Event, Opened, Reasoning, Text, Tick, ToolArguments, ToolStart
from metrics.records import Problem, Target, Usage

CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
KINDS = ("message", "reasoning", *CALLS)
CUT = {"content_filter": "content_filter"}  # why an answer is incomplete; any other reason is its length
ENDS = ("completed", "incomplete", "done", "failed", "cancelled")

NOT_A_RESPONSE = "answered with JSON that is no response; does its endpoint speak another API?"


def read(
    arrival: objects.Incoming,
    target: Target,
    *,
    relay: bool = False,
    tick: float | None = None,
    now: Callable[[], float] = time.time,
    new_id: Callable[[], str] = call_ids.new,
) -> Iterator[Event]:
    """The events of an answer: Opened, Text, Reasoning, ToolStart, ToolArguments, Tick, and at last Closed.

    Raises Problem: the provider's refusal (with its status), "empty", "cut" and "garbage" (502), and the
    transport's. `relay` changes nothing: no caller's format takes these events as they are.
    """
    answer = _Answer(target, now, new_id)
    for one in objects.read(arrival, target, tick=tick, now=now):
        if not isinstance(one, objects.Object):
            yield Tick()
        elif not answer.closed:
            yield from answer.take(one)
        if answer.closed:  # what comes behind the end, and how, is of no interest
            objects.settle(arrival)
            break
    if not answer.closed:
        raise objects.cut(target)
    if not answer.spoken:
        raise objects.empty(target)
    yield answer.closed


class _Item:
    """One item of the output: what was said of it, and for a call who calls what."""

    __slots__ = ("done", "held", "index", "kind", "part", "phase", "said", "shows", "text")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.said: list[str] = []
        self.text = 0  # characters of it
        self.shows = ""  # whether reasoning is said as its content or its summary
        self.part: Any = None  # the part of it that was said last
        self.phase: str | None = None  # of a message that has not begun
        self.done = False
        self.index: int | None = None  # of a call that was announced
        self.held: list[str] = []  # arguments of one that has no name yet

    def add(self, piece: str) -> None:
        self.said.append(piece)
        self.text += len(piece)

    def rest(self, whole: str) -> str:
        """What `whole` says beyond what was said; nothing where they disagree."""
        if len(whole) <= self.text or not whole.startswith("".join(self.said)):
            return ""
        return whole[self.text :]


class _Answer:
    def __init__(self, target: Target, now: Callable[[], float], new_id: Callable[[], str]) -> None:
        self.closed: Closed | None = None
        self.spoken = False  # anything but silence came
        self._target, self._now, self._new_id = target, now, new_id
        self._items: list[_Item] = []
        self._by_id: dict[str, _Item] = {}
        self._by_place: dict[int, _Item] = {}
        self._call_ids: set[str] = set()
        self._calls = 0
        self._opened = self._begun = self._refused = False
        self._sealed: list[Mapping[str, Any]] = []  # reasoning for the next call

    def take(self, one: Object) -> list[Event]:
        """The events of one object; sets `closed` at the end of the answer. Problem when it is an error."""
        value = one.value
        kind = value.get("type") or one.event
        if one.whole and isinstance(value.get("output"), list):
            return self._end(value)
        if one.whole or kind == "error" or value.get("error") or not isinstance(kind, str) or not kind:
            raise self._refusal(value)
        name = str(kind).removeprefix("response.")
        response = value.get("response")
        if name in ENDS:
            return self._end(response if isinstance(response, dict) else {}, name)
        if isinstance(response, dict):
            return self._open(response) or self._still(name)
        how = _HOW.get(name)
        return how(self, value) if how else [] if name.startswith(_FRAMES) else [Tick()]

    # --- the response

    def _open(self, response: Mapping[str, Any]) -> list[Event]:
        if self._opened:
            return []
        self._opened = True
        return [Opened(_text(response.get("model")) or None, id=_text(response.get("id")) or None)]

    def _still(self, name: str) -> list[Event]:
        """The response is still being made: a sign of life, but for the one that every stream begins with."""
        first, self._begun = not self._begun, True
        return [] if first and name == "in_progress" else [Tick()]

    def _end(self, response: Mapping[str, Any], name: str = "") -> list[Event]:
        status = _text(response.get("status")) or name
        error = response.get("error")
        if status in ("failed", "cancelled") or error:
            raise self._failure(error, status)
        events = self._open(response) if response.get("model") else []
        output = response.get("output")
        events += self._missed(output if isinstance(output, list) else [])
        for item in self._items:
            events += self._finish_call(item, "") if item.kind in CALLS and status != "incomplete" else []
        spent = response.get("usage")
        used = usage.of_chat(spent) if isinstance(spent, dict) else Usage()
        self.closed = Closed(self._finish(status, response), used)
        return events

    def _finish(self, status: str, response: Mapping[str, Any]) -> str:
        if status == "incomplete":
            details = response.get("incomplete_details")
            reason = details.get("reason") if isinstance(details, dict) else None
            self.spoken = True
            return CUT.get(str(reason), "length")
        if self._calls:
            return "tool_calls"
        return "content_filter" if self._refused else "stop"

    def _missed(self, output: list[Any]) -> list[Event]:
        """What the last event shows and no event before it did: the nth item of a kind is the nth seen."""
        events: list[Event] = []
        seen = {kind: [item for item in self._items if item.kind == kind] for kind in KINDS}
        for shown in output:
            if not isinstance(shown, dict) or shown.get("type") not in KINDS:
                continue
            item = next(iter(seen[shown["type"]]), None)
            if item:
                seen[shown["type"]].remove(item)
            else:
                item = self._add(shown, None)
            events += self._whole(item, shown)
        return events

    def _failure(self, error: Any, status: str) -> Problem:
        said = dict(error) if isinstance(error, dict) else {"message": error or f"the answer was {status}"}
        if said.get("code") == "invalid_prompt":
            said["status"] = 400  # the one code of these that blames the request
        return self._refusal({"error": said})

    def _refusal(self, value: Mapping[str, Any]) -> Problem:
        problem = errors.in_stream(value, self._target, now=self._now())
        return problem or objects.problem(self._target, NOT_A_RESPONSE, "garbage")

    # --- its items

    def added(self, event: Mapping[str, Any]) -> list[Event]:
        shown = event.get("item")
        if not isinstance(shown, dict) or shown.get("type") not in KINDS:
            return []
        known = self._by_id.get(_text(shown.get("id")))
        item = known if known and known.kind == shown["type"] else self._add(shown, event)
        return self._name(item, shown)

    def done(self, event: Mapping[str, Any]) -> list[Event]:
        shown = event.get("item")
        if not isinstance(shown, dict) or shown.get("type") not in KINDS:
            return []
        found = self._find(_text(shown.get("id")), event.get("output_index"), (shown["type"],))
        if found is None or found.done:
            found = next((item for item in self._items if item.kind == shown["type"] and not item.done), None)
        return self._whole(found or self._add(shown, event), shown)

    def _add(self, shown: Mapping[str, Any], event: Mapping[str, Any] | None) -> _Item:
        item = _Item(str(shown["type"]))
        self._items.append(item)
        if name := _text(shown.get("id")):
            self._by_id[name] = item
        place = event.get("output_index") if event else None
        if isinstance(place, int):
            self._by_place[place] = item
        return item

    def _find(self, name: str, place: Any, kinds: tuple[str, ...]) -> _Item | None:
        known = self._by_id.get(name)
        if known is None and isinstance(place, int):
            known = self._by_place.get(place)
        return known if known and known.kind in kinds else None

    def _of(self, event: Mapping[str, Any], *kinds: str) -> _Item:
        """The item that a piece belongs to; a new one where none was announced."""
        found = self._find(_text(event.get("item_id")), event.get("output_index"), kinds)
        if found is not None:
            return found
        last = next((item for item in reversed(self._items) if item.kind in kinds and not item.done), None)
        return last or self._add({"type": kinds[0], "id": event.get("item_id")}, event)

    def _name(self, item: _Item, shown: Mapping[str, Any]) -> list[Event]:
        """Announces a call once its name is known; a message's phase is kept for its first words."""
        if item.kind == "message" and not item.said:
            item.phase = _text(shown.get("phase")) or None
        name = _text(shown.get("name"))
        if item.kind not in CALLS or item.index is not None or not name:
            return []
        call_id = _text(shown.get("call_id")) or _text(shown.get("id")) or self._new_id()
        if call_id in self._call_ids:
            call_id = self._new_id()
        self._call_ids.add(call_id)
        item.index = self._calls
        self._calls += 1
        self.spoken = True
        if self._sealed:
            responses_seals.keep(self._target.model_id, call_id, self._sealed)
            self._sealed = []
        kind = "custom" if item.kind == "custom_tool_call" else "function"
        space = _text(shown.get("namespace")) or None
        events: list[Event] = [ToolStart(item.index, call_id, name, kind=kind, namespace=space)]
        if item.held:
            events.append(ToolArguments(item.index, "".join(item.held)))
            item.held = []
        return events

    def _whole(self, item: _Item, shown: Mapping[str, Any]) -> list[Event]:
        """All that an item says, as far as it has not been said."""
        events = self._name(item, shown)
        if item.done:
            return events
        if item.kind == "message":
            events += self._parts(item, shown.get("content"))
        elif item.kind == "reasoning":
            events += self._thought(item, shown)
        elif shown.get("status") != "incomplete":
            events += self._finish_call(item, told(shown.get(CALLS[item.kind])))
        item.done = True
        return events

    def _parts(self, item: _Item, content: Any) -> list[Event]:
        texts = _parts(content)
        self._refused = self._refused or any(part.get("type") == "refusal" for part in texts)
        whole = "".join(_text(part.get("text") or part.get("refusal")) for part in texts)
        return self._say(item, item.rest(whole))

    def _thought(self, item: _Item, shown: Mapping[str, Any]) -> list[Event]:
        shows = "content" if shown.get("content") else "summary"
        texts = [_text(part.get("text")) for part in _parts(shown.get(shows))]
        rest = item.rest("\n\n".join(texts)) if not item.said or item.shows == shows else ""
        item.add(rest)
        if not _text(shown.get(responses_seals.CONTENT)):
            return [Reasoning(rest)] if rest else []
        self.spoken = True
        responses_seals.note(self._target.model_id, shown)
        self._sealed.append(shown)
        return [Reasoning(rest, sealed=shown)]

    def _finish_call(self, item: _Item, whole: str) -> list[Event]:
        if item.index is None or item.done:
            return []
        item.done = True
        rest = item.rest(whole)
        if not item.text and item.kind == "function_call" and rest.strip() in ("", "null"):
            rest = "{}"
        item.add(rest)
        return [ToolArguments(item.index, rest)] if rest else []

    # --- its pieces

    def text(self, event: Mapping[str, Any]) -> list[Event]:
        item = self._of(event, "message")
        logprobs = event.get("logprobs")
        told = {"content": logprobs, "refusal": None} if isinstance(logprobs, list) and logprobs else None
        return self._say(item, _text(event.get("delta")), told)

    def refusal(self, event: Mapping[str, Any]) -> list[Event]:
        self._refused = True
        return self._say(self._of(event, "message"), _text(event.get("delta")))

    def _say(self, item: _Item, text: str, logprobs: Any = None) -> list[Event]:
        if not text and not logprobs:
            return []
        item.add(text)
        self.spoken = True
        phase, item.phase = item.phase, None
        return [Text(text, logprobs=logprobs, phase=phase)]

    def summary(self, event: Mapping[str, Any]) -> list[Event]:
        return self._think(event, "summary", event.get("summary_index"))

    def thought(self, event: Mapping[str, Any]) -> list[Event]:
        return self._think(event, "content", event.get("content_index"))

    def _think(self, event: Mapping[str, Any], shows: str, part: Any) -> list[Event]:
        """A piece of a thought, or of its summary: whichever is said first, as the other says it again."""
        item = self._of(event, "reasoning")
        text = _text(event.get("delta"))
        if not text or (item.said and item.shows != shows):
            return []
        if item.said and part != item.part:
            text = "\n\n" + text
        item.shows, item.part = shows, part
        item.add(text)
        self.spoken = True
        return [Reasoning(text)]

    def arguments(self, event: Mapping[str, Any]) -> list[Event]:
        item = self._of(event, *CALLS)
        piece = told(event.get("delta"))
        if not piece or item.done:
            return []
        item.add(piece)
        if item.index is None:
            item.held.append(piece)
            return []
        return [ToolArguments(item.index, piece)]


# Events that frame what others say.
_FRAMES = ("output_", "content_part.", "refusal.", "reasoning_", "function_call_", "custom_tool_call_")

_HOW: Mapping[str, Callable[[_Answer, Mapping[str, Any]], list[Event]]] = {
    "output_item.added": _Answer.added,
    "output_item.done": _Answer.done,
    "output_text.delta": _Answer.text,
    "refusal.delta": _Answer.refusal,
    "reasoning_summary_text.delta": _Answer.summary,
    "reasoning_text.delta": _Answer.thought,
    "function_call_arguments.delta": _Answer.arguments,
    "custom_tool_call_input.delta": _Answer.arguments,
}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _parts(value: Any) -> list[Mapping[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []
