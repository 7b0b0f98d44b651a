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
