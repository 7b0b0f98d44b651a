import json
import unittest

from metrics.telemetry.sending import Outcome, post
from tests.collector import Collector


def answered(body: object) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


class Post(unittest.TestCase):
    def test_what_an_answer_means(self) -> None:
        part = {"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}}
        for title, answer, outcome in (
            ("taken", answered({}), Outcome()),
            ("taken in part", answered(part), Outcome("too old", rejected=2)),
            ("a hint", answered({"partialSuccess": {"errorMessage": "mind"}}), Outcome()),
            ("a proxy's page", (200, {}, b"<html>"), Outcome()),
            ("nothing", (200, {}, b""), Outcome()),
            ("a list", answered([1]), Outcome()),
            ("bad", (400, {}, b""), Outcome("it answered 400")),
            ("not found", (404, {}, b""), Outcome("it answered 404")),
            ("moved", (302, {"Location": "/"}, b""), Outcome("it answered 302")),
            ("broken", (500, {}, b""), Outcome("it answered 500")),
            ("busy", (429, {"Retry-After": "7"}, b""), Outcome("it answered 429", again=True, wait=7.0)),
            ("away", (503, {}, b""), Outcome("it answered 503", again=True)),
            (
                "for a year",
                (503, {"Retry-After": "9999999"}, b""),
                Outcome("it answered 503", 0, True, 300.0),
            ),
        ):
            with self.subTest(title), Collector([answer]) as collector:
                self.assertEqual(post("traces", f"{collector.url}/v1/traces", {}, (), False, 5.0), outcome)

    def test_what_is_sent(self) -> None:
        with Collector() as collector:
            post("metrics", f"{collector.url}/v1/metrics", {"a": "é"}, (("x-key", "k"),), True, 5.0)
            (sent,) = collector.sent
        self.assertEqual((sent.path, sent.json), ("/v1/metrics", {"a": "é"}))
        self.assertEqual(
            [sent.headers[name] for name in ("content-type", "content-encoding", "x-key")],
            ["application/json", "gzip", "k"],
        )

    def test_nobody_there(self) -> None:
        with Collector() as collector:
            pass
        outcome = post("traces", f"{collector.url}/v1/traces", {}, (), False, 1.0)
        self.assertTrue(outcome.again and outcome.why)


if __name__ == "__main__":
    unittest.main()
