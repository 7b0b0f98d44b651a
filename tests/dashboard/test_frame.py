import json
import unittest

from metrics.dashboard import frame
from metrics.records import Problem
from metrics.web.table import Call


class Frame(unittest.TestCase):
    def test_refused(self) -> None:
        problem = Problem(429, "wait", param="name", retry_after=6.2, headers=(("X-A", "b"),))
        response = frame.refused(problem, None)
        self.assertEqual(response.status, 429)
        assert isinstance(response.body, bytes)
        self.assertEqual(
            json.loads(response.body),
            {
                "ok": False,
                "errors": ["wait"],
                "error": {"message": "wait", "kind": "rate_limited", "param": "name"},
            },
        )
        self.assertEqual(dict(response.headers)["Retry-After"], "7")
        self.assertEqual(dict(response.headers)["X-A"], "b")

    def test_page(self) -> None:
        cases: list[tuple[str, int | None]] = [
            ("", 50),
            ("?limit=", 50),
            ("?limit=7", 7),
            ("?limit=100", 100),
            ("?limit=101", None),
            ("?limit=100000000000", None),
            ("?limit=0", None),
            ("?limit=-1", None),
            ("?limit=x", None),
            ("?limit=%C2%B2", None),
        ]
        for query, expected in cases:
            with self.subTest(query):
                call = Call("GET", "/api/log" + query)
                if expected is None:
                    self.assertRaises(Problem, frame.page, call)
                else:
                    self.assertEqual(frame.page(call), expected)

    def test_moment(self) -> None:
        self.assertEqual(frame.moment(0.5), "1970-01-01T00:00:00.500Z")
        self.assertIsNone(frame.moment(None))


if __name__ == "__main__":
    unittest.main()
