import json
import unittest
from json import encoder
from unittest import mock

from metrics import compact

VALUES = [
    None,
    True,
    5,
    10**40,
    -0.0,
    1e300,
    "",
    'a "quote", a \\ and a line\n',
    "棚\u2028🧰\ud83e",
    [],
    {},
    {"a": [1, {"b": (2.5, None)}], "": {"ünï": False}},
    {7: "a", 2.5: "b", None: "c", True: "d"},
]
REFUSED = [
    (float("nan"), ValueError),
    ([float("inf")], ValueError),
    ({"a": object()}, TypeError),
    ({(1, 2): 3}, TypeError),
]


def deep(levels: int) -> list:
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


class WriterTest(unittest.TestCase):
    def test_it_writes_what_pythons_own_would(self):
        for ascii_only in (False, True):
            write = compact.writer(ascii_only=ascii_only)
            for value in VALUES:
                with self.subTest(value, ascii_only=ascii_only):
                    own = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
                    self.assertEqual([write(value), write(value)], [own, own])

    def test_what_is_no_json_is_refused(self):
        write = compact.writer()
        for value, error in [*REFUSED, (deep(200_000), RecursionError)]:
            with self.subTest(error), self.assertRaises(error):
                write(value)
        self.assertEqual(write([1]), "[1]")

    def test_without_an_encoder_in_c(self):
        with mock.patch.object(encoder, "c_make_encoder", None):
            write = compact.writer()
            self.assertEqual(write({"a": [1, "é"]}), '{"a":[1,"é"]}')
            for value, error in REFUSED:
                with self.subTest(error), self.assertRaises(error):
                    write(value)
