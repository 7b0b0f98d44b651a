"""What models write becomes harmless HTML, whatever it is, and in no more time than its length asks for."""

import re
import time
import unittest

from metrics.dashboard.markup import escaped, rendered

# Markdown -> HTML
READ = (
    ("plain words", "<p>plain words</p>"),
    ("# Two *faults* #", '<p class="h1">Two <em>faults</em></p>'),
    ("## C# ##", '<p class="h2">C#</p>'),
    ("# C#", '<p class="h1">C#</p>'),
    ("# #", '<p class="h1"></p>'),
    ("one\ntwo\n\nthree", "<p>one<br>\ntwo</p>\n<p>three</p>"),
    ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
    ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
    ("1. a\n   - b\n   - c\n2. d", "<ol><li><p>a</p>\n<ul><li>b</li><li>c</li></ul></li><li>d</li></ol>"),
    ("- a\n\n- b", "<ul><li>a</li><li>b</li></ul>"),
    ("> said", "<blockquote><p>said</p></blockquote>"),
    ("```py\na < b\n```", "<figure><figcaption>py</figcaption><pre><code>a &lt; b</code></pre></figure>"),
    ("~~~ `x`\na\n~~~~ ", "<figure><pre><code>a</code></pre></figure>"),
    ("```\n``` `\n    ```", "<figure><pre><code>``` `\n    ```</code></pre></figure>"),
    ("```\nopen", "<figure><pre><code>open</code></pre></figure>"),
    ("***", "<hr>"),
    ("`a*b*` and **b**", "<p><code>a*b*</code> and <strong>b</strong></p>"),
    ("2 * 3 * 4 and a_b_c", "<p>2 * 3 * 4 and a_b_c</p>"),
    ("~~no~~", "<p><s>no</s></p>"),
    (
        "|a|b|\n|-|-|\n|1|`x`|",
        "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><code>x</code></td></tr>"
        "</tbody></table>",
    ),
    (
        "[name](https://e.example/x)",
        '<p><a href="https://e.example/x" rel="noopener noreferrer nofollow">name</a> '
        "<small>(https://e.example/x)</small></p>",
    ),
)

HOSTILE = (
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[press](javascript:alert(1))",
    "[press](JaVaScRiPt:alert(1))",
    "[press](data:text/html,<script>1</script>)",
    '[press](https://e.example/"onmouseover="alert(1))',
    "[press](https://e.example/'><script>1</script>)",
    "![seen](https://e.example/pixel.png)",
    "`<b>`",
    "```<script>\n</code></pre><script>1</script>\n```",
    "# <svg onload=alert(1)>",
    "| <b> | </td><script> |\n|---|---|\n| <i> | </table> |",
    "> </blockquote><script>1</script>",
    "- </li></ul><iframe src=//e.example>",
    "&lt;script&gt; &amp; &#60;b&#62;",
    "<style>*{display:none}</style><!-- --><![CDATA[",
    "\u202egnp.exe\u202c and \u2066x\u2069",
    "\x00\x1b[31m\ud800",
)
ELEMENTS = {
    *("p", "br", "hr", "ul", "ol", "li", "blockquote", "figure", "figcaption", "pre", "code", "table"),
    *("thead", "tbody", "tr", "th", "td", "strong", "em", "s", "a", "small"),
}

# Each would take minutes if it were read again and again.
LONG = (
    *(
        piece * 60_000
        for piece in ("*a ", "[", "`", "> ", "**", "- ", "**a", "~~a", "[a]((", "a\n", "`a", "![")
    ),
    "|" * 50_000 + "\n" + "|-" * 25_000,
    "1. a\n" * 5_000,
    ("> " * 50 + "a\n") * 1000,
    "".join("`" * n + "a" for n in range(1, 400)),
    "x" * 1_000_000,
    "# " + "#" * 100_000 + "x",
    "a|b\n-" + " " * 100_000 + "x",
    "```" + " " * 100_000 + "`",
    "~~~" + "a" * 100_000,
)


class TestMarkup(unittest.TestCase):
    def test_reads(self) -> None:
        for text, wanted in READ:
            with self.subTest(text):
                self.assertEqual(rendered(text), wanted)

    def test_nothing_of_a_text_becomes_markup(self) -> None:
        for text in HOSTILE:
            for whole in (text, f"- {text}", f"> {text}", f"a **{text}** b", f"[{text}](https://e.example)"):
                with self.subTest(whole):
                    told = rendered(whole)
                    for tag, rest in re.findall(r"<\s*/?\s*([^\s>]*)([^>]*)>", told):
                        self.assertIn(tag, ELEMENTS)
                        self.assertRegex(
                            rest,
                            r'\A(?: class="h[1-6]"| start="\d+"|'
                            r' href="https?://[^"<>\']*" rel="noopener noreferrer nofollow")?\Z',
                        )
                    self.assertNotRegex(told, "[\x00-\x08\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

    def test_escapes(self) -> None:
        self.assertEqual(escaped('<a href="x">\'&'), "&lt;a href=&quot;x&quot;&gt;&#x27;&amp;")
        self.assertEqual(escaped("a\u202eb"), "a[U+202E]b")

    def test_takes_the_time_of_its_length(self) -> None:
        begun = time.process_time()
        for text in LONG:
            rendered(text)
        self.assertLess(time.process_time() - begun, 20)


if __name__ == "__main__":
    unittest.main()
