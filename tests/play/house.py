"""A bench in a temporary folder, in this process: models of a fake provider, seated as the tests need
them."""

import tempfile
import unittest
from pathlib import Path

from metrics.bench import collections, credentials, endpoints, moves, roster, settings
from metrics.bench.endpoints import Endpoint
from metrics.bench.roster import Model
from metrics.play.seating import Draw
from metrics.records import Request
from metrics.store import home
from tests.provider import Provider

BY = "test"
NOW = 1_796_000_000.25


class House(unittest.TestCase):
    """`self.provider` is a real server on loopback; `seat` puts models on the bench, in a collection."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        home.use(Path(folder))
        self.addCleanup(home.close)
        roster.clear_builtin()
        self.provider = self.enterContext(Provider())
        endpoints.save(Endpoint("fake", self.provider.base), BY)
        credentials.save("fake", "sk-test", BY)

    def add(self, *aliases, **facts):
        for alias in aliases:
            moves.add(Model(alias, "fake", alias, **facts), BY)

    def seat(self, name, *members, explorers=0, **edits):
        known = roster.all()
        self.add(*(alias for alias in members if alias not in known))
        return collections.save(name, {"members": list(members), "explorers": explorers, **edits}, BY)

    def settings(self, **edits):
        settings.save(edits, BY)


def request(collection="core", text="hello", reply="all", **more):
    messages = more.pop("messages", [{"role": "user", "content": text}])
    return Request(f"bench/{collection}", collection, reply, messages, **more)


def draw(seed=7, now=NOW):
    """Time and randomness as seating takes them: every draw of bits is `seed`."""
    return Draw(now, lambda bits: seed)
