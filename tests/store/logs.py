"""A log in a data folder of its own, for tests."""

from pathlib import Path
from typing import Any

from metrics.store import home, lines
from metrics.store.log import JsonLog
from tests.store.case import HomeCase

AT = "2026-11-29T14:22:20.123Z"


def count(state: dict[str, Any], row: dict[str, Any]) -> None:
    state["rows"] = state.get("rows", 0) + 1
    state["sum"] = state.get("sum", 0) + row["n"]


def row(number: int, at: str = AT, **more: Any) -> dict[str, Any]:
    return {"id": f"k{number}", "at": at, "n": number, **more}


class LogCase(HomeCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.made()
        self.file = self.home / "rows" / "2026-11.jsonl"

    def made(self) -> JsonLog:
        return JsonLog("rows", key="id", partition="month", fold=count)

    def rows(self, path: Path | None = None) -> list[dict[str, Any]]:
        found = map(lines.decode, (path or self.file).read_bytes().splitlines())
        return [each for each in found if each]

    def again(self) -> JsonLog:
        """The log as the next start finds it."""
        home.close()
        self.log = self.made()
        return self.log

    def settle(self) -> None:
        """Wait for background work."""
        mender = self.log.open()._mender
        if mender:
            mender.join(30)
        self.assertTrue(self.log.ready)
