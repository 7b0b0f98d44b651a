"""A panel as its events tell it: who sits, who is done, what each said.

One object, fed event by event; the progress on stderr and the sections on stdout both ask it.
"""

from dataclasses import dataclass, field
from typing import Any

from metrics.commands.tables import UNKNOWN, money, seconds

ANSWERED = ("ok", "cut")
PENDING = "pending"  # its answer comes after the reply, for the record
COLUMNS = ("=call", "seat", "alias", "status", ">seconds", ">tokens", ">cost")
DROP = (">tokens", ">cost", "seat", ">seconds", "status", "alias")  # where a terminal is narrow


@dataclass
class Chair:
    """One seat: `who` as panel.started listed it, `done` as seat.done (or merge.done) told it."""

    who: dict[str, Any]
    written: int = 0
    done: dict[str, Any] | None = None

    @property
    def alias(self) -> str:
        return str(self.who.get("alias") or self.who.get("call"))

    @property
    def status(self) -> str:
        return str((self.done or {}).get("status") or PENDING)

    def heading(self) -> str:
        """`## kimi (member, 12.3 s)`: what it is and how long it took; a status when it is not a plain
        answer.
        """
        done = self.done or {}
        program = ["practice program"] if self.who.get("builtin") else []
        trouble = [] if self.status == "ok" else [self.status]
        facts = [
            str(self.who.get("seat") or "member"),
            *program,
            *trouble,
            f"{seconds(done.get('seconds'))} s",
        ]
        return f"## {self.alias} ({', '.join(facts)})"

    def section(self) -> str:
        done = self.done or {}
        said = str(done.get("answer") or "").rstrip()
        if self.status != "ok":
            why = done.get("message") or done.get("error") or "no answer"
            said = f"{said}\n\n_{self.status}: {why}_".lstrip()
        return f"{self.heading()}\n\n{said}\n\n"

    def row(self) -> tuple[str, ...]:
        done = self.done or {}
        return (
            str(self.who.get("call")),
            str(self.who.get("seat") or ""),
            self.alias,
            self.status,
            seconds(done.get("seconds")),
            tokens(done.get("tokens") or {}),
            money(done.get("cost")),
        )


@dataclass
class Seats:
    """The chairs by call id, in the order they were listed, and how the panel ended."""

    chairs: dict[str, Chair] = field(default_factory=dict)
    panel: str = ""
    reply: str = "all"
    skipped: list[dict[str, Any]] = field(default_factory=list)
    ended: dict[str, Any] | None = None
    failed: dict[str, Any] | None = None

    def hear(self, event: dict[str, Any]) -> Chair | None:
        """Takes one event in; gives the chair it is about, if any."""
        match event.get("event"):
            case "panel.started":
                self.panel, self.reply = str(event.get("panel")), str(event.get("reply") or "all")
                self.chairs = {str(who["call"]): Chair(who) for who in event.get("seats") or ()}
                self.skipped = list(event.get("skipped") or ())
            case "seat.delta" | "seat.reasoning" | "merge.delta":
                chair = self.chair(event)
                chair.written += len(str(event.get("text") or ""))
                return chair
            case "seat.done" | "merge.done":
                chair = self.chair(event)
                chair.done = event
                return chair
            case "panel.done":
                self.ended = event
            case "failed":
                self.failed = event
        return None

    def chair(self, event: dict[str, Any]) -> Chair:
        """The chair an event is about; the merger's is only known from its own events."""
        call = str(event.get("call"))
        if call not in self.chairs:
            merger = str(event.get("event")).startswith("merge")
            who = {
                "call": call,
                "seat": event.get("seat") or ("merger" if merger else "member"),
                "alias": event.get("alias"),
            }
            self.chairs[call] = Chair(who)
        chair = self.chairs[call]
        chair.who["alias"] = chair.who.get("alias") or event.get("alias")
        return chair

    @property
    def waiting(self) -> list[Chair]:
        return [chair for chair in self.chairs.values() if chair.done is None]

    @property
    def finished(self) -> list[Chair]:
        return [chair for chair in self.chairs.values() if chair.done is not None]

    @property
    def answered(self) -> list[Chair]:
        return [chair for chair in self.finished if chair.status in ANSWERED]


def tokens(said: dict[str, Any]) -> str:
    """`120 in, 45 out`; `~` marks figures that were estimated."""
    if said.get("in") is None and said.get("out") is None:
        return UNKNOWN
    mark = "~" if said.get("estimated") else ""
    return ", ".join(f"{mark}{said[way]:,} {way}" for way in ("in", "out") if said.get(way) is not None)
