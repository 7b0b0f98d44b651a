import json
import unittest

from metrics.telemetry import otlp
from metrics.telemetry.meter import Family, Histogram
from metrics.telemetry.spans import Span

RESOURCE = (("service.name", "ours"),)


class Traces(unittest.TestCase):
    def test_a_span(self) -> None:
        attributes = {"s": "x" * 5000, "i": 2**60, "f": 0.5, "b": True, "l": ["a", "b"]}
        span = Span("a" * 32, "b" * 16, "c" * 16, "chat m", 3, 1.5, 2.000001, attributes, "auth")
        document = otlp.traces([span], RESOURCE)
        json.dumps(document)
        (told,) = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
        values = {each["key"]: each["value"] for each in told.pop("attributes")}
        self.assertEqual(values["i"], {"intValue": str(2**60)})
        self.assertEqual((values["b"], values["f"]), ({"boolValue": True}, {"doubleValue": 0.5}))
        self.assertEqual(values["l"]["arrayValue"]["values"], [{"stringValue": "a"}, {"stringValue": "b"}])
        self.assertEqual(len(values["s"]["stringValue"]), otlp.LONGEST)
        self.assertEqual(
            told,
            {
                "traceId": "a" * 32,
                "spanId": "b" * 16,
                "parentSpanId": "c" * 16,
                "name": "chat m",
                "kind": 3,
                "startTimeUnixNano": "1500000000",
                "endTimeUnixNano": "2000001000",
                "status": {"code": 2, "message": "auth"},
            },
        )

    def test_a_root_that_went_well_says_neither_parent_nor_status(self) -> None:
        document = otlp.traces([Span("a", "b", "", "n", 2, 0.0, 0.0)], RESOURCE)
        (told,) = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
        self.assertFalse({"parentSpanId", "status"} & set(told))


class Metrics(unittest.TestCase):
    def test_sums_and_histograms(self) -> None:
        each = Histogram((1.0,))
        each.add(3.0)
        document = otlp.metrics(
            [
                Family("calls", "{call}", "Calls.", (((("model", "m"),), 3),)),
                Family("cost", "{USD}", "Cost.", (((("model", "m"),), 0.5),)),
                Family("none", "{call}", "Nothing yet.", ()),
            ],
            [("took", "s", [((("m", "x"),), each), ((), Histogram((1.0,)))]), ("empty", "s", [])],
            RESOURCE,
            1.0,
            2.0,
        )
        found = document["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
        self.assertEqual([metric["name"] for metric in found], ["calls", "cost", "took"])
        (point,) = found[0]["sum"]["dataPoints"]
        self.assertEqual((point["asInt"], point["timeUnixNano"]), ("3", "2000000000"))
        self.assertEqual(found[1]["sum"]["dataPoints"][0]["asDouble"], 0.5)
        (point,) = found[2]["histogram"]["dataPoints"]
        self.assertEqual(
            (point["count"], point["bucketCounts"], point["explicitBounds"], point["startTimeUnixNano"]),
            ("1", ["0", "1"], [1.0], "1000000000"),
        )
        self.assertEqual(
            {found[0]["sum"]["aggregationTemporality"], found[0]["sum"]["isMonotonic"]}, {2, True}
        )


if __name__ == "__main__":
    unittest.main()
