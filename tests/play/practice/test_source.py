import unittest

from metrics.play.practice.source import find, in_text

CODE = "import os\n\n\ndef f(a=[]):\n    return os.getcwd()\n"
FENCE = "```"


def fenced(code: str, info: str = "python", mark: str = FENCE) -> str:
    return f"{mark}{info}\n{code}{mark}\n"


# name, text, [(name of the source, its first line of text)]
FENCED = [
    ("as bench sends files", "Review.\n\nFile: pricing.py\n" + fenced(CODE), [("pricing.py", "import os")]),
    (
        "two files",
        f"File: a.py\n{fenced(CODE)}\nFile: src/b.py\n{fenced('x = 1' + chr(10))}",
        [("a.py", "import os"), ("src/b.py", "x = 1")],
    ),
    ("a name with blanks", "File: my file.py\n" + fenced(CODE), [("my file.py", "import os")]),
    ("a heading", "### `src/a.py`\n\n" + fenced(CODE), [("src/a.py", "import os")]),
    ("bold", "**a.py**:\n" + fenced(CODE), [("a.py", "import os")]),
    ("a title", fenced(CODE, 'py title="x/a.py"'), [("x/a.py", "import os")]),
    ("after a colon", fenced(CODE, "python:a.py"), [("a.py", "import os")]),
    ("a bare name", fenced(CODE, "a.py"), [("a.py", "import os")]),
    ("a first comment", fenced("# a.py\nx = 1\n"), [("a.py", "# a.py")]),
    ("no name", "What about\n" + fenced(CODE), [("snippet", "import os")]),
    (
        "no name, twice",
        fenced(CODE) + "and\n" + fenced("x = 1\n"),
        [("snippet1", "import os"), ("snippet2", "x = 1")],
    ),
    ("no language", fenced(CODE, ""), [("snippet", "import os")]),
    ("no language, and broken", fenced("import os\ndef f(:\n    pass\n", ""), [("snippet", "import os")]),
    ("no language, by name", "File: a.py\n" + fenced("def f(:\n", ""), [("a.py", "def f(:")]),
    ("tildes", fenced(CODE, "python", "~~~~"), [("snippet", "import os")]),
    ("longer fence", fenced("'''\n```\nx\n```\n'''\nx = 1\n", "python", "`````"), [("snippet", "'''")]),
    ("a fence within a docstring", fenced('"""\n```\nx\n```\n"""\nx = 1\n'), [("snippet", '"""')]),
    ("in a list", "- like so:\n\n  ```python\n  x = 1\n  ```\n", [("snippet", "x = 1")]),
    ("never closed", "```python\nx = 1\ny = 2", [("snippet", "x = 1")]),
    ("Windows lines", fenced(CODE).replace("\n", "\r\n"), [("snippet", "import os")]),
    ("another language", fenced("let x = 1;\n", "js"), []),
    ("text", fenced("yes, and no\n", ""), []),
    ("a data file", "File: data.json\n" + fenced('{"a": 1}\n', ""), []),
    ("a session", fenced(">>> x = 1\n>>> x\n1\n", "pycon"), [("snippet", "x = 1")]),
]
PASTED = [
    ("the whole text", CODE, [("snippet", "import os")]),
    ("after a question", "What is wrong here?\n\n" + CODE, [("snippet", "import os")]),
    ("between words", "Look:\n\n" + CODE + "\nWhat do you think of it?\n", [("snippet", "import os")]),
    ("under a name", "a.py:\n" + CODE, [("a.py", "import os")]),
    ("one comparison", "x == None", [("snippet", "x == None")]),
    ("in backquotes", "Is `def f(a=[]): pass` fine?", [("snippet", "def f(a=[]): pass")]),
    ("broken", "import os\ndef f(:\n    return 1\n", [("snippet", "import os")]),
    ("a word", "hello", []),
    ("words that parse", "yes, sure", []),
    ("continue", "continue", []),
    ("a note", "note: this", []),
    ("is it", "this is it", []),
    ("prose", "Please import the duties from France.\nIf you can: do it for me.\n", []),
    ("prose with a name in backquotes", "Explain `open()` and `a.b`.", []),
    ("empty", "", []),
]
DIFF = """diff --git a/shop/price.py b/shop/price.py
index 1..2 100644
--- a/shop/price.py
+++ b/shop/price.py
@@ -10,4 +10,5 @@ class Shop:
     def total(self, items):
-        return sum(items)
+        if items == None:
+            return 0
         return sum(items)

@@ -40,2 +41,4 @@
     x = 1
+    if x is 'a':
+        y = x
     return x
--- a/README.md
+++ b/README.md
@@ -1 +1,2 @@
 # Shop
+More.
--- /dev/null
+++ b/new.py
@@ -0,0 +1,2 @@
+import os
+x = 1
"""


