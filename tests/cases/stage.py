"""One run of a case: members and a collection of its own on a server that all runs share, the request, and
what is wrong with what came of it."""

import contextlib
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import Any

from tests.cases import judge, natives, turns, wire
from tests.cases.case import Run, filled
from tests.cases.judge import Sent
from tests.cases.member import Member, tool_names
from tests.provider import Provider, Received
from tests.running import Running

TRIES = 6
LEDGER = 5.0  # seconds until a row must be on disk
FACTS = {"tools": True, "vision": True, "context": 200_000, "max_output": 8192}


class Stage:
    """The server under test and the provider of all members."""

    def __init__(self, bench: Running, provider: Provider) -> None:
        self.bench, self.provider = bench, provider

    def play(self, run: Run) -> list[str]:
        """The sentences of what is wrong; none when all is as it must be. A case about who is asked after m1
        says nothing where m1 was not the first: now and then another one is."""
        if run.case.get("require_keys"):
            with Running(BENCHWARMERS_REQUIRE_KEYS="1") as strict:
                return Stage(strict, self.provider)._play(run)[0]
        for _ in range(TRIES):
            wrong, asked = self._play(run)
            if not asked or asked[0] == "m1" or "m1" not in run.case["expect"].get("upstream_by_member", ()):
                return wrong
        return [f"m1 was not asked first in {TRIES} tries"]

    def _play(self, run: Run) -> tuple[list[str], list[str]]:
        """What is wrong, and the members that were asked, in order."""
        tag = f"c{run.case['id']}-{secrets.token_hex(3)}"
        names = {
            "PORT": self.bench.port,
            "UP": self.provider.port,
            "HOME": self.bench.home,
            "ROUTE": f"bench/{tag}:route",
            "UPSTREAM_KEY": f"sk-up-{secrets.token_hex(12)}",
        }
        with self._sink(run.case, names) as sink:
            case = filled(run.case, names)
            for name, text in case.get("place", {}).items():
                (self.bench.home / name).write_text(text, encoding="utf-8")
            calls: list[tuple[str, Received]] = []
            aliases = self._seat(case, tag, names, calls)
            wrong = self._ask(case, Sent(calls))
            wrong += self._recorded(case, aliases)
            sunk = [str(seen.headers) for seen in sink.requests] if sink else []
            if sink and sink.connections > case["expect"].get("sink_connections", sink.connections):
                wrong.append("somebody looked at what is only an address")
            for text in case["expect"].get("sink_headers_not_contain", ()):
                wrong += ["the key was sent on"] if any(text in headers for headers in sunk) else []
        return wrong, [name for name, _ in calls]

    @contextlib.contextmanager
    def _sink(self, case: Mapping[str, Any], names: dict[str, object]) -> Iterator[Provider | None]:
        if "$SINK" not in json.dumps(case):
            yield None
            return
        with Provider() as sink:
            names["SINK"] = sink.port
            yield sink

    def _seat(
        self,
        case: Mapping[str, Any],
        tag: str,
        names: Mapping[str, object],
        calls: list[tuple[str, Received]],
    ) -> list[str]:
        """Put the members on the bench; their aliases."""
        upstream = case.get("upstream")
        if not upstream:
            return []
        common = {key: value for key, value in upstream.items() if key != "members"}
        tools = tool_names(case["request"])
        aliases: list[str] = []
        for spec in upstream.get("members", [{"name": "m1"}]):
            alias, spec = f"{tag}-{spec['name']}", {**common, **spec}
            api = spec.get("api", "chat")
            member = Member(spec, tools, calls)
            for name in _scripts(api, alias):
                self.provider.script(name, member)
            base = case.get("base", f"http://127.0.0.1:{self.provider.port}{natives.BASES.get(api, '/v1')}")
            facts = {"base": base, "api": api, "key": names["UPSTREAM_KEY"]}
            self.bench.save("/api/endpoint", name=alias, test=False, **facts)
            told = FACTS | spec.get("facts", {})
            self.bench.save("/api/model/add", alias=alias, endpoint=alias, served=alias, **told)
            aliases.append(alias)
        saved = {"explorers": 0, "reply": "route", **case.get("collection", {})}
        self.bench.save("/api/collection", name=tag, members=aliases, **saved)
        return aliases

    def _ask(self, case: Mapping[str, Any], sent: Sent) -> list[str]:
        request, port = case["request"], self.bench.port
        if "raw" in request:
            wanted = case["expect"].get("replies") or [{}]
            methods = [want.get("method", "POST") for want in wanted]
            heard = wire.spoken(port, request["raw"], methods, wanted[-1].get("closed", False))
            return judge.heard(heard, case, sent)
        got = wire.exchange(port, request)
        for turn in range(1, case["expect"].get("turns", 1)):
            if got is None or got.status != 200:
                return [f"turn {turn} was not answered: {got and got.text[:200]}"]
            request = {**request, "body": turns.following(case["format"], request["body"], got)}
            got = wire.exchange(port, request)
        wrong = judge.reply(got, request, case, sent)
        if "second" in case["expect"]:
            again = {**case, "expect": case["expect"]["second"]}
            found = judge.reply(wire.exchange(port, request), request, again, sent)
            wrong += [f"the second time: {sentence}" for sentence in found]
        return wrong

    def _recorded(self, case: Mapping[str, Any], aliases: list[str]) -> list[str]:
        wanted = case["expect"].get("ledger")
        if not wanted:
            return []
        until = time.monotonic() + LEDGER
        while not (rows := self._rows(aliases)) and time.monotonic() < until:
            time.sleep(0.02)
        return judge.ledger(rows, wanted)

    def _rows(self, aliases: list[str]) -> list[dict[str, Any]]:
        files = sorted((self.bench.home / "ledger").glob("*.jsonl"))
        lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        return [_counted(row) for row in map(json.loads, lines) if row.get("model") in aliases]


def _scripts(api: str, alias: str) -> list[str]:
    """What a request to that model is known by: its name, or where the name is in the path, the path."""
    methods = ("generateContent", "streamGenerateContent")
    return [f"/v1beta/models/{alias}:{method}" for method in methods] if api == "gemini" else [alias]


def _counted(row: dict[str, Any]) -> dict[str, Any]:
    """A ledger row with its tokens as chat counts them too."""
    parts = [row.get(name) for name in ("uncached_in", "cache_read", "cache_write")]
    known = parts[0] is not None
    prompt = sum(part or 0 for part in parts) if known else None
    return {**row, "prompt_tokens": prompt, "completion_tokens": row.get("out")}
