"""The table of tools: what a client shows of each, what it takes, what it gives, and what does the work.

Schemas are JSON Schema 2020-12. Arguments are checked by the tools themselves, in sentences that a model can
act on; what a schema says here is what it is told beforehand.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from metrics.mcp import judging, telling
from metrics.web.table import Call

Json = dict[str, Any]
Run = Callable[[Mapping[str, Any], Call, str | None], Json]

ASK = "ask"  # the one that takes long: asking.py has it

INSTRUCTIONS = """\
A bench of language models, to be asked side by side. Rules:
1. Ask a collection (ask; list_collections says which there are), not one model: the point is that several \
answer independently.
2. Give every seat the whole material: paste code and diffs as files. The seats see nothing but what you send.
3. Verify before you act: an answer is a claim. Check it against the code or by a test; where seats \
contradict each other, find out who is right.
4. Name every seat when you report: who said what, also who failed or was skipped. Seats marked `program` \
are programs, not models.
5. Send a verdict for every answer that you could check (verdict): that is how the bench learns whom to \
seat. Judge by what turned out true, not by style.
A panel can take minutes: progress says who is in. If you stop waiting it goes on, and its answers are \
kept."""


def _object(required: str = "", **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": required.split()}


def _form(required: str = "", **properties: Json) -> Json:
    """An object that takes nothing else: a mistyped name is refused."""
    return {**_object(required, **properties), "additionalProperties": False}


def _list(items: Json, words: str = "") -> Json:
    return {"type": "array", "items": items, **({"description": words} if words else {})}


def _of(kind: str, words: str = "") -> Json:
    """A simple type; "string?" may be null as well."""
    named = [kind[:-1], "null"] if kind.endswith("?") else kind
    return {"type": named, **({"description": words} if words else {})}


TEXT, COUNT = _of("string"), _of("integer")
CALL_ID = _of("string", "A call id such as p20261129-142645-0a1b2c3d.member1")

FILE = _form(
    "name",
    name=_of("string", "Its path, by which answers name it"),
    text=_of("string", "Its text"),
    image=_of("string", "Instead of text: a picture as a data URL or https address"),
)
SEAT = _object(
    "call seat alias status answer",
    call=CALL_ID,
    seat=_of("string", "member, explorer or merger"),
    alias=_of("string", "The model's name"),
    program=_of("boolean", "A program of the practice squad, not a model"),
    status=_of("string", "ok, cut, empty, error, timeout, refused, skipped or pending"),
    seconds=_of("number?"),
    answer=TEXT,
    error=_of("string?"),
    message=_of("string?"),
    cost=_of("number?", "USD; null: not known"),
)
SKIPPED = _list(_object("alias why", seat=TEXT, alias=TEXT, why=TEXT), "Who could have sat and did not")
TOTAL = _object(
    "calls known_usd unknown_calls",
    calls=COUNT,
    known_usd=_of("number?", "USD of the calls of known cost; null: none is known"),
    unknown_calls=_of("integer", "Calls whose cost is not known, and not in the sum"),
    tokens=_of("object"),
)


@dataclass(frozen=True, slots=True)
class Tool:
    """`hints` are the annotations of the protocol: what calling it changes."""

    title: str
    description: str
    takes: Json
    gives: Json
    hints: Mapping[str, bool]
    run: Run | None = None


READS = {"readOnlyHint": True, "openWorldHint": False}
WRITES = {
    "readOnlyHint": False,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
# It costs money and leaves the machine, but changes nothing of the user's.
ASKS = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True}

TOOLS: dict[str, Tool] = {
    "list_collections": Tool(
        "List the collections",
        "The panels that can be asked: each with what it is for, who sits in it, how large a prompt may be "
        "(context_window, tokens) and whether it sees pictures. Look here before the first ask.",
        _form(),
        _object(
            "collections",
            collections=_list(
                _object(
                    "name members modes",
                    name=TEXT,
                    description=TEXT,
                    tags=_list(TEXT),
                    members=_list(TEXT),
                    explorers=COUNT,
                    shape=_of("string?"),
                    reply=TEXT,
                    modes=_list(TEXT, "How you may ask it: all, merged"),
                    context_window=_of("integer?"),
                    capabilities=_list(TEXT),
                )
            ),
        ),
        READS,
        lambda arguments, call, session: telling.list_collections(arguments, call),
    ),
    ASK: Tool(
        "Ask a panel",
        "Ask every seat of a collection the same question, independently, and get all answers by name. Send "
        "the whole material along: seats see nothing else, and cannot call tools. Takes seconds to minutes, "
        "with progress; if you stop waiting the panel goes on and is recorded. Verify what it says before "
        "you act on it, name every seat when you report, and send a verdict for each answer you could check.",
        _form(
            "collection prompt",
            collection=_of("string", "A name from list_collections"),
            prompt=_of("string", "The question, complete in itself"),
            system=_of("string", "A system message for every seat"),
            merged=_of("boolean", "One answer, written by a merger from all of them, instead of each"),
            **{"with": _list(TEXT, "Models to seat besides, in explorers' chairs, by alias")},
            files=_list(FILE, "Texts and pictures to send along, each under its name"),
            quorum=_of("integer", "Answer when so many seats have; the rest finish and are recorded"),
            budget=_of("number", "USD that this question may cost"),
            deadline=_of("number", "Seconds that a seat may take"),
        ),
        _object(
            "panel collection seats to_judge",
            panel=_of("string", "The panel's id; bench://panel/ID is its resource"),
            collection=TEXT,
            shape=TEXT,
            reply=TEXT,
            answer=_of("string?", "The merged answer, where one was asked for and written"),
            seats=_list(SEAT),
            merger=SEAT,
            skipped=SKIPPED,
            note=TEXT,
            to_judge=_list(CALL_ID, "Answers that wait for your verdict"),
        ),
        ASKS,
    ),
    "verdict": Tool(
        "Judge an answer",
        "Say whether a seat's answer was useful, after you have verified it: by what turned out true, not by "
        "its style. real and false are sentences quoted from the answer. What you leave out stays as it was; "
        "the same verdict again changes nothing; withdrawn takes it back.",
        _form(
            "call",
            call=CALL_ID,
            useful=_of("boolean", "Whether it helped"),
            note=_of("string", "What it found, or got wrong, in a sentence"),
            real=_list(TEXT, "Passages of the answer that turned out true"),
            false=_list(TEXT, "Passages that turned out false"),
            best=_of("boolean", "It was the best of its panel"),
            withdrawn=_of("boolean", "Take the verdict back instead"),
        ),
        _object("call recorded", call=CALL_ID, recorded=_of("boolean", "false: nothing was new")),
        WRITES,
        lambda arguments, call, session: judging.verdict(arguments, call),
    ),
    "pending_verdicts": Tool(
        "List owed verdicts",
        "Answers of your panels that nobody has judged yet. Look before you finish a task.",
        _form(
            collection=_of("string", "Of this collection alone"),
            session=_of("string", "For hooks: your session's id; each call is then told of once"),
            active={"description": "For hooks: true where the hook made you go on already"},
        ),
        _object(
            "pending",
            pending=_list(
                _object("call alias", call=CALL_ID, alias=TEXT, collection=TEXT, task=_of("string?"), at=TEXT)
            ),
            decision=TEXT,
            reason=TEXT,
        ),
        READS,
        judging.pending,
    ),
    "why": Tool(
        "Explain a seat",
        "Of one call: which model it was, why it sat and with what chance, what became of it, what it cost "
        "and how it was judged.",
        _form("call", call=CALL_ID),
        _object(
            "call alias model_id why",
            call=CALL_ID,
            alias=TEXT,
            model_id=TEXT,
            collection=TEXT,
            seat=_of("string?"),
            how=_of("string?"),
            p=_of("number?"),
            status=_of("string?"),
            cost=_of("number?", "USD; null: not known"),
            skipped=SKIPPED,
            verdict=_of("object?"),
            why=_of("string", "In sentences"),
        ),
        READS,
        lambda arguments, call, session: telling.why(arguments, call),
    ),
    "record": Tool(
        "Read the record",
        "How often each model's answers in a collection were judged useful. A rate comes with how many it is "
        "of and the range that the true rate lies in, nineteen times in twenty: a few verdicts prove little.",
        _form(
            "collection",
            collection=TEXT,
            task=_of("string", "One shape of task alone, such as review or code"),
        ),
        _object(
            "collection models",
            collection=TEXT,
            task=_of("string?"),
            models=_list(
                _object(
                    "alias useful not_useful judged rate interval",
                    alias=TEXT,
                    useful=COUNT,
                    not_useful=COUNT,
                    judged=COUNT,
                    rate=_of("number?", "null: nothing was judged"),
                    interval=_list(_of("number")),
                    last_at=_of("string?"),
                )
            ),
        ),
        READS,
        lambda arguments, call, session: telling.record(arguments, call),
    ),
    "usage": Tool(
        "Read what was used",
        "Calls, tokens and cost since a moment. What is not known is said, and never counted as $0. With a "
        "key you see what that key used.",
        _form(
            by=_of("string", "Where there are no keys: model (usual), collection, purpose or day"),
            since=_of("string", "A span such as 12h, 7d, 4w, or a date; left out: all that is kept"),
        ),
        _object(
            "by total rows",
            by=TEXT,
            since=_of("string?"),
            total=TOTAL,
            rows=_list({**TOTAL, "properties": {**TOTAL["properties"], "name": _of("string?")}}),
        ),
        READS,
        lambda arguments, call, session: telling.used(arguments, call),
    ),
}


def listed() -> list[Json]:
    """The tools as `tools/list` tells them, always in the same order."""
    return [
        {
            "name": name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.takes,
            "outputSchema": tool.gives,
            "annotations": {"title": tool.title, **tool.hints},
        }
        for name, tool in TOOLS.items()
    ]
