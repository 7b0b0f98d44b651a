"""What one decoded chunk of a chat completion says, whoever sent it and however it is bent.

The idea: a whole completion is a stream of one chunk, so both are read here, and all the state that a stream
needs (open tool calls, the finish, the last usage) lives in one small reader. What had to be made right is
put back into the chunk and `repaired` says so: a relay of bytes then knows which chunk it must write anew.
"""

from collections.abc import Callable, Mapping
from typing import Any

from metrics.client import errors, seals, thoughts, usage
from metrics.client.tool_calls import ToolCalls
from metrics.events import Burst, Closed, Event, Opened, Reasoning, Text, ToolArguments, ToolStart
from metrics.records import Problem, Target, Usage

# The words of other APIs and servers for the four of ours. "" is a breakdown, not an end.
FINISHES = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "done": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",  # Mistral: the window is full
    "model_context_window_exceeded": "length",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "prohibited_content": "content_filter",
    "sensitive": "content_filter",  # Z.ai
    "error": "",
    "network_error": "",  # Z.ai
    "insufficient_system_resource": "",  # DeepSeek
}
CUT = ("length", "content_filter")  # ends that come before their time


class Chunks:
    """Reads the chunks of one answer, in order. `now` is for waits that errors name; `new_id` names nameless
    tool calls."""

    def __init__(self, target: Target, now: Callable[[], float], new_id: Callable[[], str]) -> None:
        self.taken = 0
        self.opened = False
        self.finished = False  # the first choice came to its end
        self.repaired = False  # the last chunk was altered
        self._target, self._now, self._new_id = target, now, new_id
        self._finish = "stop"
        self._refused = False
        self._stop_sequence: str | None = None
        self._usage: Mapping[str, Any] | None = None
        self._tools: dict[int, ToolCalls] = {}
        self._thoughts: list[str] = []

    def take(self, chunk: Mapping[str, Any]) -> list[Event]:
        """The events of one chunk; a Problem when it is an error."""
        self.taken += 1
        self.repaired = False
        events: list[Event] = []
        choices = chunk.get("choices")
        if not choices or "error" in chunk:
            self._refuse(chunk)
        if not self.opened and (choices or chunk.get("model")):
            self.opened = True
            events.append(
                Opened(
                    _name(chunk.get("model")),
                    _name(chunk.get("provider")),
                    _name(chunk.get("system_fingerprint")),
                    _name(chunk.get("id")),
                )
            )
        self._note_usage(chunk)
        try:
            for choice in choices if isinstance(choices, list) else ():
                if isinstance(choice, dict):
                    self._choice(choice, events)
        except Problem:
            # Behind its finish the answer is complete all the same: without the calls of which nobody heard.
            for event in events:
                if isinstance(event, ToolStart):
                    self._tools[event.choice].unsay(event.index)
            raise
        return events

    def only_piece(
        self, chunk: Mapping[str, Any], events: list[Event]
    ) -> Text | Reasoning | ToolArguments | None:
        """The piece of the first choice that is all that a chunk just taken says, as `go_on` can take more of
        it; None for any other chunk."""
        if len(events) != 1 or self.repaired:
            return None
        match events[0]:
            case Text(_, 0, None) | Reasoning(_, 0):
                return events[0]
            case ToolArguments(_, _, 0):
                items = [item for choice in chunk["choices"] for item in choice["delta"]["tool_calls"]]
                return None if any(_names(item) for item in items) else events[0]
        return None

    def go_on(self, burst: Burst) -> bool:
        """Take more of what `only_piece` told. False, and nothing is taken, where only the chunks themselves
        show whom they belong to."""
        like = burst.like
        if type(like) is ToolArguments:
            tools = self._tools.get(0)
            if tools is None or not tools.go_on(like.index, burst.texts):
                return False
        elif type(like) is Reasoning:
            self._thoughts += burst.texts
        self.taken += len(burst.texts)
        return True

    def close(self) -> list[Event]:
        """What is left to say when the stream is over; ends with Closed."""
        finish = self._finish
        events: list[Event] = []
        for tools in self._tools.values():
            events += tools.finish(finish in CUT)
        if finish in ("stop", "tool_calls"):
            finish = "tool_calls" if self._tools.get(0) else "stop"
        if self._refused and finish == "stop":
            finish = "content_filter"
        spent = usage.of_chat(self._usage) if self._usage is not None else Usage()
        events.append(Closed(finish, spent, self._stop_sequence))
        return events

    def _choice(self, choice: dict[str, Any], events: list[Event]) -> None:
        index = choice.get("index")
        number = index if isinstance(index, int) else 0
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            # A whole completion; Perplexity's chunks carry both, and `message` is then all so far.
            delta = choice.get("message")
            delta = delta if isinstance(delta, dict) else {}
            self._put(choice, "delta", delta)
        if number is not index:
            self._put(choice, "index", number)
        self._delta(delta, choice.get("logprobs"), number, events)
        if "finish_reason" not in choice:
            self._put(choice, "finish_reason", None)
        finish = choice["finish_reason"]
        if finish is not None:
            self._end(str(finish), choice, number, events)

    def _put(self, holder: dict[str, Any], name: str, value: Any) -> None:
        """Put a field of the chunk right."""
        holder[name] = value
        self.repaired = True

    def _delta(self, delta: dict[str, Any], logprobs: Any, number: int, events: list[Event]) -> None:
        # Where reasoning is shown: DeepSeek and most; OpenRouter and Ollama; some send both, saying the same.
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if not reasoning and "reasoning_details" in delta:
            reasoning = _details(delta["reasoning_details"])
        content = delta.get("content")
        if isinstance(content, list):  # Mistral's reasoning models send parts
            thought, content = _parts(content)
            self._put(delta, "content", content)
            if thought and not reasoning:
                reasoning = thought
                self._put(delta, "reasoning_content", thought)
        if reasoning and isinstance(reasoning, str):
            events.append(Reasoning(reasoning, number))
            if number == 0:
                self._thoughts.append(reasoning)
        text = content if isinstance(content, str) else ""
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._refused = True
            text += refusal
        if text or logprobs:
            events.append(Text(text, number, logprobs))
        legacy = delta.get("function_call")
        if isinstance(legacy, dict) and not delta.get("tool_calls"):
            self._put(delta, "tool_calls", [{"index": 0, "type": "function", "function": legacy}])
            del delta["function_call"]
        if delta.get("tool_calls"):
            self._calls(delta, number, events)

    def _calls(self, delta: dict[str, Any], number: int, events: list[Event]) -> None:
        items = delta["tool_calls"]
        tools = self._tools.setdefault(number, ToolCalls(number, self._new_id))
        right: list[dict[str, Any]] = []
        altered = not isinstance(items, list)
        for item in [items] if altered else items:
            if isinstance(item, dict):
                said = tools.take(item)
                self._keep(said)
                events += said
                for written in tools.items(said):
                    right.append(_rewritten(item, written))
                altered = altered or not said or right[-1] is not item
        if altered:
            self.repaired = True
            delta["tool_calls"] = right
            if not right:
                del delta["tool_calls"]

    def _keep(self, events: list[ToolStart | ToolArguments]) -> None:
        """What the model may want back with its calls."""
        for event in events:
            if isinstance(event, ToolStart) and event.choice == 0:
                if event.signature:
                    seals.keep(self._target.model_id, event.id, event.signature)
                if self._thoughts:  # the first call has them
                    thoughts.keep(self._target.model_id, event.id, "".join(self._thoughts))
                    self._thoughts.clear()

    def _end(self, word: str, choice: dict[str, Any], number: int, events: list[Event]) -> None:
        finish = FINISHES.get(word.lower(), "stop")
        if not finish:
            self._refuse({"error": choice.get("error")})
            raise errors.of_finish(word, self._target, now=self._now())
        tools = self._tools.get(number)
        rest = tools.finish(finish in CUT) if tools else []
        if tools and rest:
            events += rest
            delta = choice["delta"] if isinstance(choice.get("delta"), dict) else {}
            choice["delta"] = {**delta, "tool_calls": [*(delta.get("tool_calls") or []), *tools.items(rest)]}
        if finish in ("stop", "tool_calls"):
            finish = "tool_calls" if tools else "stop"
        if rest or finish != word:
            choice["finish_reason"] = finish
            self.repaired = True
        if number == 0:
            self.finished = True
            self._finish = finish
            # vLLM and SGLang name the stop string that matched; a number is a token's id.
            matched = choice.get("stop_reason") or choice.get("matched_stop")
            if finish == "stop" and isinstance(matched, str) and matched.lower() not in FINISHES:
                self._stop_sequence = matched

    def _note_usage(self, chunk: Mapping[str, Any]) -> None:
        """The last usage that counts anything wins: many send null or zeros first, some a running total."""
        found = chunk.get("usage")
        if not found and "x_groq" in chunk and isinstance(groq := chunk["x_groq"], dict):
            found = groq.get("usage")
            self._refuse({"error": groq.get("error")})
        if isinstance(found, dict) and (self._usage is None or any(found.values())):
            self._usage = found

    def _refuse(self, chunk: Mapping[str, Any]) -> None:
        problem: Problem | None = errors.in_stream(chunk, self._target, now=self._now())
        if problem:
            raise problem


