"""Asking /api handlers as the server does, without sockets."""

import json
from collections.abc import Sequence
from typing import Any

from metrics.records import Problem
from metrics.web.table import Call, Route, Table
from tests.bench.bench import BenchCase


class ApiCase(BenchCase):
    """Set `routes` to the HANDLERS under test."""

    routes: Sequence[Route] = ()

    def ask(self, method: str, target: str, body: Any = None) -> tuple[int, Any]:
        """(status, reply) of one request; `body` is sent as JSON, or as it is when it is bytes."""
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        call = Call(method, target, {"host": "127.0.0.1:8122", "content-type": "application/json"}, raw)
        route, call.parts = Table(self.routes).find(method, call.path)
        try:
            response = route.handler(call)
        except Problem as problem:
            response = route.error(problem, call)
        assert isinstance(response.body, bytes)
        return response.status, json.loads(response.body)

    def get(self, target: str) -> Any:
        """The reply of a GET that must work."""
        status, reply = self.ask("GET", target)
        self.assertEqual((status, reply["ok"]), (200, True), reply)
        return reply

    def post(self, target: str, body: Any) -> Any:
        """The reply of a POST that must work."""
        status, reply = self.ask("POST", target, body)
        self.assertEqual((status, reply["ok"]), (200, True), reply)
        return reply

    def refused(self, target: str, body: Any, status: int = 400) -> str:
        """The sentence of a POST that must be refused, checked for its shape."""
        got, reply = self.ask("POST", target, body)
        self.assertEqual((got, reply["ok"]), (status, False), reply)
        self.assertEqual(reply["errors"], [reply["error"]["message"]])
        self.assertTrue(reply["error"]["kind"])
        sentence: str = reply["errors"][0]
        return sentence

    def refuses_nonsense(self, *targets: str) -> None:
        """Whatever JSON comes, the answer is a 400 and never a crash."""
        for target in targets:
            for body in (
                b"",
                b"[]",
                b"{",
                b'"x"',
                b"5",
                b"null",
                b"{}",
                b'{"name":5,"alias":[],"call":{}}',
                b'{"":1}',
            ):
                with self.subTest(target=target, body=body):
                    self.refused(target, body)
