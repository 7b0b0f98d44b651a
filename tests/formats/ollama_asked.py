"""What Ollama's callers send, for its tests: `chat` and `generate` parse a body without a bench."""

import json

from metrics.formats import ollama
from metrics.web.table import Call
from tests.formats.gemini_asked import PICTURE, PNG, resolved
from tests.formats.naming import naming

HELLO = [{"role": "user", "content": "hello"}]
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
CALLS = [{"function": {"name": "look", "arguments": {"a": 1}}}]


def chat(**fields):
    return asked("/api/chat", {"model": "bench/core:route", "messages": HELLO, **fields})


def generate(**fields):
    return asked("/api/generate", {"model": "bench/core:route", "prompt": "hello", **fields})


def asked(path, body, function=ollama.parse):
    with naming(resolved):
        return function(Call("POST", path, {}, json.dumps(body).encode()))


__all__ = ["CALLS", "HELLO", "PICTURE", "PNG", "TOOLS", "asked", "chat", "generate", "resolved"]
