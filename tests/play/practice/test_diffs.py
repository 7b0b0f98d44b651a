import unittest

from metrics.play.practice import diffs

DIFF = """diff --git a/shop.py b/shop.py
--- a/shop.py
+++ b/shop.py
@@ -10,3 +10,4 @@ def total(basket):
     \"\"\"The sum.\"\"\"
-    return sum(basket)
+    if basket == None:
+        return 0
     return sum(basket)
"""


class DiffsTest(unittest.TestCase):
    def test_what_is_a_diff(self):
        self.assertTrue(diffs.is_diff(DIFF))
        for text in ("", "x = 1", "--- a rule\n+++ of thumb", "- a\n- list\n+ of\n"):
            with self.subTest(text):
                self.assertFalse(diffs.is_diff(text))

    def test_the_new_side_under_its_own_line_numbers(self):
        (hunk,) = diffs.hunks(DIFF)
        found, _ = diffs.sources(DIFF)
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0].name, "shop.py")
        self.assertIn("if basket == None:", found[0].text)
        self.assertNotIn("-    return", found[0].text)
        self.assertIsNotNone(hunk)

    def test_where_the_file_ends(self):
        head = "--- a/s.py\n+++ b/s.py\n@@ -7,2 +7,3 @@\n"
        cases = (
            (" a\n+b\n c\n", False),
            (" a\n+b\n c\n\n", False),  # the empty line is not the hunk's
            (" a\n c\n+b\n", True),
            (" a\n-x\n+b\n c\n\\ No newline at end of file\n", True),
            ("+b\n c\n", False),
        )
        for body, last in cases:
            with self.subTest(body):
                (source,), _ = diffs.sources(head + body)
                self.assertEqual(source.last, last)

    def test_its_own_lines(self):
        (source,), _ = diffs.sources("--- a/s.py\n+++ b/s.py\n@@ -7,2 +7,3 @@\n     a\n+    b\n if c:\n\n")
        self.assertEqual(source.rows, ["    a", "    b", "if c:"])
        self.assertEqual(source.props, (1, 1))
        self.assertEqual(source.first, 6)

    def test_a_diff_cut_anywhere_does_not_crash(self):
        for end in range(len(DIFF)):
            list(diffs.hunks(DIFF[:end]))
            diffs.sources(DIFF[:end])
