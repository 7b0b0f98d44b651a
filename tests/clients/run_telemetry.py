#!/usr/bin/env python3
"""What a server sends to a collector and shows to Prometheus, read by their own decoders, against its ledger.

pip install opentelemetry-proto-json opentelemetry-proto prometheus-client
python tests/clients/run_telemetry.py
"""

import base64
import json
import sys
import threading
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto_json.collector.metrics.v1.metrics_service import ExportMetricsServiceRequest
from opentelemetry.proto_json.collector.trace.v1.trace_service import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from tests.clients.checks import Checks, equal
from tests.collector import Collector
from tests.provider import Provider, error, text
from tests.running import Running
from tests.test_chaos import rows

ASKED = "a question that nobody else may read"
TOKEN = "metrics-token-of-sixteen"
KINDS = ("uncached_in", "cache_read", "cache_write", "out", "reasoning")


def main() -> int:
    with Provider() as provider, Collector() as collector:
        provider.script("steady", text("said by steady"))
        provider.script("shaky", error(503, "busy", headers={"Retry-After": "0"}), text("said by shaky"))
        provider.script("dead", error(400, f"cannot read: {ASKED}"))
        environment = {
            "BENCH_TELEMETRY": "otlp,prometheus",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Basic%20abc",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
            "BENCH_METRICS_TOKEN": TOKEN,
        }
        with Running(None, "serve.py", **environment) as bench:
            bench.seat("three", provider.base, "steady", "shaky", "dead")
            bench.save("/api/model", alias="steady", price={"input": 1, "output": 2})
            for number in range(6):
                mode = "" if number % 2 else ":route"
                body = {"model": f"bench/three{mode}", "messages": [{"role": "user", "content": ASKED}]}
                bench.post("/v1/chat/completions", body)
            usage = bench.get("/api/usage?by=model")[1]
            page = settled(bench.url + "/metrics", usage["total"]["calls"])
            bench.stop()
            ledger = rows(bench.home, "ledger")
        return checks(collector, page, usage, ledger)


def settled(url: str, calls: int) -> str:
    """The page once it has heard of so many calls: how long they took is taken in a few times a second."""
    for _ in range(100):
        page = fetched(url)
        if timed(page) == calls:
            break
        threading.Event().wait(0.05)
    return page


def timed(page: str) -> float:
    """How many calls the page says the length of."""
    found = {family.name: family for family in text_string_to_metric_families(page)}
    counts = found["bench_call_duration_seconds"].samples if "bench_call_duration_seconds" in found else ()
    return sum(each.value for each in counts if each.name.endswith("_count"))


def fetched(url: str) -> str:
    asked = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=30) as answer:
        return answer.read().decode()


def checks(collector: Collector, page: str, usage: Any, ledger: list[Any]) -> int:
    check = Checks("opentelemetry, prometheus_client")
    bodies(check, collector)
    told_of_calls(check, collector, ledger)
    told_of_sums(check, collector, ledger)
    shown(check, page, usage)

    @check("no words of a prompt or an answer")
    def _() -> None:
        whole = page + "".join(json.dumps(each.json) for each in collector.sent)
        for words in (ASKED, "said by", "cannot read", "sk-test"):
            assert words not in whole, words

    return check.end()


def bodies(check: Checks, collector: Collector) -> None:
    traces, metrics = collector.bodies("/v1/traces"), collector.bodies("/v1/metrics")

    @check("every body is what the official decoders read")
    def _() -> None:
        for decoder, message, bodies in (
            (ExportTraceServiceRequest, trace_service_pb2.ExportTraceServiceRequest, traces),
            (ExportMetricsServiceRequest, metrics_service_pb2.ExportMetricsServiceRequest, metrics),
        ):
            assert bodies, decoder
            for body in bodies:
                decoder.from_dict(body)
                # The protobuf library refuses fields that it does not know; it has ids in base64.
                json_format.ParseDict(based(body), message())

    @check("headers, resource and packing are as asked for")
    def _() -> None:
        for sent in collector.sent:
            equal(sent.headers["authorization"], "Basic abc")
            equal(sent.headers["content-encoding"], "gzip")
            equal(sent.headers["content-type"], "application/json")
        resource = ExportTraceServiceRequest.from_dict(traces[0]).resource_spans[0].resource
        said = {each.key: each.value.string_value for each in resource.attributes}
        equal(said["service.name"], "benchwarmers")
        equal(said["deployment.environment.name"], "test")


