import unittest

from metrics.telemetry.meter import Family, Histogram
from metrics.telemetry.prometheus import text


class Text(unittest.TestCase):
    def test_the_page(self) -> None:
        each = Histogram((0.5, 1.0))
        for value in (0.25, 0.5, 0.75, 3.0):
            each.add(value)
        families = [
            Family("bench.calls", "{call}", "Calls.", (((("model", 'a"b\\c\nd'),), 3),)),
            Family("bench.cost", "{USD}", "Back\\slash.", (((("model", "m"),), 0.1),)),
            Family("bench.now", "{call}", "Now.", (), monotonic=False),
        ]
        page = text(families, [((("gen_ai.request.model", "m"),), each)], "1.2.3").decode()
        self.assertEqual(
            page,
            "\n".join(
                (
                    "# HELP bench_build_info The version that runs.",
                    "# TYPE bench_build_info gauge",
                    'bench_build_info{version="1.2.3"} 1',
                    "# HELP bench_calls_total Calls.",
                    "# TYPE bench_calls_total counter",
                    'bench_calls_total{model="a\\"b\\\\c\\nd"} 3',
                    "# HELP bench_cost_usd_total Back\\\\slash.",
                    "# TYPE bench_cost_usd_total counter",
                    'bench_cost_usd_total{model="m"} 0.1',
                    "# HELP bench_now Now.",
                    "# TYPE bench_now gauge",
                    "# HELP bench_call_duration_seconds How long calls took, since this server began.",
                    "# TYPE bench_call_duration_seconds histogram",
                    'bench_call_duration_seconds_bucket{gen_ai_request_model="m",le="0.5"} 2',
                    'bench_call_duration_seconds_bucket{gen_ai_request_model="m",le="1.0"} 3',
                    'bench_call_duration_seconds_bucket{gen_ai_request_model="m",le="+Inf"} 4',
                    'bench_call_duration_seconds_sum{gen_ai_request_model="m"} 4.5',
                    'bench_call_duration_seconds_count{gen_ai_request_model="m"} 4',
                    "",
                )
            ),
        )


if __name__ == "__main__":
    unittest.main()
