import re
import unittest

from metrics.play.practice import reviewers
from metrics.play.practice.lint.checks import CHECKS, KINDS
from tests.play.practice.conversations import EXAMPLE, ask, example

ITEM = re.compile(r"\d+\. `([^`]+):(\d+)` \*\*([^*]+)\*\*: .+")


def items(text: str) -> list[tuple[str, int, str]]:
    """The claims of an answer, as a page would find them."""
    found = (ITEM.fullmatch(line) for line in text.split("\n"))
    return [(match[1], int(match[2]), match[3]) for match in found if match]


# Mistakes whose reason names another line.
MISTAKES = {
    "mutable default argument": "def f(x=[]):\n    x.append(1)\n    return x",
    "duplicate key": "d = {\n    'a': 1,\n    'a': 2,\n}",
    "duplicate condition": "if a.b == 1:\n    pass\nelif a.b == 1:\n    print(2)",
    "unreachable code": "def f():\n    return 1\n    print(2)",
    "missing return": "def f(x):\n    if x:\n        return 1\n    print(x)",
    "changed while iterating": "def f(xs):\n    for x in xs:\n        xs.remove(x)",
    "handler never reached": "try:\n    a()\nexcept Exception:\n    raise\nexcept ValueError:\n    a.b()",
    "duplicate definition": "def f():\n    return 1\ndef f():\n    return 2",
    "shadowed builtin": "def f(x):\n    list = x\n    return list(x)",
}


class Lint(unittest.TestCase):
    def test_the_example(self):
        found = items(reviewers.lint(ask(example())).text)
        self.assertEqual(found[0], ("pricing.py", 12, "mutable default argument"))
        self.assertEqual(len(found), 10)
        self.assertEqual(EXAMPLE.read_text(encoding="utf-8").split("\n")[11][:12], "def add_item")

    def test_several_files_most_severe_first(self):
        text = "File: a.py\n```python\nx = 1 == None\n```\nFile: b.py\n```python\nassert (1, 'y')\n```"
        answer = reviewers.lint(ask(text)).text
        self.assertEqual([(file, line) for file, line, _ in items(answer)], [("b.py", 1), ("a.py", 1)])
        self.assertTrue(answer.startswith("Read `a.py` (1 line), `b.py` (1 line): 2 findings."), answer)

    def test_a_syntax_error(self):
        answer = reviewers.lint(ask("File: a.py\n```python\nx = 1\ndef f(:\n    pass\n```")).text
        self.assertEqual(items(answer), [("a.py", 2, "syntax error")])

    def test_a_diff_counts_its_added_lines(self):
        diff = "--- a/s.py\n+++ b/s.py\n@@ -7,2 +7,3 @@\n a == None\n+b == None\n c == None\n"
        self.assertEqual(items(reviewers.lint(ask(diff)).text), [("s.py", 8, "comparison with None")])

    def test_numbers_in_sentences_are_the_files_too(self):
        """Each kind is told of a hunk as of the whole file, only so many lines further down."""
        number = re.compile(r"\bline (\d+)")
        for kind, before in MISTAKES.items():
            with self.subTest(kind):
                lines = before.split("\n")
                added = "\n".join("+" + line for line in lines)
                diff = (
                    f"--- a/s.py\n+++ b/s.py\n@@ -41,2 +41,{len(lines) + 2} @@\n import a\n{added}\n c(a)\n"
                )
                alone, moved = reviewers.lint(ask(f"```python\n{before}\n```")), reviewers.lint(ask(diff))
                self.assertIn(("s.py", kind), [(file, found) for file, _, found in items(moved.text)])
                told = next(line for line in alone.text.split("\n") if f"**{kind}**" in line)
                again = next(line for line in moved.text.split("\n") if f"**{kind}**" in line)
                said = [int(found) + 41 for found in number.findall(told)]
                self.assertTrue(said, told)
                self.assertEqual(list(map(int, number.findall(again))), said)

    def test_missing_return_in_a_diff(self):
        head = "--- a/s.py\n+++ b/s.py\n@@ -7,4 +7,{} @@\n"
        whole = " def f(x):\n+    if x:\n+        return 1\n     print(x)\n"
        cases = (
            (whole + " y = f(1)\n z = 2\n", True),  # the next statement shows where it ends
            (whole, False),  # it may go on
            (whole.replace("     print(x)\n", "+    print(x)\n"), True),  # nothing follows: the file's end
            (whole.replace("+", " ").replace(" z = 2", "+z = 2") + " y = f(1)\n+z = 2\n", False),
        )
        for body, found in cases:
            with self.subTest(body):
                diff = head.format(body.count("\n")) + body
                kinds = [kind for _, _, kind in items(reviewers.lint(ask(diff)).text)]
                self.assertEqual("missing return" in kinds, found)

    def test_lint_and_counter_count_alike(self):
        diff = "--- a/s.py\n+++ b/s.py\n@@ -7,3 +7,4 @@\n     a = 1\n+    b = None\n+    c = 2\n d = 3\n\n"
        for text, size in ((diff, "4 lines of a diff, 2 added"), ("```python\nx = 1\n\n\n```", "3 lines")):
            for reviewer in (reviewers.lint, reviewers.count):
                with self.subTest(size, reviewer=reviewer.__name__):
                    self.assertIn(size, reviewer(ask(text)).text)

    def test_nothing_found_claims_nothing(self):
        answer = reviewers.lint(ask("```python\nx = 1\n```")).text
        self.assertEqual(items(answer), [])
        self.assertIn("does not prove it right", answer)

    def test_no_code(self):
        answer = reviewers.lint(ask("What is love?")).text
        self.assertIn("no Python", answer)
        self.assertIn("bench ask core -f", answer)
        self.assertTrue(all(kind in answer for kind in KINDS))

    def test_what_was_not_read_is_said(self):
        image = {"type": "image_url", "image_url": {"url": "data:,"}}
        text = {"type": "text", "text": "```js\nlet x\n```\n```python\nx = 1  # noqa\nx == None  # noqa\n```"}
        answer = reviewers.lint(ask({"role": "user", "content": [text, image]})).text
        for words in (
            "Not read: a block of js.",
            "The image was not looked at",
            "1 on lines marked `# noqa`",
        ):
            self.assertIn(words, answer)

    def test_names_cannot_break_the_markdown(self):
        answer = reviewers.lint(ask("File: a`b*.py\n```python\n1 == None\n```")).text
        self.assertEqual(items(answer), [("a'b*.py", 1, "comparison with None")])

    def test_there_are_many_kinds(self):
        self.assertGreaterEqual(len(KINDS), 16)

    def test_the_table_begins_with_what_is_worst(self):
        severities = [check.severity for check in CHECKS]
        self.assertEqual(severities, sorted(severities))

    def test_a_long_list_is_cut_and_said_so(self):
        answer = reviewers.lint(ask("```python\n" + "x == None\n" * 60 + "```")).text
        self.assertEqual(len(items(answer)), 40)
        self.assertIn("20 more", answer)


