"""Verdicts by the protocol, and which are owed."""

import unittest

from metrics.evidence import verdicts
from metrics.mcp import waits
from tests.mcp.stage import McpCase, a_key
from tests.provider import error, text


class JudgingTest(McpCase):
    def setUp(self):
        super().setUp()
        self.provider.script("one", text("it is one"))
        self.provider.script("two", error(400, "no"))
        self.seat("core", "one", "two")
        self.session = {"mcp-session-id": waits.minted()}

    def owed(self, arguments=None, **more):
        return [one["call"] for one in self.tool("pending_verdicts", arguments, **more)["pending"]]

    def test_a_verdict(self):
        call = self.asked()["to_judge"][0]
        given = {"call": call, "useful": True, "note": "right", "real": ["it is one"]}
        self.assertEqual(self.tool("verdict", given), {"call": call, "recorded": True})
        self.assertEqual(self.tool("verdict", given)["recorded"], False)
        self.assertEqual((verdicts.of(call)["useful"], verdicts.of(call)["by"]), (True, "local"))
        self.assertEqual(self.tool("verdict", {"call": call, "withdrawn": True})["recorded"], True)
        self.assertIsNone(verdicts.of(call))
        self.tool("verdict", {"call": call, "useful": False}, key=a_key("ci"))
        self.assertEqual(verdicts.of(call)["by"], "ci")

    def test_what_is_no_verdict(self):
        call = self.asked()["to_judge"][0]
        cases = (
            ({"call": call}, 'say "useful"'),
            ({"useful": True}, '"call" is missing'),
            ({"call": "p1", "useful": True}, "there is no call"),
            ({"call": call, "useful": "yes"}, '"useful" must be true or false'),
            ({"call": call, "useful": True, "real": "it"}, '"real" must be a list'),
            ({"call": call, "useful": True, "rael": ["it"]}, '"rael" is not a field'),
        )
        for arguments, sentence in cases:
            with self.subTest(arguments):
                self.assertIn(sentence, self.fails("verdict", arguments))
        refused = self.fails("verdict", {"call": call, "useful": True}, key=a_key(collections=("x",)))
        self.assertIn("does not open", refused)

    def test_what_is_owed(self):
        self.assertEqual(self.owed(), [])
        call = self.asked()["to_judge"][0]
        self.assertEqual(self.owed(), [call])  # who answered; not who failed
        self.assertEqual(self.owed({"collection": "other"}), [])
        self.assertEqual(self.owed(key=a_key("ci")), [])  # asked by somebody else
        self.tool("verdict", {"call": call, "useful": True})
        self.assertEqual(self.owed(), [])

    def test_a_session_owes_what_it_asked(self):
        before = self.asked()["to_judge"][0]
        told = self.tool("ask", {"collection": "core", "prompt": "x"}, headers=self.session)
        self.assertEqual(self.owed(headers=self.session), told["to_judge"])
        self.assertIn(before, self.owed())

    def test_a_hook_reminds_once(self):
        session = waits.minted()
        self.assertNotIn("decision", self.tool("pending_verdicts", {"session": session}))
        call = self.asked()["to_judge"][0]
        active = self.tool("pending_verdicts", {"session": session, "active": "true"})
        self.assertNotIn("decision", active)
        told = self.tool("pending_verdicts", {"session": session, "active": "false"})
        self.assertEqual(told["decision"], "block")
        self.assertIn(call, told["reason"])
        again = self.tool("pending_verdicts", {"session": session, "active": False})
        self.assertNotIn("decision", again)
        self.assertEqual(len(again["pending"]), 1)


if __name__ == "__main__":
    unittest.main()