def told_of_calls(check: Checks, collector: Collector, ledger: list[Any]) -> None:
    traces = collector.bodies("/v1/traces")

    @check("a span for each attempt, under one for its panel or turn")
    def _() -> None:
        found = [span for body in traces for span in spans(ExportTraceServiceRequest.from_dict(body))]
        roots = {span.span_id: span for span in found if not span.parent_span_id}
        below = [span for span in found if span.parent_span_id]
        equal(len(below), sum(row["attempts"] for row in ledger))
        equal(len({span.span_id for span in found}), len(found))
        for span in below:
            parent = roots[span.parent_span_id]
            equal(span.trace_id, parent.trace_id)
            assert parent.start_time_unix_nano - 10**7 <= span.start_time_unix_nano <= span.end_time_unix_nano
        names = Counter(span.name.partition(" ")[0] for span in roots.values())
        equal(dict(names), {"panel": 3, "turn": 3})
        tokens = Counter()
        for span in below:
            said = {each.key: each.value for each in span.attributes}
            for name in ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"):
                tokens[name] += int(said[name].int_value or 0) if name in said else 0
        equal(tokens["gen_ai.usage.output_tokens"], sum(row["out"] or 0 for row in ledger))
        inputs = sum((row[kind] or 0) for row in ledger for kind in KINDS[:3])
        equal(tokens["gen_ai.usage.input_tokens"], inputs)


def told_of_sums(check: Checks, collector: Collector, ledger: list[Any]) -> None:
    metrics = collector.bodies("/v1/metrics")

    @check("the last report is the ledger")
    def _() -> None:
        last = ExportMetricsServiceRequest.from_dict(metrics[-1])
        found = {each.name: each for each in last.resource_metrics[0].scope_metrics[0].metrics}
        calls = {labels(point)["model"]: int(point.as_int) for point in found["bench.calls"].sum.data_points}
        equal(calls, dict(Counter(row["model"] for row in ledger)))
        cost = sum(point.as_double or 0 for point in found["bench.cost"].sum.data_points)
        equal(round(cost, 12), round(sum(row["cost_usd"] or 0 for row in ledger), 12))
        durations = found["gen_ai.client.operation.duration"].histogram.data_points
        equal(sum(int(point.count) for point in durations), len(ledger))
        for point in durations:
            equal(sum(map(int, point.bucket_counts)), int(point.count))
            equal(len(point.bucket_counts), len(point.explicit_bounds) + 1)


def shown(check: Checks, page: str, usage: Any) -> None:
    @check("/metrics parses, and is the ledger")
    def _() -> None:
        found = {family.name: family for family in text_string_to_metric_families(page)}
        calls = {each.labels["model"]: each.value for each in found["bench_calls"].samples}
        equal(calls, {row["name"]: float(row["calls"]) for row in usage["rows"]})
        tokens = {(s.labels["model"], s.labels["kind"]): s.value for s in found["bench_tokens"].samples}
        wanted = {(row["name"], kind): float(row["tokens"][kind]) for row in usage["rows"] for kind in KINDS}
        equal(tokens, wanted)
        cost = {each.labels["model"]: each.value for each in found["bench_cost_usd"].samples}
        equal(cost, {row["name"]: row["known_usd"] for row in usage["rows"] if row["known_usd"] is not None})
        equal(timed(page), float(usage["total"]["calls"]))


def spans(request: ExportTraceServiceRequest) -> list[Any]:
    return [span for each in request.resource_spans for scope in each.scope_spans for span in scope.spans]


def labels(point: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in point.attributes}


def based(value: Any) -> Any:
    """The document with its ids as the protobuf library has them."""
    if isinstance(value, dict):
        return {name: _id(each) if name in IDS else based(each) for name, each in value.items()}
    return [based(each) for each in value] if isinstance(value, list) else value


IDS = ("traceId", "spanId", "parentSpanId")


def _id(text: str) -> str:
    return base64.b64encode(bytes.fromhex(text)).decode()


if __name__ == "__main__":
    sys.exit(main())