class Others(unittest.TestCase):
    def test_terse_says_one_thing(self):
        answer = reviewers.terse(ask(example())).text
        self.assertNotIn("\n", answer)
        self.assertTrue(answer.startswith("`pricing.py:12` **mutable default argument**"), answer)
        self.assertIn("Nothing found", reviewers.terse(ask("```python\nx = 1\n```")).text)
        self.assertIn("no Python", reviewers.terse(ask("hello")).text)

    def test_paranoid_agrees_on_the_example_and_goes_on(self):
        found = items(reviewers.suspicious(ask(example())).text)
        self.assertIn(("pricing.py", 12, "mutable default?"), found)
        self.assertIn(("pricing.py", 27, "magic number?"), found)
        self.assertIn("no Python", reviewers.suspicious(ask("hello")).text)

    def test_paranoid_is_bounded(self):
        answer = reviewers.suspicious(ask("```python\n" + "x = y[z]\n" * 100 + "```")).text
        self.assertEqual(len(items(answer)), 25)
        self.assertIn("75 more", answer)

    def test_counter(self):
        answer = reviewers.count(ask(example())).text
        self.assertIn("**pricing.py**: 55 lines", answer)
        self.assertIn("| `discount` | `pricing.py:24` | 4 |", answer)
        self.assertIn("2 words", reviewers.count(ask("hello there")).text)
        self.assertIn("**a.md**: 3 words", reviewers.count(ask("File: a.md\n```md\na b c\n```")).text)
