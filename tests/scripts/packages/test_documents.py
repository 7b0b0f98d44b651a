import unittest

from scripts.packages import documents

HELD = ("README.md", "docs/CLI.md", "docs/GATEWAY.md", "examples/analytics/README.md")

# (document, what stands there, what is shipped)
LINES = [
    ("README.md", "see [CLI](docs/CLI.md)", "see [CLI](docs/CLI.md)"),
    ("README.md", "see [CLI](docs/CLI.md#keys), [map](AGENTS.md).", "see [CLI](docs/CLI.md#keys), map."),
    ("README.md", "[the folder](examples/analytics)", "[the folder](examples/analytics)"),
    ("README.md", "[here](#limits) [web](https://example.org/a) [m](mailto:a@example.org)", None),
    ("README.md", "a ![picture](docs/pictures/ask.png) of it", "a  of it"),
    ("README.md", '<img alt="x" src="docs/pictures/ask.png" width="400"> it', " it"),
    ("README.md", '<img alt="x" src="https://example.org/ask.png"> it', None),
    (
        "docs/CLI.md",
        "[up](../README.md) [beside](GATEWAY.md#keys) [out](../deploy/fly.toml)",
        "[up](../README.md) [beside](GATEWAY.md#keys) out",
    ),
    (
        "docs/CLI.md",
        "[`bench ask`](ASKING.md) and `[code](AGENTS.md)`",
        "`bench ask` and `[code](AGENTS.md)`",
    ),
    ("README.md", "    [code](AGENTS.md)", None),
    ("README.md", "```\n[code](AGENTS.md)\n```\n[map](AGENTS.md)", "```\n[code](AGENTS.md)\n```\nmap"),
]


class TestShipped(unittest.TestCase):
    def test_links_that_lead_out_become_words(self):
        for path, text, expected in LINES:
            with self.subTest(text):
                told = documents.shipped(text, path, HELD)
                self.assertEqual(told, text if expected is None else expected)
                self.assertEqual(documents.astray(told, path, {*HELD, "examples/analytics"}), [])

    def test_a_document_above_the_folder(self):
        told = documents.shipped(
            "[CLI](docs/CLI.md#a) [map](AGENTS.md) [web](https://example.org)",
            "README.md",
            HELD,
            below="app/",
        )
        self.assertEqual(told, "[CLI](app/docs/CLI.md#a) map [web](https://example.org)")

    def test_what_is_astray_is_named(self):
        text = '[a](docs/CLI.md) [b](AGENTS.md) <img src="x.png"> `[c](d)`'
        self.assertEqual(documents.astray(text, "README.md", set(HELD)), ["AGENTS.md", "x.png"])
