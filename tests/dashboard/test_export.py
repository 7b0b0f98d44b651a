"""A panel as a file: each format, its name, and what cannot be exported."""

import json
import unittest
from typing import Any
from unittest import mock

from metrics.dashboard import export
from metrics.evidence import claims, panels, verdicts
from metrics.records import Problem
from metrics.web.table import Call
from tests.dashboard import test_panels
from tests.dashboard.api import ApiCase
from tests.dashboard.test_markup import HOSTILE

ANSWER = "One bug: `line 3` leaks.\n\n" + "\n\n".join(HOSTILE[:2])


class Export(ApiCase):
    routes = export.HANDLERS
    panel = test_panels.Panels.panel

    def file(self, query: str) -> tuple[dict[str, str], str]:
        response = export.export(Call("GET", f"/api/panel/export?{query}"))
        assert isinstance(response.body, bytes)
        return dict(response.headers), response.body.decode()

    def test_each_format_tells_the_same(self) -> None:
        name = self.panel(1, answer=ANSWER)
        verdicts.give(f"{name}.member1", useful=True, note="found it")
        claims.mark(f"{name}.member1", "leaks", 19, 24, "real")
        for form, kind, tells in (
            ("html", "text/html", ("<b>useful</b>: found it", "<code>line 3</code>", "real finding")),
            ("md", "text/markdown", ("Verdict: **useful**: found it", "`line 3`", "real finding: leaks")),
            ("json", "application/json", ('"note":"found it"', "`line 3`", '"quote":"leaks"')),
        ):
            with self.subTest(form):
                headers, text = self.file(f"panel={name}&format={form}")
                self.assertTrue(headers["Content-Type"].startswith(kind))
                self.assertEqual(
                    headers["Content-Disposition"], f'attachment; filename="panel-{name}.{form}"'
                )
                self.assertIn("sandbox", headers["Content-Security-Policy"])
                for words in ("alpha", "beta", f"{name}.member1", *tells):
                    self.assertIn(words, text)
                if form != "json":
                    self.assertNotIn("<script>", text)
                    self.assertNotIn("<img", text)
        self.assertEqual(json.loads(text)["panel"]["panel"], name)
        self.assertEqual(self.file(f"panel={name}")[0]["Content-Type"], "text/html; charset=utf-8")

    def test_refusals(self) -> None:
        for query, status, words in (
            ("", 400, 'name a "panel"'),
            ("panel=p20260101-000000-0000", 404, "there is no panel"),
            ("panel=../../etc/passwd", 404, "there is no panel"),
            ("panel=p1&format=pdf", 400, "html, md, json"),
        ):
            with self.subTest(query), self.assertRaises(Problem) as refused:
                self.file(query)
            self.assertEqual(refused.exception.status, status)
            self.assertIn(words, refused.exception.message)

    def test_a_panel_whose_words_are_gone(self) -> None:
        name = self.panel(2)
        row: Any = panels.find(name)
        with mock.patch("metrics.store.bodies.read", return_value=None):
            for form in ("html", "md"):
                self.assertIn("words are not kept", self.file(f"panel={row['panel']}&format={form}")[1])


class TestTame(unittest.TestCase):
    CASES = (
        ("a <script> b </script>", "a &lt;script> b &lt;/script>"),
        ("a < b", "a < b"),
        ("![x](https://e.example/p.png)", "!\\[x](https://e.example/p.png)"),
        ("```html\n<b>\n```\n<b>", "```html\n<b>\n```\n&lt;b>"),
        ("````\n```\n<b>\n````", "````\n```\n<b>\n````"),
        ("```\nopen", "```\nopen\n```"),
        ("\u202egnp", "[U+202E]gnp"),
        ("<!-- x -->", "&lt;!-- x -->"),
        # What one reader takes for the end of a fence, and another for a line of it.
        ("```\n    ```\n```\n<b>", "```\n    ```\n```\n&lt;b>"),
        ("```\n```\x0b\n```\n<b>", "```\n```\x0b\n```\n&lt;b>"),
        ("``` \r```\r<b>", "```\n```\n&lt;b>"),
        ("~~~ `x`\n~~~\n<b>", "~~~\n~~~\n&lt;b>"),
        ("``` `x`\n<b>", "``` `x`\n&lt;b>"),
        ("  ```py <b>|\n---\n<b>\n```", "```py\n---\n<b>\n```"),
        # A fence in a list or a quote ends with it, and one within it may not begin there.
        ("- ```\n  ```\n<b>\n```\n<b>", "- ```\n```\n<b>\n```\n&lt;b>"),
        ("> ```\n```\n<b>\n```", "> ```\n```\n<b>\n```"),
        ("1.  a\n\n    ```\n    <b>", "1.  a\n\n    ```\n    &lt;b>"),
    )

    def test_cases(self) -> None:
        for text, wanted in self.CASES:
            with self.subTest(text):
                self.assertEqual(export.tame(text), wanted)

    def test_no_fence_begins_within_a_line(self) -> None:
        for text in ("``` <b>", "~~~ <b>", "a\n```\n<b>", "<b>\r\n\t<b>"):
            with self.subTest(text):
                told = export.in_line(text)
                self.assertNotIn("<b>", told)
                self.assertEqual(len(told.splitlines()), 1)

    def test_quoted(self) -> None:
        self.assertEqual(export.quoted("a\n\n<b>"), "> a\n>\n> &lt;b>")
        self.assertEqual(export.quoted("\t```\n<b>\n \t  a"), ">     ```\n> &lt;b>\n>       a")
        self.assertEqual(export.quoted("```\n```\x0b\n<b>"), "> ```\n> ```\x0b\n> <b>\n> ```")


if __name__ == "__main__":
    unittest.main()
