"""One panel of yesterday, asked and judged: written into a data folder before its server starts."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.browser import words

Row = dict[str, Any]

QUESTION = "What did the importer do with the empty last line?"
ANSWERS: Mapping[str, str] = {
    "kimi-k3": "It took it for a row of one empty cell, and refused the file for it. The check belongs after "
    "the split, not before.",
    "glm-5.2": words.IMPORTER["glm-5.2"],
}
USEFUL = {"kimi-k3": True, "glm-5.2": False}


def write(home: Path, now: datetime | None = None) -> str:
    """Add the panel; its id."""
    at = (now or datetime.now(UTC)).replace(hour=15, minute=12, second=40, microsecond=0) - timedelta(days=1)
    panel, stamp = f"p{at:%Y%m%d-%H%M%S}-0ddba11e", f"{at:%Y-%m-%dT%H:%M:%S}.000Z"
    seats = [
        _seat(f"{panel}.member{number}", alias, said)
        for number, (alias, said) in enumerate(ANSWERS.items(), start=1)
    ]
    month, day = home / "panels" / f"{at:%Y-%m}.jsonl", home / "bodies" / f"{at:%Y-%m-%d}.jsonl"
    _add(month, {"panel": panel, "at": stamp, **_asked(), "seats": seats})
    body = {"messages": [{"role": "user", "content": QUESTION}], "options": {}, "reasoning": {}}
    answers = {seat["call"]: ANSWERS[seat["alias"]] for seat in seats}
    _add(day, {"panel": panel, "at": stamp, "body": body | {"answers": answers}})
    for seat in seats:
        subject = {"collection": "review", "shape": "general", "model": seat["alias"], "seat": "member"}
        said = {"call": seat["call"], **subject, "model_id": seat["model_id"], "at": stamp}
        offload = {"panel": panel, "how": "member", "p": None, "status": "ok", "error": None, "key": "local"}
        _add(home / "offloads" / f"{at:%Y-%m}.jsonl", {**said, **offload, "task": QUESTION})
        verdict = {"useful": USEFUL[seat["alias"]], "answered": True, "was": None, "by": "local"}
        _add(home / "verdicts.jsonl", {"id": f"v.{seat['call']}", **said, **verdict})
    return panel


def _asked() -> Row:
    return {
        "collection": "review",
        "model": "bench/review",
        "format": "bench",
        "key": "local",
        "reply": "all",
        "shape": "general",
        "shape_by": "default",
        "task": QUESTION,
        "skipped": [],
        "decision": None,
        "note": None,
        "late": False,
        "ignored": [],
    }


def _seat(call: str, alias: str, said: str) -> Row:
    tokens = {"in": 412, "out": len(said) // 4, "reasoning": None, "estimated": False}
    return {
        "call": call,
        "seat": "member",
        "alias": alias,
        "status": "ok",
        "seconds": 6.4,
        "seconds_to_first": 0.8,
        "error": None,
        "message": None,
        "finish": "stop",
        "tokens": tokens,
        "cost": 0.0031,
        "served_by": None,
        "model_id": f"hub:{alias}",
        "how": "member",
        "p": None,
        "attempts": 1,
        "chars": len(said),
    }


def _add(path: Path, row: Row) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="ascii") as file:
        if not file.tell():
            file.write('{"$schema_version":1}\n')
        file.write(json.dumps(row, separators=(",", ":")) + "\n")