def _parts(parts: list[Any]) -> tuple[str, str]:
    """Thoughts and text of content in parts."""
    thought, text = [], []
    for part in parts:
        if isinstance(part, dict):
            inner = part.get("thinking")
            if isinstance(inner, list):
                thought.append(_parts(inner)[1])
            elif isinstance(inner, str):
                thought.append(inner)
            elif isinstance(part.get("text"), str):
                text.append(part["text"])
    return "".join(thought), "".join(text)


def _details(details: Any) -> str:
    """The readable part of OpenRouter's reasoning_details; encrypted ones have none."""
    if not isinstance(details, list):
        return ""
    texts = (item.get("text") or item.get("summary") or "" for item in details if isinstance(item, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _rewritten(item: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """A tool call's entry as it should be: `item` itself where that says the same, else with its unknown
    fields kept."""
    if all(item.get(key) == value for key, value in right.items()) and ("id" in right or "id" not in item):
        return item
    known = ("index", "id", "type", "function", "custom")
    return {**{key: value for key, value in item.items() if key not in known}, **right}


def _names(item: Mapping[str, Any]) -> bool:
    """Whether an entry of `tool_calls` says more of its call than the next of its arguments."""
    body = item.get("function") or item.get("custom") or {}
    return bool(item.get("id") or body.get("name") or item.get("extra_content"))


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
