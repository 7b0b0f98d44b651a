"""Panels and records as documents, and whose they are."""

import json
import unittest

from metrics.evidence import panels
from metrics.mcp import wire
from tests.mcp.stage import McpCase, a_key, message, modern

ROW = {"at": "2026-11-30T12:00:00.000Z", "collection": "core", "seats": [], "task": "secret"}


class ResourcesTest(McpCase):
    def setUp(self):
        super().setUp()
        self.seat("core", "one")

    def read(self, uri, **more):
        contents = self.result("resources/read", {"uri": uri}, **more)["contents"]
        self.assertEqual([(one["uri"], one["mimeType"]) for one in contents], [(uri, "application/json")])
        return json.loads(contents[0]["text"])

    def test_a_panel(self):
        told = self.asked()
        uri = f"bench://panel/{told['panel']}"
        panel = self.read(uri)
        self.assertEqual(panel["body"]["messages"][0]["content"], "hello")
        self.assertEqual(list(panel["body"]["answers"]), [told["seats"][0]["call"]])
        listed = self.result("resources/list")["resources"]
        self.assertEqual([one["uri"] for one in listed], ["bench://collection/core/record", uri])
        self.assertEqual(listed[1]["title"], "hello")

    def test_a_panel_is_for_whoever_asked_it(self):
        theirs = f"bench://panel/{self.asked(key=a_key('ci'))['panel']}"
        ours = f"bench://panel/{self.asked()['panel']}"
        self.read(theirs, key=a_key("ci"))
        for uri, key in ((theirs, None), (ours, a_key("ci")), (theirs, a_key("ci", collections=("x",)))):
            asked = message("resources/read", {"uri": uri})
            self.assertIn("that you asked", self.refused(asked, wire.NO_RESOURCE, key=key))
        listed = self.result("resources/list", key=a_key("ci"))["resources"]
        self.assertEqual([one["uri"] for one in listed], ["bench://collection/core/record", theirs])
        scoped = self.result("resources/list", key=a_key("x", collections=("x",)))
        self.assertEqual(scoped["resources"], [])

    def test_what_was_asked_elsewhere_without_a_key_is_not_shown(self):
        panels.record({"panel": "p20261130-120000-0a1b2c3d", "key": "local", "format": "bench", **ROW})
        panels.record({"panel": "p20261130-120000-0a1b2c3e", "key": "ci", "format": "bench", **ROW})
        self.refused(message("resources/read", {"uri": "bench://panel/p20261130-120000-0a1b2c3d"}), -32002)
        self.assertEqual(len(self.result("resources/list")["resources"]), 1)
        self.assertIn("panel", self.read("bench://panel/p20261130-120000-0a1b2c3e", key=a_key("ci")))

    def test_a_record(self):
        self.assertEqual(self.read("bench://collection/core/record")["collection"], "core")
        closed = message("resources/read", {"uri": "bench://collection/core/record"})
        self.refused(closed, wire.NO_RESOURCE, key=a_key(collections=("x",)))

    def test_what_is_not_there(self):
        for uri in ("bench://panel/p1", "bench://collection/none/record", "file:///x", "bench://panel/"):
            with self.subTest(uri):
                self.refused(message("resources/read", {"uri": uri}), wire.NO_RESOURCE)
                posted, headers = modern("resources/read", {"uri": uri})
                self.refused(posted, wire.INVALID_PARAMS, 400, headers=headers)
        for uri in (None, 5, []):
            self.refused(message("resources/read", {"uri": uri}), wire.INVALID_PARAMS)

    def test_the_templates(self):
        told = self.result("resources/templates/list")["resourceTemplates"]
        self.assertEqual([one["name"] for one in told], ["panel", "record"])


if __name__ == "__main__":
    unittest.main()
