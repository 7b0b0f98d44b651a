"""Setting one table in somebody else's TOML."""

import tomllib
import unittest

from metrics.commands import toml_table
from metrics.commands.jsonc import Unreadable

PATH = ("mcp_servers", "bench")
VALUE = {"url": "U", "tool_timeout_sec": 900}
TABLE = '[mcp_servers.bench]\nurl = "U"\ntool_timeout_sec = 900\n'

# name, before, after
CASES = (
    ("no file", "", TABLE),
    ("other settings", 'model = "m" # mine\n', f'model = "m" # mine\n\n{TABLE}'),
    ("no line end", "a = 1", f"a = 1\n\n{TABLE}"),
    ("Windows' line ends", "a = 1\r\n", "a = 1\r\n\r\n" + TABLE.replace("\n", "\r\n")),
    (
        "an old entry between others",
        '[mcp_servers.a]\nurl = "A"\n\n# the bench\n[mcp_servers.bench]  # here\nurl = "old"\n'
        "\n# b\n[other]\nx = 1\n",
        f'[mcp_servers.a]\nurl = "A"\n\n# the bench\n{TABLE}\n# b\n[other]\nx = 1\n',
    ),
    ("an old entry at the end", '[mcp_servers."bench"]\nurl = "old"', TABLE),
    ("an empty one", "[mcp_servers.bench]\n[x]\n", f"{TABLE}[x]\n"),
)


class EditedTest(unittest.TestCase):
    maxDiff = None

    def test_the_rest_stays(self):
        for name, before, after in CASES:
            with self.subTest(name):
                self.assertEqual(toml_table.edited(before, PATH, VALUE), after)
                self.assertEqual(toml_table.edited(after, PATH, VALUE), after)
                self.assertEqual(tomllib.loads(after)["mcp_servers"]["bench"], VALUE)

    def test_what_is_refused(self):
        cases = (
            ("a = ", "Invalid value"),
            ('mcp_servers = {bench = {url = "old"}}\n', "in a way that is not edited here"),
            ('[mcp_servers]\nbench.url = "old"\n', "in a way that is not edited here"),
            ('[mcp_servers.bench]\nurl = "old"\n[mcp_servers.bench.env]\nA = "1"\n', "not edited here"),
            ("[[mcp_servers]]\nx = 1\n", "in a way that is not edited here"),
            ('x = """\n[mcp_servers.bench]\n"""\n[mcp_servers.bench]\nurl = "old"\n', "not edited here"),
        )
        for text, words in cases:
            with self.subTest(text), self.assertRaises(Unreadable) as refused:
                toml_table.edited(text, PATH, VALUE)
            self.assertIn(words, str(refused.exception))

    def test_values_and_names(self):
        value = {"command": 'a "b" \\ ü', "args": ["--url", "x"], "enabled": True}
        text = toml_table.edited("", ("mcp_servers", "my bench"), value)
        self.assertEqual(tomllib.loads(text), {"mcp_servers": {"my bench": value}})


if __name__ == "__main__":
    unittest.main()
