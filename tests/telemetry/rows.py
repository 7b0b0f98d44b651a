"""Ledger rows, and news of them, for tests."""

from typing import Any

from metrics.bus import News
from metrics.limits import ledger

AT = "2026-11-29T14:22:20.000Z"
EPOCH = 1_795_962_140.0


def row(**more: Any) -> dict[str, Any]:
    usual = {
        "at": AT,
        "purpose": "panel",
        "model": "gpt",
        "model_id": "openai:gpt-5",
        "endpoint": "openai",
        "served": "gpt-5",
        "status": "ok",
        "attempts": 1,
        "seconds": 2.0,
        "uncached_in": 10,
        "cache_read": 5,
        "out": 7,
        "finish": "stop",
        "cost_usd": 0.25,
        "cost_status": "priced",
        "call": "p1.member1",
        "panel": "p1",
        "collection": "core",
        "key": "local",
    }
    return {**dict.fromkeys(ledger.FIELDS), **usual, **more}


def news(topic: str, facts: dict[str, Any], at: float = EPOCH + 1) -> News:
    return News("b-1", 1, topic, at, facts)
