"""practice-agent: a tool loop that can be played again. It looks, then reads, then says what came back.

Which tool comes next is decided by names alone: tools the user names, else one that lists, then one that
reads. A tool that could change something is called only if the user names it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.play.practice import arguments
from metrics.play.practice.ask import Ask, Message, Said, Tool, ToolCall, words
from metrics.play.practice.parsing import words_in

ROUNDS = 4
LOOKS = words_in("list ls glob find search grep tree dir query lookup browse")
READS = words_in("read get fetch view cat show load open describe inspect weather time now check")
CHANGES = words_in(
    "write edit create delete remove move rename update apply patch run exec execute bash shell"
    " command send post put kill"
    " install commit push insert drop set add todo task agent upload replace stop start"
)
TOGETHER = re.compile(
    r"\b(?:both|parallel|in one go|at once|at the same time|simultaneously|together|concurrently|each of)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Step:
    """A call already made in this turn, with what came back ("" while nothing has)."""

    name: str
    arguments: str
    result: str


def play(ask: Ask) -> Said:
    """The next calls, or words once there is nothing left to call."""
    done = steps(ask.messages)
    if ask.choice != "none" and rounds(ask.messages) < ROUNDS:
        calls = _next(ask, done)
        if calls:
            return Said(calls=tuple(_call(ask, *call, number) for number, call in enumerate(calls)))
    return Said(_summary(done) if done else _nothing_to_do(ask))


def turn(messages: Sequence[Message]) -> Sequence[Message]:
    """What happened since the user last spoke."""
    start = max((at for at, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    return messages[start + 1 :]


def rounds(messages: Sequence[Message]) -> int:
    return sum(1 for message in turn(messages) if _calls_of(message))


def steps(messages: Sequence[Message]) -> list[Step]:
    since = turn(messages)
    results = {
        message.get("tool_call_id"): words(message) for message in since if message.get("role") == "tool"
    }
    found = []
    for message in since:
        for call in _calls_of(message):
            function = call.get("function")
            given = function if isinstance(function, dict) else {}
            result = results.get(call.get("id"), "")
            found.append(Step(str(given.get("name", "")), str(given.get("arguments", "")), result))
    return found


def _calls_of(message: Message) -> list[Mapping[str, Any]]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _next(ask: Ask, done: Sequence[Step]) -> list[tuple[Tool, dict[str, Any]]]:
    """The calls of the next round: one, or all that are left if the user wants them together."""
    forced = [tool for tool in ask.tools if tool.name == ask.choice]
    if forced:
        return [] if done else [_filled(forced[0], _hints(ask, done))]
    left = [call for call in _plan(ask, done) if not _was_made(call, done)]
    if not left and ask.choice == "required" and not done and ask.tools:
        left = [_filled(ask.tools[0], _hints(ask, done))]
    together = ask.parallel and TOGETHER.search(ask.text)
    return left if together else left[:1]


def _plan(ask: Ask, done: Sequence[Step]) -> list[tuple[Tool, dict[str, Any]]]:
    """All calls this turn needs, in order; what a read is given depends on what a look has found."""
    hints = _hints(ask, done)
    plan: list[tuple[Tool, dict[str, Any]]] = []
    for tool in _wanted(ask, hints):
        # Two files named are two reads; any other tool is called once.
        files = hints.files[:3] if _takes_a_file(tool) else []
        for file in files or [""]:
            call = _filled(tool, hints, file)
            plan += [call] if call not in plan else []
    return plan


def _filled(tool: Tool, hints: arguments.Hints, file: str = "") -> tuple[Tool, dict[str, Any]]:
    """A tool with arguments; a tool that looks around gets a folder where another gets a file."""
    return tool, arguments.build(tool.schema, hints.for_a_look() if _says(tool, LOOKS) else hints.about(file))


def _wanted(ask: Ask, hints: arguments.Hints) -> list[Tool]:
    named = [tool for tool in ask.tools if _position(tool, ask.text) >= 0]
    if named:
        return sorted(named, key=lambda tool: _position(tool, ask.text))
    safe = [tool for tool in ask.tools if not _says(tool, CHANGES)]
    looks = [tool for tool in safe if _says(tool, LOOKS)]
    reads = [tool for tool in safe if _says(tool, READS) and tool not in looks]
    if hints.asked and reads and any(_takes_a_file(tool) for tool in reads):
        return [next(tool for tool in reads if _takes_a_file(tool))]
    return [*looks[:1], *reads[:1]] or safe[:1]


def _says(tool: Tool, verbs: frozenset[str]) -> bool:
    """Whether one of the words of a tool's name is among these: `read_file`, `readFile` and `fs.read` all
    say "read"."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", tool.name).lower()
    return not verbs.isdisjoint(re.findall(r"[a-z]+", apart))


def _position(tool: Tool, text: str) -> int:
    found = re.search(rf"(?<![\w-]){re.escape(tool.name)}(?![\w-])", text)
    return found.start() if found else -1


def _takes_a_file(tool: Tool) -> bool:
    names = tool.schema.get("properties")
    return (
        isinstance(names, dict)
        and any(arguments.FILE.search(str(name)) for name in names)
        and not _says(tool, LOOKS)
    )


def _hints(ask: Ask, done: Sequence[Step]) -> arguments.Hints:
    return arguments.hints(ask.text, [step.result for step in done])


def _was_made(call: tuple[Tool, dict[str, Any]], done: Sequence[Step]) -> bool:
    """Whether the tool was called in this turn: with the same arguments, or at all if it takes no file."""
    tool, given = call
    earlier = [step for step in done if step.name == tool.name]
    return any(not _takes_a_file(tool) or _read(step.arguments) == given for step in earlier)


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _call(ask: Ask, tool: Tool, given: dict[str, Any], number: int) -> ToolCall:
    return ToolCall(
        f"call_{ask.digest(number, tool.name)[:24]}", tool.name, json.dumps(given, ensure_ascii=False)
    )


def _summary(done: Sequence[Step]) -> str:
    """What was called and the first lines of what each call gave."""
    names = ", ".join(f"`{step.name}`" for step in done)
    quotes = [f"`{step.name}` with `{step.arguments}` said:\n\n{_quote(step.result)}" for step in done]
    count = "one call" if len(done) == 1 else f"{len(done)} calls"
    return "\n\n".join([f"I made {count}: {names}.", *quotes])


def _quote(result: str) -> str:
    lines = result.strip().split("\n")
    shown = [line[:200] for line in lines[:12]]
    more = [f"... and {len(lines) - 12} more lines"] if len(lines) > 12 else []
    return "\n".join(f"> {line}" for line in [*shown, *more]) if result.strip() else "> (nothing)"


def _nothing_to_do(ask: Ask) -> str:
    if not ask.tools:
        return (
            "No tools came with this request. With some I would list what is there, read one thing,"
            " and quote what it said."
        )
    names = ", ".join(f"`{tool.name}`" for tool in ask.tools[:10])
    if ask.choice == "none":
        return f"You asked for no calls. Otherwise I would choose from {names}."
    return f"Of {names} I call none unless you name it: each may change something."
