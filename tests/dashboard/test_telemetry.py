import unittest

from metrics.dashboard import telemetry
from metrics.limits import ledger
from metrics.records import Problem
from metrics.telemetry import exporter
from metrics.telemetry.exporter import Exporter
from metrics.telemetry.options import Options
from metrics.web.door import Door
from metrics.web.table import Call
from tests.bench.bench import BenchCase
from tests.telemetry.rows import row

ADMIN, OWN = "the-admin-token-of-ours", "metrics-token-of-sixteen"


class Metrics(BenchCase):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(setattr, exporter, "_running", None)

    def page(self, options: Options, shown: str | None, token: str | None) -> str:
        """The page, or the status of the refusal."""
        exporter._running = Exporter(options)
        headers = {"authorization": f"Bearer {shown}"} if shown else {}
        (route,) = telemetry.routes(Door(token=token))
        try:
            answer = route.handler(Call("GET", "/metrics", headers, peer="127.0.0.1"))
        except Problem as problem:
            return str(problem.status)
        assert isinstance(answer.body, bytes)
        return answer.body.decode()

    def test_who_sees_it(self) -> None:
        off, on, own = Options(), Options(prometheus=True), Options(prometheus=True, token=OWN)
        for title, options, shown, token, seen in (
            ("off", off, ADMIN, ADMIN, "404"),
            ("open, as the dashboard is", on, None, None, ""),
            ("behind the admin token", on, None, ADMIN, "401"),
            ("with the admin token", on, ADMIN, ADMIN, ""),
            ("with its own token", own, OWN, ADMIN, ""),
            ("with another", own, OWN + "x", ADMIN, "401"),
        ):
            with self.subTest(title):
                page = self.page(options, shown, token)
                self.assertEqual(page if seen else page[:8], seen or "# HELP b")

    def test_it_is_the_ledger(self) -> None:
        ledger.add(row(model="gpt"))
        self.assertIn('bench_calls_total{model="gpt"} 1\n', self.page(Options(prometheus=True), None, None))


if __name__ == "__main__":
    unittest.main()
