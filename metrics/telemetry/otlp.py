"""Spans and families as OTLP/HTTP bodies in JSON.

Source: opentelemetry-proto, docs/specification.md ("JSON Protobuf Encoding"): names in lowerCamelCase, 64-bit
whole numbers as strings, ids in hexadecimal and not in base64, enums as numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metrics.telemetry.meter import Family, Histogram, Labels
from metrics.telemetry.spans import Span, Value
from metrics.version import VERSION

SCOPE = {"name": "benchwarmers", "version": VERSION}
CUMULATIVE = 2  # AggregationTemporality
ERROR = 2  # Status.StatusCode
LONGEST = 4096  # characters of an attribute

Object = dict[str, Any]


def traces(spans: Iterable[Span], resource: Sequence[tuple[str, str]]) -> Object:
    """An ExportTraceServiceRequest."""
    inner = {"scope": SCOPE, "spans": [_span(span) for span in spans]}
    return {"resourceSpans": [{"resource": _resource(resource), "scopeSpans": [inner]}]}


def metrics(
    families: Iterable[Family],
    histograms: Iterable[tuple[str, str, Iterable[tuple[Labels, Histogram]]]],
    resource: Sequence[tuple[str, str]],
    began: float,
    now: float,
) -> Object:
    """An ExportMetricsServiceRequest. Histograms are (name, unit, rows), from `began` on; the ledger's sums
    are from before, so no time is said at which they began."""
    found = [_sum(family, now) for family in families if family.rows]
    for name, unit, rows in histograms:
        points = [_distribution(labels, each, began, now) for labels, each in rows if each.counts]
        if points:
            body = {"aggregationTemporality": CUMULATIVE, "dataPoints": points}
            found.append({"name": name, "unit": unit, "histogram": body})
    inner = {"scope": SCOPE, "metrics": found}
    return {"resourceMetrics": [{"resource": _resource(resource), "scopeMetrics": [inner]}]}


def _span(span: Span) -> Object:
    told: Object = {
        "traceId": span.trace,
        "spanId": span.id,
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": _nanoseconds(span.start),
        "endTimeUnixNano": _nanoseconds(span.end),
        "attributes": _attributes(span.attributes),
    }
    if span.parent:
        told["parentSpanId"] = span.parent
    if span.error:
        told["status"] = {"code": ERROR, "message": span.error}
    return told


def _sum(family: Family, now: float) -> Object:
    points = [
        {"attributes": _attributes(dict(labels)), "timeUnixNano": _nanoseconds(now), **_value(value)}
        for labels, value in family.rows
    ]
    body = {"aggregationTemporality": CUMULATIVE, "isMonotonic": family.monotonic, "dataPoints": points}
    return {"name": family.name, "unit": family.unit, "description": family.about, "sum": body}


def _distribution(labels: Labels, each: Histogram, began: float, now: float) -> Object:
    return {
        "attributes": _attributes(dict(labels)),
        "startTimeUnixNano": _nanoseconds(began),
        "timeUnixNano": _nanoseconds(now),
        "count": str(each.count),
        "sum": each.sum,
        "bucketCounts": [str(count) for count in each.counts],
        "explicitBounds": list(each.bounds),
    }


def _value(value: int | float) -> Object:
    return {"asDouble": value} if isinstance(value, float) else {"asInt": str(value)}


def _resource(resource: Sequence[tuple[str, str]]) -> Object:
    return {"attributes": _attributes({"service.version": VERSION, **dict(resource)})}


def _attributes(attributes: Mapping[str, Value]) -> list[Object]:
    return [{"key": name, "value": _any(value)} for name, value in attributes.items()]


def _any(value: Value) -> Object:
    """An AnyValue."""
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_any(each) for each in value]}}
    return {"stringValue": value[:LONGEST]}


def _nanoseconds(at: float) -> str:
    return str(round(at * 1e6) * 1000)  # a float holds today's microseconds, and no more
