"""The table of tools: every tool says what it takes, what it gives and what it changes."""

import unittest

from metrics.mcp import asking, judging, telling, tools

TAKEN = {
    "list_collections": {},
    "ask": asking.FORM,
    "verdict": judging.VERDICT,
    "pending_verdicts": judging.PENDING,
    "why": telling.CALL,
    "record": telling.RECORD,
    "usage": telling.USAGE,
}


class ToolsTest(unittest.TestCase):
    def test_the_schemas_name_what_the_tools_read(self):
        self.assertEqual(list(TAKEN), list(tools.TOOLS))
        for name, form in TAKEN.items():
            with self.subTest(name):
                schema = tools.TOOLS[name].takes
                self.assertEqual(set(schema["properties"]), set(form))
                self.assertLessEqual(set(schema["required"]), set(form))
                self.assertIs(schema["additionalProperties"], False)
        self.assertEqual(set(tools.FILE["properties"]), set(asking.FILE))

    def test_what_a_client_is_told(self):
        for told in tools.listed():
            with self.subTest(told["name"]):
                self.assertRegex(told["name"], r"\A[a-z_]{1,64}\Z")
                self.assertGreater(len(told["description"]), 60)
                self.assertEqual(told["inputSchema"]["type"], told["outputSchema"]["type"])
                self.assertLessEqual(
                    set(told["outputSchema"]["required"]), set(told["outputSchema"]["properties"])
                )
                self.assertIn("readOnlyHint", told["annotations"])
        reads = [told["name"] for told in tools.listed() if told["annotations"]["readOnlyHint"]]
        self.assertEqual(reads, ["list_collections", "pending_verdicts", "why", "record", "usage"])
        self.assertEqual(tools.listed(), tools.listed())

    def test_the_rules_are_told(self):
        for word in ("collection", "Verify", "Name every seat", "verdict"):
            self.assertIn(word, tools.INSTRUCTIONS)
            self.assertIn(word.lower(), tools.TOOLS["ask"].description.lower())


if __name__ == "__main__":
    unittest.main()
