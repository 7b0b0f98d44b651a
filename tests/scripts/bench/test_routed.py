import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from scripts.bench import product, routed, stamped
from scripts.bench.load import NUMBERED
from scripts.bench.product import Target
from scripts.bench.results import Results
from scripts.bench.routed import DIRECT, NEW, OF_FIVE, ONGOING, SCENARIOS

TARGET = Target("direct", 1, "mock-1")


def counted(first, pace=100.0, errors=0, **more):
    fields = {"first_ms": first, "pace": pace, "errors": errors, "ok": 5}
    return fields | {"delay_p50_ms": first / 10, "delay_p99_ms": first} | more


def measured(first=4.0, pace=50.0, **more):
    """Results in which direct calls take 1 ms and come 100 a second; the machine varies."""
    results = Results()
    for scenario in SCENARIOS:
        for machine in (1.0, 7.0, 2.0):
            for name in scenario.targets:
                if name == DIRECT:
                    results.add(scenario.name, name, counted(machine, 100.0 / machine))
                else:
                    results.add(scenario.name, name, counted(first * machine, pace / machine, **more))
    return results


class JobTest(unittest.TestCase):
    def test_every_scenario_asks_for_what_it_says(self):
        for scenario in SCENARIOS:
            for kind in scenario.targets:
                with self.subTest(scenario.name, kind=kind):
                    job = scenario.job(TARGET, kind, 1.0)
                    body = json.loads(job.body)
                    model = body["model"]
                    self.assertEqual(model.endswith(":route"), kind != DIRECT)
                    self.assertEqual(body["stream"], job.chunks > 0)
                    self.assertEqual(job.connections, scenario.connections)
                    # The size told, however long the text's characters are.
                    self.assertAlmostEqual(len(job.body.encode()) / scenario.size, 1.0, delta=0.15)
                    if kind == DIRECT:
                        self.assertEqual(stamped.manner(job.body.encode()).count, job.chunks)

    def test_new_conversations_begin_and_ongoing_ones_have_been_answered(self):
        for kind, roles in ((NEW, ["user"]), (OF_FIVE, ["user"]), (ONGOING, ["user", "assistant", "user"])):
            body = json.loads(SCENARIOS[0].job(TARGET, kind, 1.0).body)
            self.assertEqual([message["role"] for message in body["messages"]], roles)

    def test_every_connection_has_a_conversation_of_its_own(self):
        job = SCENARIOS[0].job(TARGET, ONGOING, 1.0)
        self.assertEqual(job.body.count(NUMBERED), 1)
        first, second = job.request(1), job.request(22)
        self.assertNotEqual(first, second)
        self.assertEqual(len(first), len(second))
        self.assertIn(b"caller-0022", second)

    def test_a_history_ends_with_a_question(self):
        for size in (10, 800, 100_000, 103_000):
            turns = routed.history(size)
            self.assertEqual(turns[-1]["role"], "user")
            self.assertGreaterEqual(len(turns), 3)

    def test_slow_streams_last_long_enough_to_count(self):
        job = routed.NAMES["slow c128"].job(TARGET, NEW, 0.1)
        stream = stamped.manner(b'{"model":"mock-g20-c50","stream":true}')
        self.assertGreater(job.warm + job.seconds, stream.gap * stream.count + 0.2)


class MeasureTest(unittest.TestCase):
    def test_every_target_takes_its_turn(self):
        asked = []

        def visit(job, pid, weigh=False):
            asked.append((json.loads(job.body)["model"], job.connections, pid, weigh))
            told = {"p50_ms": 1.0, "rate": 10.0, "ok": 1, "errors": 0, "rss_mb": 50.0}
            return told | ({"chunk_rate": 500.0, "first_ms": 0.5} if job.chunks else {})

        servers = []
        with (
            mock.patch.object(routed.product, "server", lambda home: servers.append(Served()) or servers[-1]),
            mock.patch.object(routed.product, "visit", visit),
            mock.patch.object(routed.product, "memory", lambda pid: 30.0),
        ):
            found = routed.measure(Path("x"), TARGET, 2, 1.0, lambda text: None)
        first = [model for model, connections, *_ in asked if connections == 1][:4]
        self.assertEqual(
            first, ["mock-c100", "bench/c-mock-c100:route", "bench/c-mock-c100:route", "bench/c-five:route"]
        )
        visits = sum(len(scenario.targets) for scenario in SCENARIOS)
        self.assertEqual(len(asked), 2 * visits + 1)
        self.assertEqual(
            asked[visits][0], "bench/c-mock-c100:route"
        )  # the second round begins with the next one
        self.assertEqual(asked[-1], ("bench/c-mock-g20-c50:route", 128, 77, True))
        self.assertEqual(found.rss_mb, {"idle": 30.0, "after": 30.0, "slow": 50.0})
        whole, burst = (found.results.rounds[name][NEW][0] for name in ("1 KB c1", "burst c1"))
        self.assertEqual((whole["first_ms"], whole["pace"]), (1.0, 10.0))
        self.assertEqual((burst["first_ms"], burst["pace"]), (0.5, 500.0))
        for server in servers:
            self.assertEqual(server.collected["c-mock-c100"], ["mock-c100"])
            self.assertEqual(len(server.collected["c-five"]), 5)
            for model in {model for members in server.collected.values() for model in members}:
                how = stamped.manner(json.dumps({"model": model, "stream": True}).encode())
                self.assertGreater(how.count, 0, model)


class TableTest(unittest.TestCase):
    def test_a_line_for_each(self):
        lines = list(routed.table(measured(cpu_us=120.0)))
        pairs = sum(len(scenario.targets) for scenario in SCENARIOS)
        slow = len(routed.NAMES["slow c128"].targets)
        self.assertEqual(len(lines), 1 + pairs + 1 + 1 + slow)
        line = next(line for line in lines if line.startswith("1 KB c8 ") and ONGOING in line).split()
        self.assertEqual(line[4:], ["8.000", "6.000", "4.0", "25", "0.500", "120", "0"])
        self.assertEqual(lines[-1].split(), [ONGOING, "0.800", "0.600", "8.000", "6.000"])

    def test_the_report_can_be_written(self):
        told = routed.told(routed.Measured(measured(errors=1), {"idle": None}))
        self.assertEqual(json.loads(json.dumps(told))["errors"], told["errors"])
        self.assertGreater(told["errors"], 0)


class SlowRouted(unittest.TestCase):
    def test_every_kind_of_load_is_answered_by_a_real_server(self):
        with tempfile.TemporaryDirectory() as folder, product.mock() as provider:
            with product.server(Path(folder, "home")) as server:
                routed.seat(server, provider)
                for name in (
                    "1 KB c1",
                    "100 KB c8",
                    "50 ms c32",
                    "burst c8",
                    "Messages c8",
                    "Messages burst c1",
                ):
                    for kind in routed.NAMES[name].targets:
                        with self.subTest(name, kind=kind):
                            told = routed.visit(routed.NAMES[name], provider, server, kind, 0.4)
                            self.assertGreater(told["ok"], 0)
                            self.assertEqual(told["errors"], 0)


class Served:
    """A server that only remembers what it was given."""

    pid = 77

    def __init__(self):
        self.collected = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def seat(self, provider):
        pass

    def model(self, served):
        pass

    def collect(self, name, members):
        self.collected[name] = members

    def target(self, name, collection):
        return Target(name, 2, collection, self.pid)
