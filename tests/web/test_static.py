import gzip
import tempfile
import unittest
from pathlib import Path
from urllib.parse import unquote

from metrics.records import Problem
from metrics.web import static
from metrics.web.table import Call, Response


class Files(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = Path(scratch.name)
        self.folder = self.top / "ui"
        (self.folder / "pages").mkdir(parents=True)
        (self.folder / "index.html").write_text("<p>front", encoding="utf-8")
        (self.folder / "pages" / "ask.js").write_text("ask()", encoding="utf-8")
        (self.folder / "notes").write_text("no ending", encoding="utf-8")
        (self.folder / ".hidden.txt").write_text("hidden", encoding="utf-8")
        (self.top / "secret.txt").write_text("TOP", encoding="utf-8")
        self.serve = static.files(self.folder)

    def get(self, name: str | None, **headers: str) -> Response:
        parts = {} if name is None else {"file": name}
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        return self.serve(Call("GET", f"/ui/{name}", named, parts=parts))

    def test_served(self) -> None:
        cases = [
            (None, b"<p>front", "text/html; charset=utf-8"),
            ("index.html", b"<p>front", "text/html; charset=utf-8"),
            ("pages/ask.js", b"ask()", "text/javascript; charset=utf-8"),
        ]
        for name, body, kind in cases:
            with self.subTest(name=name):
                response = self.get(name)
                self.assertEqual((response.status, response.body), (200, body))
                self.assertEqual(dict(response.headers)["Content-Type"], kind)
                self.assertIn("default-src 'none'", dict(response.headers)["Content-Security-Policy"])
                self.assertNotIn("unsafe", dict(response.headers)["Content-Security-Policy"])

    def test_text_is_packed_for_whoever_takes_it(self) -> None:
        long = "ask();\n" * 500
        (self.folder / "long.js").write_text(long, encoding="utf-8", newline="")
        (self.folder / "font.woff2").write_bytes(b"w" * 4000)
        cases = [
            ("long.js", "gzip, deflate, br", True),
            ("long.js", "br;q=1, GZIP;q=0.5", True),
            ("long.js", "", False),
            ("long.js", "identity", False),
            ("long.js", "gzip;q=0", False),
            ("long.js", "gzip; q=0.000, br", False),
            ("pages/ask.js", "gzip", False),
            ("font.woff2", "gzip", False),
        ]
        for name, accepted, packed in cases:
            with self.subTest(name=name, accepted=accepted):
                response = self.get(name, accept_encoding=accepted)
                headers = dict(response.headers)
                self.assertEqual(headers.get("Content-Encoding"), "gzip" if packed else None)
                assert isinstance(response.body, bytes)
                body = gzip.decompress(response.body) if packed else response.body
                self.assertEqual(body, (self.folder / name).read_bytes())
                self.assertEqual(headers.get("Vary"), None if name == "font.woff2" else "Accept-Encoding")
                again = self.get(name, accept_encoding=accepted, if_none_match=headers["ETag"])
                self.assertEqual((again.status, again.body), (304, b""))
        tags = {dict(self.get("long.js", accept_encoding=word).headers)["ETag"] for word in ("gzip", "")}
        self.assertEqual(len(tags), 2)
        (self.folder / "long.js").write_text(long + "more()", encoding="utf-8", newline="")
        changed = self.get("long.js", accept_encoding="gzip")
        self.assertTrue(gzip.decompress(bytes(changed.body)).endswith(b"more()"))

    def test_never_outside_the_folder(self) -> None:
        for raw in (
            "..%2fsecret.txt",
            "%2e%2e/secret.txt",
            "..%5csecret.txt",
            "pages/..%2f..%2fsecret.txt",
            "pages/../index.html",
            "c%3a%5cwindows%5cwin.ini",
            "c:/secret.txt",
            "..%20/secret.txt",
            "%2fetc%2fpasswd",
            "/etc/passwd",
            str(self.top / "secret.txt"),
            "%00",
            "index.html%00.js",
            "index.html%20",
            "index.html.",
            "index.html::$DATA",
            ".hidden.txt",
            "notes",
            "pages",
            "pages/",
            "",
            ".",
            "missing.js",
            "~/x.js",
        ):
            with self.subTest(raw=raw), self.assertRaises(Problem) as caught:
                self.get(unquote(raw))
            self.assertEqual(caught.exception.status, 404)

    def test_a_link_out_of_the_folder_is_not_followed(self) -> None:
        try:
            (self.folder / "out.txt").symlink_to(self.top / "secret.txt")
        except OSError:
            self.skipTest("no symbolic links here")
        with self.assertRaises(Problem):
            self.get("out.txt")

    def test_unchanged(self) -> None:
        etag = dict(self.get("index.html").headers)["ETag"]
        for asked in (etag, f"W/{etag}", f'"x", {etag}', "*"):
            with self.subTest(asked=asked):
                response = self.get("index.html", if_none_match=asked)
                self.assertEqual((response.status, response.body), (304, b""))
        self.assertEqual(self.get("index.html", if_none_match='"x"').status, 200)

    def test_changed_on_disk(self) -> None:
        etag = dict(self.get("index.html").headers)["ETag"]
        (self.folder / "index.html").write_text("<p>another front", encoding="utf-8")
        response = self.get("index.html", if_none_match=etag)
        self.assertEqual((response.status, response.body), (200, b"<p>another front"))
