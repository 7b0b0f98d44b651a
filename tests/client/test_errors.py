"""What providers say when they refuse, as they really say it, and what we make of it."""

import json
import unittest
from dataclasses import replace
from typing import Any

from metrics.client import errors, retry
from metrics.records import Problem, Target

NOW = 1_796_000_000.0  # 2026-11-30T00:53:20Z
TARGET = Target(
    alias="a",
    model_id="e:m",
    endpoint="e",
    connection="e",
    served="m",
    base="http://x/v1",
    key="secret-key-1",
)


def openai(message: str, **fields: Any) -> dict[str, Any]:
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **fields}
    }


# name, status, body, kind, retryable
KINDS: list[tuple[str, int, Any, str, bool]] = [
    ("openai context", 400, openai("too long", code="context_length_exceeded"), "context", False),
    (
        "fault 26: context by words only",
        400,
        openai("This model's maximum context length is 8192 tokens."),
        "context",
        False,
    ),
    ("llama.cpp context", 400, openai("no", type="exceed_context_size_error"), "context", False),
    (
        "anthropic context",
        400,
        {"type": "error", "error": {"message": "prompt is too long: 9 > 8"}},
        "context",
        False,
    ),
    ("vllm context", 400, {"object": "error", "message": "maximum context length is 4096"}, "context", False),
    ("gemini context", 400, [openai("The input token count (9) exceeds the maximum")], "context", False),
    (
        "openai rate limit",
        429,
        openai("Rate limit reached", code="rate_limit_exceeded"),
        "rate_limited",
        True,
    ),
    ("nothing said", 429, b"", "rate_limited", True),
    ("nvidia", 429, {"status": 429, "title": "Too Many Requests"}, "rate_limited", True),
    ("out of quota", 429, openai("You exceeded…", code="insufficient_quota"), "payment", False),
    (
        "out of credit",
        429,
        openai("You have no credits remaining.", type="insufficient_quota", code="credit_balance_exhausted"),
        "payment",
        False,
    ),
    (
        "quota words, concurrency meaning",
        429,
        {
            "status": 429,
            "error": "INSUFFICIENT QUOTA",
            "message": "You exceeded your current limit of concurrent requests.",
        },
        "rate_limited",
        True,
    ),
    ("anthropic credit", 400, openai("Your credit balance is too low to access the API."), "payment", False),
    ("payment required", 402, openai("Payment required", code=402), "payment", False),
    ("openrouter in flight", 402, openai("busy", code="in_flight_budget_exhausted"), "rate_limited", True),
    (
        "gemini not on free tier",
        429,
        openai("Quota exceeded for metric: x, limit: 0, model: y"),
        "payment",
        False,
    ),
    (
        "groq prompt above TPM",
        413,
        openai("Request too large for model", code="rate_limit_exceeded"),
        "too_large",
        False,
    ),
    ("openai above TPM", 429, openai("Request too large for gpt on tokens per min"), "too_large", False),
    ("wrong key", 401, openai("Incorrect API key provided: sk-abcd****wxyz."), "auth", False),
    (
        "gemini wrong key",
        400,
        [{"error": {"message": "API key not valid.", "status": "INVALID_ARGUMENT"}}],
        "auth",
        False,
    ),
    ("forbidden", 403, openai("You may not use this."), "forbidden", False),
    ("openrouter moderation", 403, openai("Your input was flagged"), "refused", False),
    ("azure filter", 400, openai("…", code="content_filter"), "refused", False),
    ("no model", 404, openai("The model `x` does not exist", code="model_not_found"), "not_found", False),
    ("no model, as a 400", 400, {"error": {"message": "model x not found"}}, "not_found", False),
    (
        "anthropic overload",
        529,
        {"error": {"type": "overloaded_error", "message": "Overloaded"}},
        "overloaded",
        True,
    ),
    ("cerebras queue", 429, {"message": "busy", "code": "queue_exceeded"}, "overloaded", True),
    ("llama.cpp loading", 503, openai("Loading model", type="unavailable_error"), "overloaded", True),
    (
        "mistral field",
        422,
        {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs"}]},
        "bad_request",
        False,
    ),
    ("server error", 500, b"<html><head><title>500 oops</title></head></html>", "upstream", True),
    ("gateway time-out", 504, b"", "timeout", True),
    ("cloudflare", 524, b"error code: 524", "timeout", True),
    ("redirect", 302, b"", "upstream", True),
]

# name, headers, body, seconds
WAITS: list[tuple[str, dict[str, str], Any, float | None]] = [
    ("milliseconds first", {"retry-after-ms": "350", "retry-after": "1"}, {}, 0.35),
    ("seconds", {"retry-after": "7"}, {}, 7.0),
    ("now", {"retry-after": "0"}, {}, 0.0),
    ("nonsense", {"retry-after": "soon"}, {}, None),
    ("negative", {"retry-after": "-5"}, {}, None),
    ("http date", {"retry-after": "Mon, 30 Nov 2026 00:54:20 GMT"}, {}, 60.0),
    ("http date that has passed", {"retry-after": "Mon, 30 Nov 2026 00:52:20 GMT"}, {}, None),
    ("rfc 3339 of the bucket that is empty", {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-11-30T00:53:45Z",
        "anthropic-ratelimit-tokens-remaining": "900",
        "anthropic-ratelimit-tokens-reset": "2026-11-30T02:33:45Z",
    }, {}, 25.0),
    ("the exhausted dimension", {
        "x-ratelimit-remaining-requests": "99", "x-ratelimit-reset-requests": "8m0s",
        "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "12s",
    }, {}, 12.0),
    ("two exhausted: the later", {
        "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2.5s",
        "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "17ms",
    }, {}, 62.5),
    ("a reset alone is no wait", {"x-ratelimit-reset-requests": "3m6s"}, {}, None),
    ("openrouter milliseconds in the body", {}, {"error": {"message": "no", "metadata": {"headers": {
        "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int((NOW + 42) * 1000))}}}}, 42.0),
    ("gemini", {}, {"error": {"details": [{"@type": "x.RetryInfo", "retryDelay": "45.837906927s"}]}}, 45.838),
    ("gemini's day, to midnight in California", {}, {"error": {"details": [
        {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
        {"@type": "x.RetryInfo", "retryDelay": "20s"}]}}, 25_600.0),
    ("prose seconds", {}, openai("Rate limit reached. Please try again in 20s. Visit …"), 20.0),
    ("prose compound", {}, openai("Please try again in 1m30.5s."), 90.5),
    ("prose milliseconds", {}, openai("Please try again in 350ms."), 0.35),
    ("prose words", {}, openai("Please wait 2 minutes before you retry"), 120.0),
    ("prose without unit", {}, openai("retry 3 times"), None),
    ("field", {}, {"error": "busy", "retry_after": 1}, 1.0),
    ("epoch seconds", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW + 30))}, {}, 30.0),
    ("ietf", {"ratelimit": '"default";r=0;t=33'}, {}, 33.0),
    ("a hundred years", {"retry-after": "3155760000"}, {}, None),
    ("empty header is absent", {"retry-after": "", "x-ratelimit-remaining-requests": ""}, {}, None),
]  # fmt: skip


def problem(status: int, body: Any, headers: dict[str, str] | None = None) -> Problem:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return errors.from_status(status, headers or {}, raw, TARGET, now=NOW)


class FromStatus(unittest.TestCase):
    def test_kinds(self) -> None:
        for name, status, body, kind, retryable in KINDS:
            with self.subTest(name):
                found = problem(status, body)
                self.assertEqual((found.kind, found.retryable), (kind, retryable))
                self.assertEqual(found.status, status if status >= 400 else 502)
                self.assertTrue(found.message.startswith("a: "))

    def test_waits(self) -> None:
        for name, headers, body, expected in WAITS:
            with self.subTest(name):
                found = problem(429, body, headers).retry_after
                if expected is None:
                    self.assertIsNone(found)
                else:
                    self.assertAlmostEqual(found or 0.0, expected, places=3)

    def test_no_wait_where_waiting_does_not_help(self) -> None:
        self.assertIsNone(problem(400, openai("try again in 20s with less")).retry_after)

    def test_no_allowance(self) -> None:
        found = problem(429, {"message": "Rate limit exceeded"}, {"x-ratelimit-limit-req-minute": "0"})
        self.assertEqual((found.kind, found.retryable), ("payment", False))

    def test_messages(self) -> None:
        for name, body, expected in [
            ("string error", {"error": "boom"}, "a: boom"),
            ("named already", {"error": "a: boom"}, "a: boom"),
            ("named in capitals", {"error": "A: boom"}, "A: boom"),
            ("another's name", {"error": "ab: boom"}, "a: ab: boom"),
            ("plain", b"Bad Gateway", "a: Bad Gateway"),
            ("page", b"<html><title>502 &amp; out</title><h1>x</h1>", "a: 502 & out"),
            ("page without title", b"<p>gone</p>", "a: gone"),
            ("nothing", b"", "a: answered 500 Internal Server Error and said nothing more"),
            ("not utf-8", b"\xff\xfe", "a: \ufffd\ufffd"),
            ("fastapi", {"detail": [{"loc": ["body", "x"], "msg": "wrong"}]}, "a: body.x: wrong"),
            ("nested detail", {"detail": {"error": "model busy"}}, "a: model busy"),
            (
                "openrouter",
                openai("Provider returned error", metadata={"raw": '{"error":{"message":"inner"}}'}),
                "a: Provider returned error: inner",
            ),
            ("long", {"error": {"message": "x" * 1000}}, "a: " + "x" * 299 + "…"),
            ("key", {"error": {"message": "key secret-key-1 is bad"}}, "a: key [key] is bad"),
            ("someone's key", {"error": {"message": "not sk-proj-abcdefgh1234"}}, "a: not [key]"),
            ("a word", {"error": {"message": "skeleton-staffed today"}}, "a: skeleton-staffed today"),
            ("half a pair", b'{"error":"cut \\ud83d"}', "a: cut ?"),
            ("deep", b"[" * 100_000, "a: " + "[" * 299 + "…"),
            ("odd shapes", {"error": {"message": {"a": 1}, "code": [], "details": 5}}, None),
            ("a list of nothing", [None], None),
        ]:
            with self.subTest(name):
                message = problem(500, body).message
                if expected is not None:
                    self.assertEqual(message, expected)

    def test_no_field_of_a_refusal_shows_a_key(self) -> None:
        for key in ("secret-key-1", " secret-key-1\n"):
            for name in ("message", "code", "param"):
                for said in ("key=secret-key-1", "sk-" + "a" * 40):
                    body = json.dumps({"error": {"message": "no", name: said}}).encode()
                    told = errors.from_status(400, {}, body, replace(TARGET, key=key), now=0.0)
                    with self.subTest(key, name=name, said=said):
                        self.assertIn("[key]", str(getattr(told, name)))
                        self.assertNotIn("secret-key", f"{told.message} {told.code} {told.param}")
        self.assertLess(len(problem(400, openai("no", code="x" * 9000)).code or ""), 400)

    def test_what_to_do(self) -> None:
        self.assertIn("bench endpoint key e", problem(401, b"").message)
        self.assertEqual(problem(400, openai("x", param="seed", code="unsupported")).param, "seed")


class InStream(unittest.TestCase):
    def test_errors(self) -> None:
        cases: list[tuple[str, Any, tuple[int, str] | None]] = [
            ("no error", {"choices": [], "usage": None}, None),
            ("null error", {"error": None, "choices": []}, None),
            ("busy", {"error": {"code": 429, "message": "Provider busy"}}, (429, "rate_limited")),
            ("overloaded", {"error": {"code": 503, "message": "upstream"}}, (503, "overloaded")),
            ("no code", {"error": {"message": "boom"}}, (502, "upstream")),
            ("string", {"error": "boom"}, (502, "upstream")),
            ("code as text", {"error": {"code": "429", "message": "x"}}, (429, "rate_limited")),
            ("anthropic", {"type": "error", "error": {"type": "overloaded_error"}}, (503, "overloaded")),
            ("vllm", {"object": "error", "message": "bad", "code": 400}, (400, "bad_request")),
            ("gemini list", [{"error": {"code": 400, "message": "API key not valid"}}], (400, "auth")),
            ("too long", {"error": {"message": "maximum context length is 1"}}, (400, "context")),
            (
                "openrouter chunk",
                {"choices": [{}], "error": {"code": 502, "message": "x"}},
                (502, "upstream"),
            ),
            ("detail", {"detail": "no such"}, (502, "upstream")),
            ("not an object", "text", None),
        ]
        for name, event, expected in cases:
            with self.subTest(name):
                found = errors.in_stream(event, TARGET, now=NOW)
                self.assertEqual((found.status, found.kind) if found else None, expected)


class Seconds(unittest.TestCase):
    def test_shapes(self) -> None:
        for value, expected in [
            ("6m0s", 360.0),
            ("17ms", 0.017),
            ("4h17m", 15420.0),
            ("33011.38", 33011.38),
            ("2026-11-30T00:53:21.123456789Z", 1.123456),
            (str(NOW + 5), 5.0),
            (str((NOW + 5) * 1000), 5.0),
            ("nan", None),
            ("inf", None),
            ("", None),
            ("1 s later", None),
        ]:
            with self.subTest(value):
                found = retry.seconds(value, NOW)
                if expected is None:
                    self.assertIsNone(found)
                else:
                    self.assertAlmostEqual(found or 0.0, expected, places=3)


if __name__ == "__main__":
    unittest.main()
