import unittest

from metrics.records import Problem
from metrics.telemetry.options import Options, from_environment

HERE = "http://localhost:4318"


class FromEnvironment(unittest.TestCase):
    def test_off_unless_asked_for(self) -> None:
        for env in (
            {},
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://elsewhere:4318"},
            {"BENCH_TELEMETRY": "off"},
            {"BENCH_TELEMETRY": "otlp,off"},
            {"BENCH_TELEMETRY": "otlp", "OTEL_SDK_DISABLED": "true"},
        ):
            with self.subTest(env):
                found = from_environment(env)
                self.assertEqual((found.otlp, found.prometheus), (False, False))

    def test_where_each_signal_goes(self) -> None:
        own = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://t.example/api/spans"}
        for env, traces, metrics in (
            ({}, f"{HERE}/v1/traces", f"{HERE}/v1/metrics"),
            ({"OTEL_EXPORTER_OTLP_ENDPOINT": "https://c.example/otlp/"}, *_at("https://c.example/otlp")),
            (own, "https://t.example/api/spans", f"{HERE}/v1/metrics"),
            ({"OTEL_TRACES_EXPORTER": "none"}, None, f"{HERE}/v1/metrics"),
            ({"OTEL_METRICS_EXPORTER": "none"}, f"{HERE}/v1/traces", None),
        ):
            with self.subTest(env):
                found = from_environment({"BENCH_TELEMETRY": "otlp", **env})
                self.assertEqual((found.traces, found.metrics), (traces, metrics))

    def test_the_rest(self) -> None:
        found = from_environment(
            {
                "BENCH_TELEMETRY": "otlp, Prometheus",
                "OTEL_EXPORTER_OTLP_HEADERS": "a=1, x-key=s%3D%20t",
                "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "b=2",
                "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
                "OTEL_EXPORTER_OTLP_TIMEOUT": "2500",
                "OTEL_BSP_SCHEDULE_DELAY": "100",
                "OTEL_METRIC_EXPORT_INTERVAL": "1000",
                "OTEL_BSP_MAX_QUEUE_SIZE": "9",
                "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "3",
                "OTEL_SERVICE_NAME": "ours",
                "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,host.name=h",
                "BENCH_METRICS_TOKEN": "sixteen-characters",
            }
        )
        self.assertEqual(
            found,
            Options(
                prometheus=True,
                traces=f"{HERE}/v1/traces",
                metrics=f"{HERE}/v1/metrics",
                headers={"traces": (("a", "1"), ("x-key", "s= t")), "metrics": (("b", "2"),)},
                gzip=True,
                timeout=2.5,
                delay=0.1,
                interval=1.0,
                queue=9,
                batch=3,
                resource=(("service.name", "ours"), ("host.name", "h")),
                token="sixteen-characters",
            ),
        )

    def test_what_cannot_be_used_is_named(self) -> None:
        for name, value in (
            ("BENCH_TELEMETRY", "otpl"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:port"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "ftp://c"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://u:secret-of-ours@c:4318"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "no pair"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=secret-of-ours%E2%82%AC"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a b=secret-of-ours"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=b%0Ac"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "0"),
            ("OTEL_TRACES_EXPORTER", "zipkin"),
            ("BENCH_METRICS_TOKEN", "short"),
        ):
            with self.subTest(name, value=value), self.assertRaises(Problem) as raised:
                from_environment({"BENCH_TELEMETRY": "otlp", name: value})
            self.assertIn(name, raised.exception.message)
            self.assertNotIn("secret-of-ours", raised.exception.message)

    def test_a_header_is_repeated_in_no_message(self) -> None:
        with self.assertRaises(Problem) as raised:
            from_environment({"BENCH_TELEMETRY": "otlp", "OTEL_EXPORTER_OTLP_HEADERS": "secret-of-ours"})
        self.assertNotIn("secret-of-ours", raised.exception.message)


def _at(base: str) -> tuple[str, str]:
    return f"{base}/v1/traces", f"{base}/v1/metrics"


if __name__ == "__main__":
    unittest.main()
