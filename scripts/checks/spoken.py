"""What the product says of itself: its commands, options, routes, settings and environment variables.

The tables are read where the product keeps them, so that nothing has to be listed twice; docs.py then asks
whether each is written down.
"""

import importlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Spoken:
    """`commands` maps a command's words to its options. `problem` says why the tables could not be read."""

    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    everywhere: tuple[str, ...] = ()  # options that every command takes
    routes: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    problem: str = ""


def spoken() -> Spoken:
    """Asks cli.py, serve.py and metrics/bench/settings.py."""
    try:
        cli = importlib.import_module("cli")
        serve = importlib.import_module("serve")
        settings = importlib.import_module("metrics.bench.settings")
        command = importlib.import_module("metrics.commands.command")
        mains = importlib.import_module("metrics.commands.serve").MAINS
        commands = {each.name: _flags(each.arguments) for each in cli.TABLE}
        commands |= {main: options_in(serve.parser(main == "gateway").format_help()) for main in mains}
        return Spoken(
            commands | {"help": (), "version": ()},
            everywhere=options_in(command.GLOBAL_OPTIONS),
            routes=tuple(dict.fromkeys(route.pattern for route in serve.routes(False))),
            settings=tuple(settings.SETTINGS),
        )
    except (ImportError, AttributeError, SyntaxError, TypeError) as error:
        return Spoken(problem=f"the product's own tables cannot be read: {type(error).__name__}: {error}")


def options_in(text: str) -> tuple[str, ...]:
    """The options that a help text names, each once."""
    return tuple(dict.fromkeys(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", text)))


def _flags(arguments: Iterable[Any]) -> tuple[str, ...]:
    return tuple(flag for row in arguments for flag in row.flags if flag.startswith("-"))
