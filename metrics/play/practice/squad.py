"""Who the practice players are: one table, and how they take their seats.

They are programs, not models, and say so: in the listing, and as the last line of every answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from metrics.play.practice import agent, pace, reviewers, server
from metrics.play.practice.ask import Ask, Said
from metrics.play.practice.parsing import LIMIT
from metrics.records import Price

ENDPOINT = "practice"


@dataclass(frozen=True, slots=True)
class Player:
    """A program with a seat. `does` completes "NAME is a program, not a model: it ..."; `ad_hoc` ones sit
    only when invited."""

    name: str
    does: str
    play: Callable[[Ask], Said]
    role: str = "code"
    ad_hoc: bool = False
    tools: bool = False

    @property
    def honesty(self) -> str:
        return f"{self.name} is a program, not a model: it {self.does}."

    def answer(self, ask: Ask) -> Said:
        """What it says, with the line that says who speaks; calls of tools carry no words."""
        said = self.play(ask)
        return said if said.calls else replace(said, text=f"{said.text}\n\n*{self.honesty}*")

    @property
    def row(self) -> dict[str, Any]:
        """The player as the roster keeps it: arguments of `roster.Model`. It costs nothing, and that is
        known."""
        return {
            "alias": self.name,
            "endpoint": ENDPOINT,
            "served": self.name,
            "role": self.role,
            "tools": self.tools,
            "vision": False,
            "reasoning": False,
            "context": LIMIT // 4,
            "max_output": 16_384,
            "price": Price(0.0, 0.0, 0.0, 0.0),
            "ad_hoc": self.ad_hoc,
            "builtin": True,
            "description": self.honesty,
        }


SQUAD = (
    Player("practice-lint", "parses Python with ast and reports defects with their lines", reviewers.lint),
    Player("practice-paranoid", "reports every suspicious line, false alarms included", reviewers.suspicious),
    Player("practice-terse", "names the single most severe defect that practice-lint finds", reviewers.terse),
    Player(
        "practice-counter", "counts lines, functions and complexity, and has no opinions", reviewers.count
    ),
    Player(
        "practice-agent",
        "calls the tools it is given in a fixed order and quotes what they say",
        agent.play,
        role="general",
        ad_hoc=True,
        tools=True,
    ),
    Player("practice-slow", "says the same words, slowly", pace.slow, role="general", ad_hoc=True),
    Player(
        "practice-flaky", "refuses every other call, then answers", pace.Flaky(), role="general", ad_hoc=True
    ),
)
PLAYERS = tuple(player.row for player in SQUAD)


@dataclass(frozen=True, slots=True)
class Squad:
    """The squad on the bench: where it answers, the rows of its players, and how to send it home."""

    base_url: str
    models: tuple[dict[str, Any], ...]
    stop: Callable[[], None]


def start(log: Callable[[str], None] = lambda line: None) -> Squad:
    """Start the squad's server on a free loopback port; `log` gets the trace of a player that crashes."""
    running = server.start({player.name: player for player in SQUAD}, log)
    return Squad(running.base_url, PLAYERS, running.stop)
