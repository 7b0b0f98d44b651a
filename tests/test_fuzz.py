"""Every route under bodies as careless and hostile callers send them: a documented status and a well-formed
body in the caller's own format, never a 500, never an empty reply. Seeded; FUZZ sets how many bodies a route
gets."""

import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path

import serve
from metrics.bench import collections, endpoints, roster
from metrics.formats.framing import DONE
from metrics.play import panel
from metrics.play.practice import squad
from metrics.records import Problem
from metrics.store import home
from metrics.web.table import Call, Table
from tests.effort import effort
from tests.formats import mutants

COUNT = int(os.environ.get("FUZZ") or effort(60, 300))
STATUSES = {200, 400, 404, 405, 409, 413, 415, 422, 429, 502, 503, 504, 507, 508}

PNG = "data:image/png;base64,iVBORw0KGgo="
ASK = "if x == None: pass"
WISHES = {"with": ["practice-counter"], "bench": {"reply": "all", "deadline": 20, "quorum": 1}}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
FUNCTION = {
    "type": "function",
    "function": {"name": "look", "description": "d", "parameters": SCHEMA, "strict": True},
}

CHAT = {
    "model": "core",
    "messages": [
        {"role": "system", "content": "s"},
        {
            "role": "user",
            "content": [{"type": "text", "text": ASK}, {"type": "image_url", "image_url": {"url": PNG}}],
        },
        {"role": "assistant", "content": "a", "tool_calls": []},
        {"role": "user", "content": ASK},
    ],
    "temperature": 0.5,
    "top_p": 0.9,
    "max_completion_tokens": 99,
    "stop": ["x"],
    "seed": 1,
    "n": 1,
    "tools": [],
    "response_format": {"type": "text"},
    "stream": False,
    "stream_options": {"include_usage": True},
    **WISHES,
}
ROUTE = {
    **CHAT,
    "model": "agents:route",
    "tools": [FUNCTION],
    "tool_choice": "auto",
    "messages": [
        {"role": "user", "content": ASK},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "it says 42"},
    ],
    "bench": {"reply": "route"},
}
MESSAGES = {
    "model": "core",
    "max_tokens": 50,
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": ASK}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "h", "signature": "s"},
                {"type": "text", "text": "a"},
            ],
        },
        {"role": "user", "content": ASK},
    ],
    "stop_sequences": ["x"],
    "temperature": 0.5,
    "top_k": 3,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "metadata": {"user_id": "u"},
    "tool_choice": {"type": "auto"},
    "tools": [],
    "stream": False,
    "output_config": {"effort": "high"},
    **WISHES,
}
RESPONSES = {
    "model": "core",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASK}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {"role": "user", "content": ASK},
    ],
    "instructions": "i",
    "max_output_tokens": 50,
    "tools": [],
    "tool_choice": "auto",
    "text": {"format": {"type": "text"}, "verbosity": "low"},
    "reasoning": {"effort": "low"},
    "include": [],
    "store": False,
    "metadata": {"a": "b"},
    "stream": False,
    **WISHES,
}
OLLAMA = {
    "model": "core",
    "messages": [{"role": "user", "content": ASK, "images": []}],
    "options": {"temperature": 0.5, "num_predict": 50, "stop": ["x"], "seed": 1, "top_k": 2},
    "format": "json",
    "think": True,
    "keep_alive": "5m",
    "stream": False,
    "tools": [],
    **WISHES,
}
GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": ASK}]},
        {"role": "model", "parts": [{"text": "a"}]},
        {"parts": [{"text": ASK}]},
    ],
    "systemInstruction": {"parts": [{"text": "s"}]},
    "generationConfig": {
        "temperature": 0.5,
        "maxOutputTokens": 50,
        "stopSequences": ["x"],
        "seed": 1,
        "topK": 2,
    },
    "safetySettings": [],
    "tools": [],
    "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    **WISHES,
}
CALL = "p20261129-142645-0a1b2c3d.member1"