class Fenced(unittest.TestCase):
    def hold(self, cases):
        for name, text, expected in cases:
            with self.subTest(name):
                sources = in_text(text.replace("\r\n", "\n")).sources
                self.assertEqual([(one.name, one.text.split("\n")[0]) for one in sources], expected)

    def test_fences(self):
        self.hold(FENCED)

    def test_pasted(self):
        self.hold(PASTED)

    def test_what_is_left_out(self):
        found = in_text("File: a.js\n" + fenced("let x\n", "js") + fenced("a b\n", "") + fenced(CODE))
        self.assertEqual(found.left_out, ("a.js", "a block of text"))
        self.assertEqual([one.name for one in found.other], ["a.js", "snippet1"])

    def test_lines_are_the_files_own(self):
        text = "What?\n\nFile: a.py\n```python\n\n\nx == None\n```"
        self.assertEqual(in_text(text).sources[0].text.split("\n")[2], "x == None")


class Diffs(unittest.TestCase):
    def test_hunks(self):
        for form, text in [
            ("plain", DIFF),
            ("fenced", f"Review:\n```diff\n{DIFF}```\n"),
            ("no language", f"```\n{DIFF}```"),
        ]:
            with self.subTest(form):
                found = in_text(text)
                seen = [(one.name, sorted(one.changed or ()), one.whole) for one in found.sources]
                self.assertEqual(
                    seen,
                    [
                        ("shop/price.py", [11, 12], False),
                        ("shop/price.py", [42, 43], False),
                        ("new.py", [], True),
                    ],
                )
                self.assertEqual(found.left_out, ("README.md",))

    def test_every_cut_of_a_diff_is_read_or_named(self):
        for end in range(len(DIFF)):
            in_text(DIFF[:end])

    def test_a_hunk_that_begins_and_ends_anywhere(self):
        cases = [
            (
                "deep, then shallower",
                "@@ -1,4 +1,4 @@\n         b()\n+        x == None\n     c()\n def f():\n",
                [2],
            ),
            ("ends in a header", "@@ -7,2 +7,3 @@\n a = 1\n+b == None\n if a:\n", [8]),
            ("begins with else", "@@ -7,2 +7,3 @@\n else:\n     b()\n+a == None\n", [9]),
        ]
        for name, text, lines in cases:
            with self.subTest(name):
                self.assertEqual([sorted(one.changed or ()) for one in in_text(text).sources], [lines])


class Conversation(unittest.TestCase):
    def test_the_newest_message_with_code_counts(self):
        messages = [
            {"role": "system", "content": fenced("s = 1\n")},
            {"role": "user", "content": fenced("a = 1\n")},
            {"role": "assistant", "content": fenced("b = 1\n")},
            {"role": "user", "content": [{"type": "text", "text": fenced("c = 1\n")}, {"type": "image_url"}]},
            {"role": "user", "content": "Are you sure?"},
        ]
        self.assertEqual([one.text for one in find(messages).sources], ["c = 1\n"])

    def test_without_code_the_newest_words(self):
        messages = [
            {"role": "user", "content": "one"},
            {"role": "user", "content": "two"},
            {"role": "tool", "content": "x"},
        ]
        self.assertEqual(find(messages).text, "two")
        self.assertEqual(find([]).text, "")
