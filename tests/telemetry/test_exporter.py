import threading
import unittest
from typing import Any

from metrics import bus
from metrics.limits import ledger
from metrics.telemetry import exporter
from metrics.telemetry.exporter import Exporter
from metrics.telemetry.options import Options
from metrics.telemetry.sending import Outcome
from tests.store.case import HomeCase
from tests.telemetry.rows import news, row

OPTIONS = Options(traces="http://c/v1/traces", metrics="http://c/v1/metrics", queue=10, batch=4)


class Sink:
    """Takes what is posted, and answers as told; then as at last."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes, self.posted = list(outcomes), []

    def __call__(self, signal: str, url: str, document: Any, *rest: Any) -> Outcome:
        self.posted.append((signal, document))
        return self.outcomes.pop(0) if self.outcomes else Outcome()

    def sizes(self) -> list[int]:
        traces = [document for signal, document in self.posted if signal == "traces"]
        return [len(each["resourceSpans"][0]["scopeSpans"][0]["spans"]) for each in traces]


class ExporterCase(HomeCase):
    def setUp(self) -> None:
        super().setUp()
        self.said: list[str] = []
        self.paused: list[float] = []

    def made(self, sink: Sink, options: Options = OPTIONS) -> Exporter:
        def pause(seconds: float) -> bool:
            self.paused.append(seconds)
            return False

        return Exporter(options, self.said.append, lambda: 1000.0, sink, pause, lambda: 0.5)

    def calls(self, number: int) -> list[bus.News]:
        return [news("call", row(call=f"c{each}")) for each in range(number)]

    def test_batches(self) -> None:
        sink = Sink()
        made = self.made(sink)
        made.hear(self.calls(9))
        made.send_spans()
        self.assertEqual(sink.sizes(), [4, 4, 1])
        self.assertEqual((made.told()["sent"], made.told()["dropped"]), (9, 0))

    def test_a_full_queue_drops_the_newest_and_counts_them(self) -> None:
        made = self.made(Sink())
        made.hear(self.calls(25))
        self.assertEqual((made.told()["waiting"], made.told()["dropped"]), (10, 15))

    def test_what_may_be_sent_again_is(self) -> None:
        away, busy = Outcome("away", again=True), Outcome("busy", again=True, wait=9.0)
        sink = Sink(away, busy, away)
        made = self.made(sink)
        made.hear(self.calls(1))
        made.send_spans()
        self.assertEqual((sink.sizes(), self.paused), ([1, 1, 1, 1], [1.0, 9.0, 4.0]))
        self.assertEqual((made.told()["sent"], made.told()["trouble"]), (1, ""))
        self.assertEqual(len(self.said), 2)  # that it is away, and that it is back
        self.assertIn("http://c does not take traces: away", self.said[0])

    def test_a_collector_of_one_signal_alone_is_said_so_once(self) -> None:
        sink = Sink()
        made = self.made(sink)
        for _ in range(3):
            sink.outcomes = [Outcome(), Outcome("it answered 404")]
            made.hear(self.calls(1))
            made.send_spans()
            made.report()
        self.assertEqual(self.said, ["telemetry: http://c does not take metrics: it answered 404"])
        self.assertEqual(made.told()["trouble"], "metrics: it answered 404")

    def test_what_is_lost_is_counted(self) -> None:
        for outcomes, dropped, rejected, tries in (
            ([Outcome("no")], 4, 0, 1),
            ([Outcome("away", again=True)] * exporter.TRIES, 4, 0, exporter.TRIES),
            ([Outcome("two were old", rejected=2)], 0, 2, 1),
        ):
            with self.subTest(outcomes[0].why):
                sink = Sink(*outcomes)
                made = self.made(sink)
                made.hear(self.calls(4))
                made.send_spans()
                told = made.told()
                self.assertEqual(
                    (told["dropped"], told["rejected"], len(sink.posted)), (dropped, rejected, tries)
                )
                self.assertEqual(told["sent"], 4 - dropped - rejected)

    def test_a_report_is_the_ledger(self) -> None:
        sink = Sink()
        made = self.made(sink)
        ledger.add(row())
        made.report()
        ((signal, document),) = sink.posted
        names = [each["name"] for each in document["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]]
        self.assertEqual((signal, names[0]), ("metrics", "bench.calls"))
        self.assertEqual(made.told()["reports"], 1)

    def test_bent_news_cost_only_themselves(self) -> None:
        made = self.made(Sink())
        made.hear([news("call", {"at": "never"}), news("panel", {}), news("attempt", {}), *self.calls(1)])
        self.assertEqual(made.told()["waiting"], 1)

    def test_status_tells_no_path_and_no_header(self) -> None:
        for url, place in (
            ("http://u:pw@c:9/secret/v1/traces", "http://c:9"),
            ("https://c.example/secret/v1/traces?secret", "https://c.example"),
            ("http://[::1]:4318/v1/traces", "http://[::1]:4318"),
        ):
            with self.subTest(url):
                options = Options(traces=url, headers={"traces": (("k", "secret"),)})
                made = self.made(Sink(Outcome("no")), options)
                made.hear(self.calls(1))
                made.send_spans()
                self.assertEqual(made.told()["otlp"], [place])
                self.assertIn(place, self.said.pop())
                self.assertNotIn("secret", repr(made.told()))


class Life(ExporterCase):
    def test_from_a_call_to_the_collector(self) -> None:
        """Both threads, the real bus; what was heard last is sent at the end."""
        came = threading.Event()

        class Telling(Sink):
            def __call__(self, *posted: Any) -> Outcome:
                came.set()
                return super().__call__(*posted)

        sink = Telling()
        running = Exporter(Options(traces="http://c/t", batch=2, delay=30.0), self.said.append, post=sink)
        running.start()
        self.addCleanup(running.stop)
        while not bus.watched():
            threading.Event().wait(0.001)
        for each in self.calls(2):
            bus.publish("call", each.facts)
        self.assertTrue(came.wait(10))  # a full batch waits for no delay
        bus.publish("call", row(call="last"))
        running.stop()
        self.assertEqual(sum(sink.sizes()), 3)

    def test_off_starts_nothing(self) -> None:
        running = Exporter(Options()).start()
        self.assertEqual(running._threads, [])
        running.stop()


if __name__ == "__main__":
    unittest.main()