# method and path, a body that is fine, the format whose errors its caller reads
ROUTES = [
    ("POST /v1/chat/completions", CHAT, "openai"),
    ("POST /v1/chat/completions", ROUTE, "openai"),
    ("POST /v1/responses", RESPONSES, "openai"),
    ("POST /v1/responses", {**RESPONSES, "model": "agents:route", "bench": None}, "openai"),
    ("POST /v1/responses/input_tokens", RESPONSES, "openai"),
    (
        "POST /v1/completions",
        {"model": "core", "prompt": ASK, "max_tokens": 5, "stream": False, **WISHES},
        "openai",
    ),
    ("POST /v1/messages", MESSAGES, "anthropic"),
    ("POST /v1/messages", {**MESSAGES, "model": "agents:route", "bench": None}, "anthropic"),
    ("POST /v1/messages/count_tokens", MESSAGES, "anthropic"),
    ("POST /api/chat", OLLAMA, "ollama"),
    (
        "POST /api/generate",
        {"model": "core", "prompt": ASK, "system": "s", "stream": False, **WISHES},
        "ollama",
    ),
    ("POST /api/show", {"model": "core", "verbose": True}, "ollama"),
    ("POST /v1beta/models/core:generateContent", GEMINI, "gemini"),
    ("POST /v1beta/models/core:streamGenerateContent", GEMINI, "gemini"),
    ("POST /v1beta/models/agents:route:generateContent", {**GEMINI, "bench": None}, "gemini"),
    ("POST /v1beta/models/core:countTokens", GEMINI, "gemini"),
    ("POST /bench/ask", CHAT, "openai"),
    (
        "POST /bench/verdict",
        {"call": CALL, "useful": True, "note": "n", "real": ["a"], "false": ["b"], "best": True},
        "openai",
    ),
    ("POST /bench/pending", {"calls": [CALL]}, "openai"),
    ("POST /api/seats", CHAT, "any"),
    (
        "POST /api/verdict",
        {"call": CALL, "useful": None, "claims": [{"quote": "a", "start": 0, "end": 1, "decision": "real"}]},
        "any",
    ),
    (
        "POST /api/collection",
        {"name": "fuzzed", "members": ["practice-lint"], "explorers": 0, "tags": ["a"], "deadline": 5},
        "any",
    ),
    (
        "POST /api/model/add",
        {"alias": "ff", "endpoint": "dead", "served": "x", "context": 5, "price": {"input": 1}},
        "any",
    ),
    ("POST /api/model", {"alias": "practice-lint", "role": "code", "rename": "xx"}, "any"),
    ("POST /api/endpoint", {"name": "ee", "base": "http://127.0.0.1:9/v1", "key": "k", "test": False}, "any"),
    ("POST /api/endpoint/default", {"name": "dead"}, "any"),
    ("POST /api/remove", {"alias": "ff", "reason": "r"}, "any"),
    ("POST /api/settings", {"max_calls": 5, "deadline": 300}, "any"),
]


def well_formed(kind, status, answer):
    """Whether an error's object is what the format's clients read."""
    match kind:
        case "openai":
            return isinstance(answer["error"]["message"], str) and "type" in answer["error"]
        case "anthropic":
            return answer["type"] == "error" and isinstance(answer["error"]["message"], str)
        case "ollama":
            return isinstance(answer["error"], str)
        case "gemini":
            return answer["error"]["code"] == status and isinstance(answer["error"]["status"], str)
    return "error" in answer


class SlowFuzzTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        home.use(Path(cls.enterClassContext(tempfile.TemporaryDirectory())))
        cls.addClassCleanup(home.close)
        practice = squad.start()
        cls.addClassCleanup(practice.stop)
        cls.addClassCleanup(roster.clear_builtin)
        seats = [roster.Model(**row) for row in practice.models]
        roster.seat_builtin(endpoints.Endpoint(squad.ENDPOINT, practice.base_url, builtin=True), seats)
        collections.save("core", {"members": ["practice-terse"], "explorers": 0}, "test")
        collections.save("agents", {"members": ["practice-agent"], "explorers": 0, "reply": "route"}, "test")
        endpoints.save(endpoints.Endpoint("dead", "http://127.0.0.1:9/v1"), "test")
        cls.table = Table(serve.routes(gateway_only=False))
        cls.addClassCleanup(panel.wait_idle, 20)

    def answer(self, method, path, body):
        """(status, the whole body) as the server would send them."""
        route, parts = self.table.find(method, path)
        call = Call(method, path, {"content-type": "application/json"}, body, parts=parts, request_id="r1")
        try:
            response = route.handler(call)
        except Problem as problem:
            response = route.error(problem, call)
        said = response.body
        return response.status, said if isinstance(said, bytes) else b"".join(said)

    def test_every_route(self):
        for seed, (where, good, kind) in enumerate(ROUTES):
            method, path = where.split()
            for number, body in enumerate(mutants.bodies(good, seed, COUNT)):
                with (
                    self.subTest(where, seed=seed, number=number),
                    contextlib.redirect_stderr(io.StringIO()) as log,
                ):
                    status, said = self.answer(method, path, body)
                    shown = f"{body[:300]!r} -> {status} {said[:300]!r} {log.getvalue()[-600:]}"
                    self.assertIn(status, STATUSES, shown)
                    self.assertTrue(said, shown)
                    self.assertEqual(log.getvalue(), "", shown)
                    if status >= 400:
                        self.assertTrue(well_formed(kind, status, json.loads(said)), shown)
                    else:
                        self.check_stream_or_object(said, shown)

    def check_stream_or_object(self, said, shown):
        """Every line of JSON in a reply is JSON."""
        if said.startswith(b"[") or (said.startswith(b"{") and b"\n{" not in said):
            json.loads(said)
            return
        for line in said.split(b"\n"):
            data = line.removeprefix(b"data: ")
            if data.startswith(b"{") and line != DONE.strip():
                json.loads(data)


if __name__ == "__main__":
    unittest.main()
