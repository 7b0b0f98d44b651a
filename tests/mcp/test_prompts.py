"""Ready-made questions: what they are told with, and in which words."""

import unittest

from metrics.mcp import prompts
from metrics.mcp.wire import Refused


class PromptsTest(unittest.TestCase):
    def words(self, name, **arguments):
        told = prompts.get(name, arguments)
        self.assertEqual([one["role"] for one in told["messages"]], ["user"])
        return told["messages"][0]["content"]["text"]

    def test_each_with_all_and_with_the_least(self):
        for told in prompts.listed():
            named = {one["name"]: f"<{one['name']} {{x}}>" for one in told["arguments"]}
            least = {one["name"]: named[one["name"]] for one in told["arguments"] if one["required"]}
            with self.subTest(told["name"]):
                for given in (named, least):
                    words = self.words(told["name"], **given)
                    for value in given.values():
                        self.assertIn(value, words)
                self.assertIn("a fitting collection", words)
                self.assertIn("verdict", words)

    def test_what_is_refused(self):
        cases = (
            ("none", {}, "there is no prompt 'none'"),
            (None, {}, "there is no prompt"),
            ("review_diff", {}, '"diff" is missing'),
            ("review_diff", {"diff": ""}, '"diff" is missing'),
            ("review_diff", {"diff": "x", "color": "y"}, '"color" is not an argument'),
            ("review_diff", {"diff": 5}, "an object of texts"),
            ("review_diff", ["x"], "an object of texts"),
        )
        for name, arguments, sentence in cases:
            with self.subTest(name=name, arguments=arguments), self.assertRaises(Refused) as refused:
                prompts.get(name, arguments)
            self.assertIn(sentence, refused.exception.message)


if __name__ == "__main__":
    unittest.main()
