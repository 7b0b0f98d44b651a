import unittest

from metrics.client import limits_said
from metrics.records import Stated, Target
from tests.client.refused import (
    ANTHROPIC,
    CEREBRAS,
    COHERE,
    GITHUB,
    GROQ,
    MISTRAL,
    NOW,
    OPENAI,
    SAMBANOVA,
    TOGETHER,
)


def target(host):
    return Target("a", "e:m", "e", "e", "m", f"https://{host}/v1")


# host, headers of a success, what they state: (metric, window, limit, remaining, seconds to its reset, kind)
SAID = [
    (OPENAI, {
        "x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59",
         "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-limit-tokens": "150000", "x-ratelimit-remaining-tokens": "149984",
         "x-ratelimit-reset-tokens": "6ms"},
     [("requests", "minute", 60, 59, 1.0, "bucket"), ("tokens", "minute", 150_000, 149_984, 0.006,
      "bucket")]),
    # the pace of its refill gives a day's window away
    (OPENAI, {"x-ratelimit-limit-requests": "10000", "x-ratelimit-remaining-requests": "9999",
     "x-ratelimit-reset-requests": "8.64s"},
     [("requests", "day", 10_000, 9999, 8.64, "")]),
    (GROQ, {
        "x-ratelimit-limit-requests": "14400", "x-ratelimit-remaining-requests": "14369",
         "x-ratelimit-reset-requests": "3m6s",
        "x-ratelimit-limit-tokens": "6000", "x-ratelimit-remaining-tokens": "5997",
         "x-ratelimit-reset-tokens": "30ms"},
     [("requests", "day", 14_400, 14_369, 186.0, "bucket"), ("tokens", "minute", 6000, 5997, 0.03,
      "bucket")]),
    (ANTHROPIC, {
        "anthropic-ratelimit-input-tokens-limit": "40000",
         "anthropic-ratelimit-input-tokens-remaining": "39000",
        "anthropic-ratelimit-input-tokens-reset": "2026-11-30T00:53:22Z",
         "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "49"},
     [("input_tokens", "minute", 40_000, 39_000, 2.0, "bucket"), ("requests", "minute", 50, 49, None,
      "bucket")]),
    (CEREBRAS, {
        "x-ratelimit-limit-requests-day": "14400", "x-ratelimit-remaining-requests-day": "14399",
        "x-ratelimit-reset-requests-day": "33011.38", "x-ratelimit-limit-tokens-minute": "60000",
        "x-ratelimit-remaining-tokens-minute": "59000", "x-ratelimit-reset-tokens-minute": "11.38"},
     [("requests", "day", 14_400, 14_399, 33_011.38, "bucket"), ("tokens", "minute", 60_000, 59_000, 11.38,
      "bucket")]),
    (MISTRAL, {
        "x-ratelimit-limit-req-minute": "720", "x-ratelimit-remaining-req-minute": "717",
         "x-ratelimit-tokens-query-cost": "52",
        "x-ratelimit-limit-tokens-minute": "5000000", "x-ratelimit-remaining-tokens-minute": "4999911"},
     [("requests", "minute", 720, 717, None, "fixed"), ("tokens", "minute", 5_000_000, 4_999_911, None,
      "fixed")]),
    (GITHUB, {"x-ratelimit-limit-requests": "20000", "x-ratelimit-remaining-requests": "19999",
     "x-ratelimit-renewalperiod-requests": "60"},
     [("requests", "minute", 20_000, 19_999, None, "")]),
    (COHERE, {"x-trial-endpoint-call-limit": "20", "x-trial-endpoint-call-remaining": "19",
     "x-endpoint-monthly-call-limit": "1000"},
     [("requests", "minute", 20, 19, None, "rolling"), ("requests", "month", 1000, None, None,
      "calendar")]),
    (TOGETHER, {"x-ratelimit-limit": "10", "x-ratelimit-remaining": "9", "x-ratelimit-reset": "1",
     "x-tokenlimit-limit": "3000",
                "x-tokenlimit-remaining": "2990"},
     [("requests", "second", 10, 9, 1.0, ""), ("tokens", "second", 3000, 2990, None, "")]),
    (SAMBANOVA, {"x-ratelimit-limit-requests": "20", "x-ratelimit-remaining-requests": "19",
     "x-ratelimit-reset-requests": str(int(NOW) + 60),
                 "x-ratelimit-limit-requests-day": "400", "x-ratelimit-remaining-requests-day": "399"},
     [("requests", "minute", 20, 19, 60.0, ""), ("requests", "day", 400, 399, None, "")]),
    ("api.fireworks.ai", {"x-ratelimit-limit-tokens-prompt": "60000",
     "x-ratelimit-remaining-tokens-prompt": "59000",
                          "x-ratelimit-limit-tokens-cache-adjusted-prompt": "1"},
     [("input_tokens", "unknown", 60_000, 59_000, None, "")]),
    ("proxy.example", {"ratelimit": '"default";r=50;t=30', "ratelimit-policy": '"default";q=100;w=60'},
     [("requests", "minute", 100, 50, 30.0, "")]),
    ("proxy.example", {"ratelimit": '"burst";r=5;t=1, "day";r=900;t=4000',
     "ratelimit-policy": '"burst";q=10;w=10, "day";q=1000;w=86400'},
     [("requests", "10s", 10, 5, 1.0, ""), ("requests", "day", 1000, 900, 4000.0, "")]),
    ("proxy.example", {"ratelimit-limit": "100, 100;w=60", "ratelimit-remaining": "50",
     "ratelimit-reset": "30"},
     [("requests", "unknown", 100, 50, 30.0, "")]),
    ("proxy.example", {"x-ratelimit-limit-requests": "5", "x-ratelimit-remaining-requests": ""},
     [("requests", "unknown", 5, None, None, "")]),
    # what says nothing
    ("proxy.example", {"content-type": "text/plain", "x-request-id": "r"}, []),
    ("proxy.example", {"x-ratelimit-remaining-requests": "", "x-ratelimit-limit-tokens": "many",
     "x-limit-something": "4"}, []),
    ("proxy.example", {"x-ratelimit-reset-requests": "3m6s"}, []),
]  # fmt: skip


class LimitsSaidTest(unittest.TestCase):
    def test_headers_of_every_provider(self):
        for host, headers, expected in SAID:
            with self.subTest(host, headers=headers):
                found = limits_said.in_headers(headers, target(host), NOW)
                told = [
                    (
                        one.metric,
                        one.window,
                        one.limit,
                        one.remaining,
                        None if one.reset is None else round(one.reset - NOW, 3),
                        one.kind,
                    )
                    for one in found
                ]
                self.assertEqual(told, expected)

    def test_a_window_that_words_name_belongs_to_the_header_that_leaves_it_open(self):
        header = Stated("requests", "unknown", 20, 0, NOW + 5)
        named = Stated("requests", "day", None, 0, None, "fixed")
        self.assertEqual(
            limits_said.merged([header], [named]), (Stated("requests", "day", 20, 0, NOW + 5, "fixed"),)
        )
        other = Stated("tokens", "minute", 10, 4, NOW + 5)
        self.assertEqual(limits_said.merged([other], [named]), (other, named))
        self.assertEqual(limits_said.merged([other], [Stated("tokens", "minute", None, 0)]), (other,))

    def test_a_number_that_no_limit_has_says_nothing(self):
        for number in ("9" * 400, "\xb2", "nan", "1e999"):
            for headers in (
                {"x-ratelimit-remaining-requests": number},
                {"ratelimit": f'"default";r={number};t={number}'},
                {"ratelimit": f"limit={number}, remaining={number}, reset={number}"},
            ):
                found = limits_said.in_headers(headers, target(OPENAI), NOW)
                with self.subTest(headers=str(headers)[:60]):
                    self.assertTrue(all(one.remaining in (None, 1) for one in found), found)
            message = f"Requests per minute (actual/limit): {number}/{number}; limit of {number} concurrent"
            for one in limits_said.in_body({}, message, target(OPENAI), NOW):
                self.assertIsNone(one.limit)

    def test_bodies_of_any_shape_are_no_trouble(self):
        for body in (
            None,
            [],
            "no",
            5,
            {"violations": 3},
            {"error": {"details": [{"violations": ["x", None]}]}},
        ):
            with self.subTest(body):
                self.assertEqual(limits_said.in_body(body, "", target(OPENAI), NOW), ())


if __name__ == "__main__":
    unittest.main()
