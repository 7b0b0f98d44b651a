import ast
import unittest

from metrics.play.practice.lint import checks, finding, tree
from metrics.play.practice.source import Source


def source(text):
    return Source("a.py", text)


class ChecksTest(unittest.TestCase):
    def test_a_finding_names_file_line_and_kind(self):
        (found,) = checks.review(source("def f(x=[]):\n    return x\n")).findings
        self.assertIsInstance(found, finding.Finding)
        self.assertTrue(found.item.startswith("`a.py:1` **mutable default argument**: "))

    def test_noqa_is_counted_and_left_out(self):
        review = checks.review(source("def f(x=[]):  # noqa\n    return x\n"))
        self.assertEqual(review.findings, ())
        self.assertIn("1 on lines marked", review.notes[0])

    def test_what_does_not_parse_is_one_finding(self):
        (found,) = checks.review(source("def f(:\n")).findings
        self.assertEqual(found.line, 1)

    def test_past_its_budget_it_says_where_it_stopped(self):
        review = checks.review(source("x = 1\n" * 100), budget=50)
        self.assertIn("read up to line", review.notes[0])

    def test_there_are_many_kinds_and_each_says_why(self):
        self.assertGreaterEqual(len(checks.KINDS), 12)
        for check in checks.CHECKS:
            with self.subTest(check.kind):
                self.assertTrue(check.why)
                self.assertNotRegex(check.kind, r"[*_`<\[]", "it stands in Markdown as it is")


class TreeTest(unittest.TestCase):
    DOTTED = [("a.b.c", "a.b.c"), ("a", "a"), ("f().x", ""), ("1", "")]

    def test_dotted_names(self):
        for text, name in self.DOTTED:
            with self.subTest(text):
                self.assertEqual(tree.dotted(ast.parse(text, mode="eval").body), name)

    def test_same(self):
        for left, right, alike in (("a.b", "a.b", True), ("a.b", "a.c", False), ("f(1)", "f( 1 )", True)):
            with self.subTest(left):
                self.assertEqual(tree.same(ast.parse(left), ast.parse(right)), alike)
