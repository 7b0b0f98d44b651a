"""Weeks that a bench has behind it: calls in the ledger and what was said of their answers, written into a
data folder before its server starts. The same weeks every time, ending yesterday."""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Row = dict[str, Any]

DAYS = 62
# model -> USD a call (None: nobody knows), calls on a working day, useful share, findings in an answer
MODELS: dict[str, tuple[float | None, int, float, float]] = {
    "kimi-k3": (0.011, 14, 0.83, 0.9),
    "glm-5.2": (0.008, 12, 0.74, 0.7),
    "qwen3.5-coder": (0.0014, 9, 0.64, 0.5),
    "nemotron-ultra": (0.0023, 3, 0.57, 0.4),
    "gpt-oss-120b": (0.0, 5, 0.6, 0.3),
    "mistral-medium-3.5": (None, 2, 0.7, 0.5),
}
PURPOSES = (("panel", 10), ("route", 9), ("merge", 1), ("probe", 1), ("shadow", 2))
JUDGED = 0.12  # of a panel's answers
KEYS = ("local", "notebook", "ci")


def write(home: Path, now: datetime | None = None) -> None:
    """Fill an empty data folder's ledger, verdicts and claims."""
    draw = random.Random(13)
    today = (now or datetime.now(UTC)).replace(hour=0, minute=0, second=0, microsecond=0)
    ledger: dict[str, list[Row]] = {}
    verdicts: list[Row] = []
    claims: list[Row] = []
    for back in range(DAYS, 0, -1):
        day = today - timedelta(days=back)
        for row in _day(draw, day):
            ledger.setdefault(row["at"][:7], []).append(row)
            if row["purpose"] == "panel" and row["status"] == "ok" and draw.random() < JUDGED:
                _judge(draw, row, verdicts, claims)
    for month, rows in ledger.items():
        _write(home / "ledger" / f"{month}.jsonl", rows)
    _write(home / "verdicts.jsonl", verdicts)
    _write(home / "claims.jsonl", claims)


def _day(draw: random.Random, day: datetime) -> list[Row]:
    share = 1.0 if day.weekday() < 5 else 0.25
    rows = [
        _call(draw, day, model, number)
        for model, (_, usual, _, _) in MODELS.items()
        for number in range(round(usual * share * draw.uniform(0.6, 1.3)))
    ]
    return sorted(rows, key=lambda row: str(row["at"]))


def _call(draw: random.Random, day: datetime, model: str, number: int) -> Row:
    usd, _, _, _ = MODELS[model]
    at = day + timedelta(seconds=draw.randrange(7 * 3600, 22 * 3600))
    purpose = draw.choices([name for name, _ in PURPOSES], [weight for _, weight in PURPOSES])[0]
    failed = draw.random() < 0.03
    cost = None if failed or usd is None else round(usd * draw.uniform(0.4, 2.0), 6)
    status = "none" if failed else "unknown" if usd is None else "computed"
    call = f"p{at:%Y%m%d-%H%M%S}-{draw.getrandbits(32):08x}.member{number % 4 + 1}"
    tokens = {
        "uncached_in": draw.randrange(400, 6000),
        "cache_read": draw.choice((0, 4096, 9000)),
        "cache_write": 0,
    }
    return {
        "at": _stamp(at),
        "purpose": purpose,
        "model": model,
        "model_id": f"hub:{model}",
        "endpoint": "hub",
        "connection": "hub",
        "served": model,
        "status": "error" if failed else "ok",
        "attempts": 1,
        "seconds": round(draw.lognormvariate(2.2, 0.6), 3),
        "first_token_s": None if failed else round(draw.lognormvariate(-0.4, 0.7), 3),
        **(dict.fromkeys(tokens) if failed else tokens),
        "out": None if failed else draw.randrange(150, 2400),
        "cost_usd": cost,
        "cost_status": status,
        "call": call,
        "panel": call.partition(".")[0],
        "collection": draw.choice(("review", "review", "code")),
        "key": draw.choice(KEYS),
        "error": "upstream" if failed else None,
    }


def _judge(draw: random.Random, row: Row, verdicts: list[Row], claims: list[Row]) -> None:
    _, _, useful, findings = MODELS[row["model"]]
    call, said = row["call"], {"model_id": row["model_id"], "by": "local", "at": row["at"]}
    place = {"collection": row["collection"], "shape": "general", "model": row["model"], "seat": "member"}
    word = {"useful": draw.random() < useful, "answered": True, "was": None, "first": True}
    verdicts.append({"id": f"v.{call}", "call": call, **place, **word, **said})
    for number in range(sum(draw.random() < findings / 2 for _ in range(2))):
        quote = {
            "quote": f"finding {number + 1}",
            "start": None,
            "end": None,
            "decision": "real",
            "was": None,
        }
        claims.append({"id": f"c{draw.getrandbits(64):016x}", "call": call, **quote, **said})


def _stamp(at: datetime) -> str:
    return f"{at.isoformat(timespec='milliseconds')[:23]}Z"


def _write(path: Path, rows: list[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ['{"$schema_version":1}', *(json.dumps(row, separators=(",", ":")) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
