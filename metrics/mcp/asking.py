"""The tool `ask`: a question to a panel, and its progress while the seats finish.

The panel runs by itself (play/relay); whoever waits for it may leave at any time, and its answers are
recorded all the same.
"""

import json
import re
import threading
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from metrics.bench import fields, names, scope
from metrics.events import Closed, Text
from metrics.formats import content, images
from metrics.limits import cost
from metrics.mcp import waits
from metrics.play import asked, panel, transcript
from metrics.play.panel import Complete, Done, Happening, Started
from metrics.play.relay import Relay
from metrics.records import Message, Panel, Problem, Request
from metrics.web.table import Call

FORMAT = "mcp"
STEP = 1.0  # seconds between two looks whether anybody still waits
QUIET = 10  # steps without news until the client hears that we are still there
MOST_FILES = 50
LONGEST = 2_000_000  # characters of a prompt or a file; the body's own limit holds them all together


def words(field: str, value: Any) -> str:
    """Text as it was sent: of a prompt nothing may be stripped."""
    if not isinstance(value, str) or len(value) > LONGEST:
        raise fields.wrong(field, f"a text of up to {LONGEST:,} characters", value)
    return value


def files(field: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST_FILES:
        raise fields.wrong(field, f"a list of up to {MOST_FILES} files", value)
    return [_file(one) for one in value]


def _file(given: Any) -> str | Message:
    """A file as text under its name in a fence that nothing in it can close, or as a picture."""
    if not isinstance(given, dict):
        raise fields.wrong("files", 'a list of objects such as {"name": "app.py", "text": "…"}', given)
    file = fields.take(given, FILE, required=("name",))
    if (file.get("text") is None) == (file.get("image") is None):
        raise Problem(400, f'the file "{file["name"]}" needs either "text" or "image"', param="files")
    if file.get("image") is not None:
        return images.from_url(file["image"], f'the image of "{file["name"]}"')
    text = file["text"]
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"File: {file['name']}\n{fence}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


FILE: dict[str, fields.Check] = {
    "name": fields.line(300),
    "text": fields.maybe(words),
    "image": fields.maybe(words),
}
FORM: dict[str, fields.Check] = {
    "collection": fields.line(200),
    "prompt": words,
    "system": fields.maybe(words),
    "merged": fields.maybe(fields.flag),
    "with": fields.maybe(fields.words(20, fields.line(64))),
    "files": fields.maybe(files),
    "quorum": fields.maybe(fields.whole(1, 100)),
    "budget": fields.maybe(fields.number(0, 1e6, "(USD)")),
    "deadline": fields.maybe(fields.number(0.001, 3600, "(seconds)")),
}


def request(arguments: Mapping[str, Any], asker: Mapping[str, Any] = {}) -> Request:
    """What the arguments ask, for an `asker` as `content.asker` tells of him. Problem 400, 403 or 404 that
    says what is wrong with them."""
    form = fields.take(arguments, FORM, required=("collection", "prompt"))
    name, mode = _address(form["collection"], form.get("merged"))
    invited = tuple(form.get("with") or ())
    scope.check_models(invited)
    return Request(
        model=form["collection"],
        collection=name,
        reply=mode,
        messages=_messages(form),
        invited=invited,
        quorum=form.get("quorum"),
        deadline=form.get("deadline"),
        budget=cost.units(form.get("budget")),
        format=FORMAT,
        **asker,
    )


def _address(model: str, merged: bool | None) -> tuple[str, str]:
    """(collection, mode). A collection that is usually asked for a route gives all answers: tools of the
    client's cannot be handed on from here."""
    if merged is not None:
        return names.resolve(model, "merged" if merged else "all")
    name, mode = names.resolve(model, to_ask=False)
    mode = "all" if mode == "route" else mode
    scope.check(name, mode)
    return name, mode


def _messages(form: Mapping[str, Any]) -> list[Message]:
    given = form.get("files") or []
    text = "\n\n".join([form["prompt"], *(file for file in given if isinstance(file, str))])
    pictures = [file for file in given if isinstance(file, dict)]
    said: Any = [{"type": "text", "text": text}, *pictures] if pictures else text
    system = [{"role": "system", "content": form["system"]}] if form.get("system") else []
    return content.messages([*system, {"role": "user", "content": said}])


# --- the panel


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` seats are in, in fractions while nothing else moves; `fresh` where there is news."""

    done: float
    total: int
    words: str


@dataclass(frozen=True, slots=True)
class Asking:
    """A panel that has begun."""

    panel: Panel
    relay: Relay[Happening]

    @property
    def total(self) -> int:
        return len(self.panel.seats) + (self.panel.request.reply == "merged")


def begin(arguments: Mapping[str, Any], call: Call, session: str | None, step: float = STEP) -> Asking:
    """Seat the panel and let it go. Problem as for any other way to ask."""
    wanted = asked.admitted(request(arguments, content.asker(call)), call)
    call.release()  # the seats may be at work for long, and have all they need in the request
    seated = asked.convened(wanted)
    waits.asked(wanted.key, session, seated.id)
    return Asking(seated, Relay(panel.run(seated), quiet=step, about=seated))


Heard = Generator[Progress | None, None, dict[str, Any] | None]


def heard(asking: Asking, stopped: threading.Event) -> Heard:
    """Progress as the seats finish, None where there is no news, and in the end the tool's result; a result
    of None: nobody waits for it any more."""
    said: list[Happening] = []
    count, quiet = 0, 0
    for happening in asking.relay:
        if stopped.is_set():
            return None
        if happening is None:
            quiet += 1
            yield None if quiet % QUIET else Progress(_still(count, quiet), asking.total, _waits_for(said))
            continue
        said.append(happening)
        if isinstance(happening, Started):
            yield Progress(0, asking.total, _waits_for(said))
        elif isinstance(happening, Done):
            count, quiet = count + 1, 0
            yield Progress(count, asking.total, _told(happening, count, asking.total))
    return result(asking.panel, said)


def _still(count: int, quiet: int) -> float:
    """Progress must grow with each notification, and must not reach the next seat's."""
    return count + quiet / (quiet + QUIET)


def _told(done: Done, count: int, total: int) -> str:
    answer = done.answer
    return f"{answer.seat.target.alias}: {answer.status} after {answer.seconds:.1f} s ({count} of {total})"


def _waits_for(said: list[Happening]) -> str:
    done = {happening.answer.seat.call for happening in said if isinstance(happening, Done)}
    seats = [seat for happening in said if isinstance(happening, Started) for seat in happening.panel.seats]
    left = [seat.target.alias for seat in seats if seat.call not in done]
    return f"waiting for {', '.join(left) or 'the merger'}"


# --- what it came to


def result(seated: Panel, said: list[Happening]) -> dict[str, Any]:
    """The tool's result: the answers as text, the seats as JSON, and both in one object. A panel in which
    nobody answered is an error that says why."""
    try:
        events = list(transcript.spoken(said))
    except Problem as problem:
        why = f"{problem.message} (panel {seated.id}; the tool `why` tells more of a call)"
        raise Problem(problem.status, why, retry_after=problem.retry_after) from None
    text = "".join(event.text for event in events if isinstance(event, Text))
    bench = next(dict(event.extra["bench"]) for event in events if isinstance(event, Closed))
    told = structured(bench, next((one.merged for one in said if isinstance(one, Complete)), None))
    return {"content": list(_parts(text, told)), "structuredContent": told, "isError": False}


def structured(bench: dict[str, Any], merged: Any) -> dict[str, Any]:
    """The `bench` object with the merged answer, if there is one, and who waits for a verdict."""
    whole = merged is not None and merged.status == "ok"
    judge = [seat["call"] for seat in bench["seats"] if seat["status"] in ("ok", "cut")]
    return {**bench, "answer": merged.text if whole else None, "to_judge": judge}


def _parts(text: str, told: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The seats' words stand in the first part; the second says the rest, not the words again."""
    seats = [{name: value for name, value in seat.items() if name != "answer"} for seat in told["seats"]]
    rest = {name: value for name, value in told.items() if name not in ("answer", "verdict")}
    rest |= {"merger": _without_answer(told["merger"])} if told.get("merger") else {}
    for each in (text, json.dumps({**rest, "seats": seats}, ensure_ascii=False)):
        yield {"type": "text", "text": each}


def _without_answer(seat: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in seat.items() if name != "answer"}
