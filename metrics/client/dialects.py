"""Which module speaks which API of providers: a target's `api` is a key here.

A dialect has Conversation, compose(target, conversation, options, stream=) and read(arrival, target): what
chat.py has.
"""

from collections.abc import Mapping
from types import ModuleType

from metrics.client import chat

DIALECTS: Mapping[str, ModuleType] = {"chat": chat}
