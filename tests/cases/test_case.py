import unittest

from tests.cases.case import filled, load, runs


class CaseTest(unittest.TestCase):
    def test_variants_and_formats_are_runs(self):
        case = {
            "format": "openai-chat",
            "request": {"path": "/p$VARIANT", "body": {"messages": [{"role": "user", "content": "x"}]}},
            "upstream": {"respond": ["$VARIANT", 5]},
            "expect": {
                "status": 200,
                "contains": ["a"],
                "variants": [
                    {"send": "s", "contains": ["b"], "status": [400]},
                    {"name": "list", "send": [1, 2], "later": "then", "request_headers": {"H": "v"}},
                    {"patch": {"upstream.respond.0": "p", "base": "/v1"}},
                ],
                "also": {"gemini": {"assembled": {"text": "fine"}}},
            },
        }
        made = runs(case)
        self.assertEqual([run.label for run in made], ["s", "list", "null", "gemini"])
        self.assertEqual([run.later for run in made], [None, "then", None, None])
        first, second, third, other = [run.case for run in made]
        self.assertEqual(first["expect"], {"status": [400], "contains": ["a", "b"]})
        self.assertEqual((first["request"]["path"], first["upstream"]["respond"]), ("/ps", ["s", 5]))
        self.assertEqual(second["upstream"]["respond"], [1, 2, 5])
        self.assertEqual(
            (second["request"]["headers"], second["request"]["path"]), ({"H": "v"}, "/p$VARIANT")
        )
        self.assertEqual((third["upstream"]["respond"], third["base"]), (["p", 5], "/v1"))
        self.assertIn("contents", other["request"]["body"])
        self.assertEqual(other["expect"], {"status": 200, "assembled": {"text": "fine"}})
        self.assertEqual(case["upstream"]["respond"], ["$VARIANT", 5])

    def test_placeholders(self):
        names = {"UP": 7, "UPSTREAM_KEY": "k"}
        self.assertEqual(filled({"$UP": ["$UPSTREAM_KEY/$UP", 1]}, names), {"7": ["k/7", 1]})

    def test_every_case_says_what_it_is_about(self):
        found = load()
        self.assertEqual(len({case["id"] for case in found}), len(found))
        for case in found:
            with self.subTest(case["id"]):
                self.assertTrue(case["title"] and case["area"] and case["why"] and case["expect"])
                self.assertTrue(runs(case))

    def test_names(self):
        self.assertEqual([case["id"] for case in load(["003"])], ["003"])
        self.assertEqual({case["area"] for case in load(["ollama"])}, {"ollama", "native-ollama"})
        with self.assertRaises(LookupError):
            load(["no-such-case"])
