import json
import unittest
from unittest import mock

from metrics.bench import listing
from metrics.formats import codex_models
from metrics.web.table import Call


class ListTest(unittest.TestCase):
    def test_codex_reads_its_list_beside_openais(self):
        entry = {
            "id": "bench/core:route",
            "mode": "route",
            "collection": "core",
            "description": "d",
            "together": {"context_window": 8000, "capabilities": ["completion", "vision"]},
        }
        with mock.patch.object(
            listing, "entries", lambda: [entry, {**entry, "id": "bench/core", "mode": "all"}]
        ):
            told = json.loads(codex_models.models(Call("GET", "/v1/models?client_version=0.171.0")).body)
        self.assertEqual([model["id"] for model in told["data"]], ["bench/core:route", "bench/core"])
        first, second = told["models"]
        self.assertEqual(
            (first["slug"], first["visibility"], second["visibility"]), ("bench/core:route", "list", "hide")
        )
        self.assertEqual((first["context_window"], first["input_modalities"]), (8000, ["text", "image"]))
        for name in (
            *("display_name", "supported_reasoning_levels", "shell_type", "supported_in_api", "priority"),
            *("base_instructions", "supports_reasoning_summaries", "support_verbosity", "truncation_policy"),
            *("supports_parallel_tool_calls", "experimental_supported_tools"),
        ):
            self.assertIn(name, first)
        self.assertIn("coding agent", first["base_instructions"])
