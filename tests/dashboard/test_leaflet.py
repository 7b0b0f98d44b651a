"""The one HTML file: whole, harmless, and in need of nothing."""

import base64
import hashlib
import html
import re
import unittest
from html.parser import HTMLParser

from metrics.dashboard import leaflet, sheet
from tests.dashboard.test_markup import HOSTILE
from tests.dashboard.test_sheet import SEAT, kept

ACTIVE = {
    "script",
    "iframe",
    "img",
    "link",
    "object",
    "embed",
    "form",
    "base",
    "svg",
    "input",
    "video",
    "audio",
}
VOID = {"meta", "br", "hr"}


class Elements(HTMLParser):
    """What elements a page has, and whether each is closed in its order."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()


def hostile() -> str:
    """A page of a panel in which everything anybody wrote means harm."""
    text = "\n\n".join(HOSTILE)
    seat = {**SEAT, "alias": HOSTILE[0], "model_id": HOSTILE[1]}
    failed = {**SEAT, "call": "p1.member2", "status": "error", "message": HOSTILE[1]}
    panel = kept(
        seat,
        failed,
        body={
            "messages": [{"role": "system", "content": text}, {"role": "user", "content": text}],
            "answers": {"p1.member1": text},
            "reasoning": {"p1.member1": text},
        },
        verdicts={"p1.member1": {"useful": False, "note": HOSTILE[0]}},
        claims={"p1.member1": [{"decision": "false", "quote": HOSTILE[0]}]},
    )
    panel["panel"]["skipped"] = [{"alias": HOSTILE[0], "why": HOSTILE[1]}]
    panel["panel"]["collection"] = HOSTILE[0]
    return leaflet.page(sheet.of(panel), "2026-11-29T14:22:20Z")


class TestLeaflet(unittest.TestCase):
    def setUp(self) -> None:
        self.page = hostile()
        self.elements = Elements()
        self.elements.feed(self.page)

    def test_every_element_is_closed(self) -> None:
        self.assertEqual(self.elements.open, [])

    def test_nothing_runs_and_nothing_is_fetched(self) -> None:
        for tag, attributes in self.elements.seen:
            self.assertNotIn(tag, ACTIVE)
            for name, value in attributes.items():
                self.assertFalse(name.startswith("on") or name in ("src", "style", "srcset"), (tag, name))
                if name == "href":
                    self.assertRegex(value or "", r"\Ahttps?://")

    def test_its_policy_allows_its_own_style_and_nothing_else(self) -> None:
        policy = next(a["content"] for t, a in self.elements.seen if a.get("http-equiv")) or ""
        self.assertIn("default-src 'none'", policy)
        style = re.search(r"<style>(.*?)</style>", self.page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256((style[1] if style else "").encode()).digest()).decode()
        self.assertIn(f"style-src 'sha256-{digest}'", policy)
        self.assertEqual(self.page.count("<style>"), 1)
        self.assertNotIn("unsafe", policy)
        self.assertNotRegex(style[1] if style else "", r"url\(|@import")

    def test_it_tells_all_of_a_panel(self) -> None:
        for words in (
            "Verdict: <b>not useful</b>",
            "false claim",
            "Who stayed off",
            "Reasoning",
            "p1.member1",
        ):
            self.assertIn(words, self.page)
        self.assertIn(html.escape(HOSTILE[0]), self.page)

    def test_without_words_it_says_so(self) -> None:
        page = leaflet.page(sheet.of(kept(SEAT, body=None)), "2026")
        self.assertIn("Its words are not kept.", page)
        self.assertIn("The words of this answer are not kept.", page)


if __name__ == "__main__":
    unittest.main()
