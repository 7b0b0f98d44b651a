"""The page's files as a whole: what no module of it does, what fits together, what it weighs."""

import gzip
import re
import unittest
from pathlib import Path

import serve

UI = Path(serve.__file__).resolve().parent / "ui"
MODULES = sorted(UI.rglob("*.js"))
TEXTS = [*MODULES, *UI.rglob("*.css"), *UI.rglob("*.html"), *UI.rglob("*.svg")]
BUDGET = 250_000  # bytes of all pages together, as they are sent

# What a page of ours must not do: run strings, make markup of them, fetch from elsewhere.
FORBIDDEN = re.compile(
    r"\.(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write\b|\beval\(|new Function\("
    r"|setAttribute\(\"style\""
    r"|https?://(?!www\.w3\.org/|api\.example\.com|127\.0\.0\.1)[a-z]"
)
IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+)["']""")


# What must be told apart from what it lies on, and how well (WCAG 2.2: 1.4.3, 1.4.11), in both themes.
READ, SEEN = 4.5, 3.0
GROUNDS = ("bg", "surface")
CONTRASTS = (
    *(
        (ink, ground, READ)
        for ink in ("text", "text-2", "text-3", "accent")
        for ground in (*GROUNDS, "sunken")
    ),
    *((ink, ground, READ) for ink in ("ok", "warn", "bad") for ground in (*GROUNDS, f"{ink}-soft")),
    *((ink, "accent-soft", READ) for ink in ("text", "text-2", "accent")),
    ("on-accent", "accent", READ),
    *(("edge", ground, SEEN) for ground in GROUNDS),
    *((f"seat-{number}", "surface", SEEN) for number in range(1, 9)),
)
TOKEN = re.compile(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, from 0 to 1 (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


class Colours(unittest.TestCase):
    def setUp(self) -> None:
        self.tokens = {
            name: themes for name, *themes in TOKEN.findall((UI / "tokens.css").read_text(encoding="utf-8"))
        }

    def test_what_is_read_is_told_apart_from_what_it_lies_on(self) -> None:
        self.assertAlmostEqual(contrast("#000000", "#ffffff"), 21.0)
        for ink, ground, least in CONTRASTS:
            for theme, name in enumerate(("light", "dark")):
                with self.subTest(ink=ink, ground=ground, theme=name):
                    found = contrast(self.tokens[ink][theme], self.tokens[ground][theme])
                    self.assertGreaterEqual(found, least)

    def test_the_figures_in_the_notes_are_those_of_the_tokens(self) -> None:
        notes = (UI / "README.md").read_text(encoding="utf-8")
        figures = re.findall(
            r"^\| `--([a-z0-9-]+)` \| #.*\| ([\d.]+) / ([\d.]+) \| ([\d.]+) / ([\d.]+) \|$",
            notes,
            re.MULTILINE,
        )
        self.assertGreaterEqual(len(figures), 4)
        for ink, *told in figures:
            pairs = [(ground, theme) for ground in ("surface", "bg") for theme in (0, 1)]
            for (ground, theme), figure in zip(pairs, told, strict=True):
                with self.subTest(ink=ink, ground=ground, theme=theme):
                    found = contrast(self.tokens[ink][theme], self.tokens[ground][theme])
                    self.assertAlmostEqual(found, float(figure), delta=0.06)


class PageFiles(unittest.TestCase):
    def test_nothing_is_made_of_strings_and_nothing_comes_from_elsewhere(self) -> None:
        for path in TEXTS:
            with self.subTest(path.name):
                code = re.sub(r"(?m)^\s*(?://|/?\*).*$", "", path.read_text(encoding="utf-8"))
                self.assertIsNone(FORBIDDEN.search(code))
        for bad in ('x.innerHTML = "a"', "eval(text)", 'import "https://cdn.net/x.js"', "a.outerHTML"):
            self.assertIsNotNone(FORBIDDEN.search(bad), bad)

    def test_every_import_is_a_file_of_ours(self) -> None:
        found = 0
        for path in MODULES:
            for name in IMPORT.findall(path.read_text(encoding="utf-8")):
                found += 1
                self.assertTrue((path.parent / name).resolve().is_file(), f"{path.name} imports {name}")
        self.assertGreater(found, 100)

    def test_the_server_answers_for_the_pages_that_there_are(self) -> None:
        table = (UI / "pages.js").read_text(encoding="utf-8")
        paths = re.findall(r'path: "(/[a-z]*)"', table)
        self.assertEqual(sorted(paths), sorted(["/", *serve.PAGES]))
        self.assertEqual(
            len(re.findall(r'key: "([a-z])"', table)), len(set(re.findall(r'key: "([a-z])"', table)))
        )

    def test_all_of_it_fits_its_budget(self) -> None:
        sent = [len(gzip.compress(path.read_bytes())) for path in TEXTS]
        sent += [path.stat().st_size for path in UI.rglob("*.woff2")]
        self.assertLess(sum(sent), BUDGET)


if __name__ == "__main__":
    unittest.main()
