"""Conversations for tests, and the example file that README shows."""

from pathlib import Path
from typing import Any

from metrics.play.practice.ask import Ask, Tool

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "pricing.py"


def example() -> str:
    """The example as `bench ask -f examples/pricing.py` sends it."""
    return f"Review this.\n\nFile: pricing.py\n```python\n{EXAMPLE.read_text(encoding='utf-8')}```"


def ask(*said: Any, **options: Any) -> Ask:
    """An ask of messages, or of texts that a user said."""
    messages = [{"role": "user", "content": one} if isinstance(one, str) else one for one in said]
    return Ask(messages, **options)


def tool(name: str, *required: str, **properties: Any) -> Tool:
    """A tool whose arguments are text unless a schema is given."""
    schemas = {one: {"type": "string"} for one in required} | properties
    return Tool(name, "", {"type": "object", "properties": schemas, "required": list(required)})
