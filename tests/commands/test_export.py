import tempfile
import unittest
from pathlib import Path

from tests.commands.stage import Reply, Stage

PANEL = "p20261129-142220-1a2b3c4d"
FILE = Reply("# Why? \x1b[31m\u00e9\n".encode())
THERE = {"GET /api/panel/export": FILE}
REFUSED = {"ok": False, "errors": ["there is no panel"], "error": {"message": "there is no panel"}}


class Export(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_which_format_is_asked_for(self) -> None:
        cases = (
            ((), "md"),
            (("--html",), "html"),
            (("--md",), "md"),
            (("--json",), "json"),
            (("-o", "a.html"), "html"),
            (("-o", "b.HTM"), "html"),
            (("-o", "c.md"), "md"),
            (("-o", "d.json"), "json"),
            (("-o", "e"), "md"),
            (("-o", "f.txt", "--html"), "html"),
            (("--json", "-o", "g.md"), "md"),
        )
        for words, form in cases:
            with self.subTest(words), Stage(THERE) as stage:
                words = tuple(
                    str(self.folder / word) if "." in word or word == "e" else word for word in words
                )
                played = stage.bench("export", PANEL, *words)
                self.assertEqual(played.code, 0, played.err)
                self.assertEqual(stage.sent[-1].path, f"/api/panel/export?panel={PANEL}&format={form}")

    def test_a_file(self) -> None:
        path = self.folder / "panel.md"
        with Stage(THERE) as stage:
            played = stage.bench("export", PANEL, "-o", str(path), "--json")
            self.assertEqual(path.read_bytes(), FILE.encoded())
            self.assertEqual(played.document["format"], "md")
            self.assertEqual(played.document["bytes"], len(FILE.encoded()))
            again = stage.bench("export", PANEL, "-o", str(path))
            self.assertEqual(again.code, 2)
            self.assertIn("there already", again.err)
            nowhere = stage.bench("export", PANEL, "-o", str(self.folder / "none" / "x.md"))
            self.assertIn("cannot be written", nowhere.err)
            self.assertNotEqual(nowhere.code, 0)

    def test_an_ending_that_is_no_format(self) -> None:
        for name in ("a.pdf", "b.docx", "panel.md.zip"):
            with self.subTest(name), Stage(THERE) as stage:
                played = stage.bench("export", PANEL, "-o", str(self.folder / name))
                self.assertEqual((played.code, stage.sent), (2, []))
                self.assertIn("there is no format for ." + name.rpartition(".")[2], played.err)
                self.assertIn("--html, --md", played.err)
                self.assertFalse((self.folder / name).exists())

    def test_stdout(self) -> None:
        with Stage(THERE) as stage:
            self.assertEqual(stage.bench("export", PANEL).out.encode(), FILE.encoded())
            refused = stage.bench("export", PANEL, "--html", "--json")
            self.assertEqual(refused.code, 2)
            self.assertIn("-o panel.html", refused.document["error"]["hint"])

    def test_a_panel_that_is_not_there(self) -> None:
        path = self.folder / "x.html"
        with Stage({"GET /api/panel/export": Reply(REFUSED, 404)}) as stage:
            played = stage.bench("export", PANEL, "-o", str(path))
            self.assertIn("there is no panel", played.err)
            self.assertNotEqual(played.code, 0)
            self.assertFalse(path.exists())


if __name__ == "__main__":
    unittest.main()
