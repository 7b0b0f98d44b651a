"""The keys of endpoints: credentials.json, or the environment, which wins.

A key leaves this module only towards its own endpoint; whoever lists endpoints gets `source` and `hint`.
"""

import os
from collections.abc import Mapping
from typing import Any

from metrics.bench import changes, fields
from metrics.records import Problem
from metrics.store.files import JsonFile

FILE = JsonFile("credentials.json")


def key(endpoint: str, env: Mapping[str, str] = os.environ) -> str | None:
    """The key to send there, or None."""
    saved = env.get(variable(endpoint)) or FILE.read().get(endpoint)
    return saved if isinstance(saved, str) and saved else None


def variable(endpoint: str) -> str:
    """The environment variable that overrides the stored key."""
    return "BENCHWARMERS_KEY_" + endpoint.upper().replace("-", "_")


def source(endpoint: str, env: Mapping[str, str] = os.environ) -> str | None:
    """Where the key comes from: "env", "file" or None."""
    if env.get(variable(endpoint)):
        return "env"
    return "file" if key(endpoint, env) else None


def stored(endpoint: str) -> bool:
    """Whether a key is in the file, in force or not."""
    return bool(FILE.read().get(endpoint))


def hint(endpoint: str, env: Mapping[str, str] = os.environ) -> str | None:
    """The last 4 characters; None for a key too short to show any."""
    saved = key(endpoint, env)
    return saved[-4:] if saved and len(saved) >= 8 else None


def secret(field: str, value: Any) -> str:
    """A key that an HTTP header can carry; the message never repeats it."""
    if not isinstance(value, str):
        raise fields.wrong(field, "a text", None if value is None else {})
    kept = value.strip()
    if len(kept) > 8192 or any(not 33 <= ord(char) <= 126 for char in kept):
        raise Problem(
            400, f'"{field}" must be one word of printable ASCII; was more than the key copied?', param=field
        )
    return kept


def save(endpoint: str, value: str, by: str = "local") -> None:
    """Keep the key of `endpoint`; an empty one removes it."""
    kept = secret("key", value)
    with FILE.edit() as saved:
        before = saved.pop(endpoint, None)
        if kept:
            saved[endpoint] = kept
    if before != (kept or None):
        word = "replaced" if before and kept else "set" if kept else None
        changes.note(by, f"endpoint {endpoint}", "key", "set" if before else None, word)


def remove(endpoint: str, by: str = "local") -> None:
    save(endpoint, "", by)
