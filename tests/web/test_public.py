import unittest

from metrics.records import Problem
from metrics.web import public

HERE = "https://bench.example.com"


class Address(unittest.TestCase):
    def test_what_counts(self) -> None:
        for env, wanted in (
            ({}, None),
            ({"BENCHWARMERS_PUBLIC_URL": " "}, None),
            ({"BENCHWARMERS_PUBLIC_URL": HERE}, HERE),
            ({"BENCHWARMERS_PUBLIC_URL": f" {HERE}/ "}, HERE),
            ({"BENCHWARMERS_PUBLIC_URL": "http://10.0.0.2:8122"}, "http://10.0.0.2:8122"),
            ({"RENDER_EXTERNAL_URL": "https://b.onrender.com"}, "https://b.onrender.com"),
            ({"RAILWAY_PUBLIC_DOMAIN": "b.up.railway.app"}, "https://b.up.railway.app"),
            ({"FLY_APP_NAME": "b"}, "https://b.fly.dev"),
            ({"FLY_APP_NAME": "b", "BENCHWARMERS_PUBLIC_URL": HERE}, HERE),
        ):
            with self.subTest(env):
                self.assertEqual(public.address(env), wanted)

    def test_what_does_not_says_why(self) -> None:
        for said, words in (
            ("bench.example.com", "such as https://"),
            ("ftp://bench.example.com", "such as https://"),
            ("https://", "such as https://"),
            ("https://bench:port", "such as https://"),
            ("https://me:pw@bench.example.com", "such as https://"),
            (f"{HERE}/bench", "without a path"),
            (f"{HERE}?a=b", "without a path"),
        ):
            with self.subTest(said), self.assertRaisesRegex(Problem, words):
                public.address({"BENCHWARMERS_PUBLIC_URL": said})


if __name__ == "__main__":
    unittest.main()
