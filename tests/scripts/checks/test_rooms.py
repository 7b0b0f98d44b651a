import unittest

from scripts.checks import rooms
from tests.scripts.trees import broken, tree

# name of the rule, files that break it, what the problem must say
BREACHES = [
    ("every room stands in the order", {"metrics/attic/a.py": ""}, "'attic' has no place"),
    (
        "no room uses one below it",
        {"metrics/store/a.py": "from metrics.play import panel\n", "metrics/play/panel.py": ""},
        "metrics/store/a.py:1 imports metrics.play.panel: play stands below store",
    ),
    (
        "no room uses one below it",
        {"metrics/web/a.py": "def late():\n    import metrics.mcp\n", "metrics/mcp.py": ""},
        "metrics/web/a.py:2 imports metrics.mcp",
    ),
    (
        "no room uses one below it",
        {"metrics/records.py": "from metrics import events\n", "metrics/events.py": ""},
        "events",
    ),
    (
        "no room uses one below it",
        {"suite/a.py": "import metrics.care.probes\n", "metrics/care/probes.py": ""},
        "care",
    ),
    (
        "no room uses one below it",
        {"metrics/a/b.py": "", "metrics/bench/c.py": "import scripts.x\n"},
        "scripts.x",
    ),
    (
        "no imports in a circle",
        {
            "metrics/store/a.py": "from metrics.store.b import x\n",
            "metrics/store/b.py": "from metrics.store import c\n",
            "metrics/store/c.py": "from metrics.store import a\n",
        },
        "metrics.store.a imports metrics.store.b imports metrics.store.c imports metrics.store.a: a circle",
    ),
    (
        "formats/ and client/ stay apart",
        {"metrics/formats/a.py": "from metrics.client import chat\n", "metrics/client/chat.py": ""},
        "never import each other",
    ),
    (
        "commands/ are clients of a server",
        {"metrics/commands/models.py": "from metrics.bench import roster\n", "metrics/bench/roster.py": ""},
        "asks the server",
    ),
    (
        "commands/ are clients of a server",
        {"metrics/commands/log.py": "import metrics.store.log\n"},
        "metrics.store.log",
    ),
    (
        "only web/http.py and client/transport.py touch sockets",
        {"metrics/play/a.py": "import socket\n"},
        "touch sockets",
    ),
    (
        "only web/http.py and client/transport.py touch sockets",
        {"serve.py": "from http import server\n"},
        "http.server",
    ),
    (
        "only web/http.py and client/transport.py touch sockets",
        {"metrics/a.py": "import urllib.request\n"},
        "urllib",
    ),
    ("only the standard library is imported", {"metrics/client/a.py": "import requests\n"}, "requests"),
    ("only the standard library is imported", {"tests/test_a.py": "import pytest\n"}, "pytest"),
    ("imports are absolute", {"metrics/store/a.py": "from . import b\n"}, "relatively"),
    ("imports are absolute", {"metrics/store/a.py": "from os import *\n"}, "imports *"),
    ("no module hides one of the standard library", {"queue.py": ""}, "'queue' is one of Python's own"),
    ("no module hides one of the standard library", {"json/__init__.py": "", "json/a.py": ""}, "'json'"),
    (
        "no module hides one of the standard library",
        {"scripts/x/run.py": "if __name__ == '__main__':\n    pass\n", "scripts/x/token.py": ""},
        "'token'",
    ),
]

KEPT = {
    "metrics/records.py": "import dataclasses\n",
    "metrics/events.py": "from metrics.records import Problem\n",
    "metrics/store/files.py": "import json\nfrom metrics.store import home\n",
    "metrics/store/home.py": "",
    "metrics/client/transport.py": "import socket, ssl\n",
    "metrics/web/http.py": "import http.server\n",
    "metrics/web/queue.py": "from http import HTTPStatus\nfrom urllib.parse import quote\n",
    "metrics/commands/ask.py": "from metrics.client import transport\nfrom metrics.commands import words\n",
    "metrics/commands/words.py": "",
    "metrics/commands/init.py": "from metrics.store import home\n",
    "metrics/play/panel.py": "from metrics.client import transport\n",
    "serve.py": "import gateway\n",
    "gateway.py": "from metrics.play import panel\n",
    "scripts/check.py": "import socket\nimport serve\n",
    "tests/clients/run_x.py": "import openai\n",
    "tests/test_gateway.py": "import http.client\nfrom metrics.play import panel\n",
}


class TestRooms(unittest.TestCase):
    def test_each_breach_is_found_and_named(self):
        for name, files, says in BREACHES:
            with self.subTest(rule=name, files=list(files)), tree(files) as found:
                problems = broken(rooms.checks(found))
                self.assertIn(says, problems.get(name, "nothing"))

    def test_what_keeps_the_rules_is_left_alone(self):
        with tree(KEPT) as found:
            self.assertEqual(broken(rooms.checks(found)), {})

    def test_rooms(self):
        cases = [
            ("metrics.store.files", "store"),
            ("metrics.records", "records"),
            ("metrics", None),
            ("serve", "serve"),
            ("json", None),
        ]
        for name, expected in cases:
            with self.subTest(name):
                self.assertEqual(rooms.room(name), expected)

    def test_a_broken_module_is_passed_by(self):
        with tree({"metrics/store/a.py": "import metrics.play (\n"}) as found:
            self.assertEqual(broken(rooms.checks(found)), {})
