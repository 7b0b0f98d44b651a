import base64
import tracemalloc
import unittest

from metrics.formats import images
from metrics.records import Problem

PICTURES = {
    "image/png": b"\x89PNG\r\n\x1a\n" + bytes(range(250)),
    "image/jpeg": b"\xff\xd8\xff\xe0" + bytes(range(250)),
    "image/gif": b"GIF89a" + bytes(range(250)),
    "image/webp": b"RIFF\x01\x02\x03\x04WEBP" + bytes(range(250)),
}
PNG = PICTURES["image/png"]
B64 = base64.b64encode(PNG).decode()
RIGHT = f"data:image/png;base64,{B64}"


def url(part):
    return part["image_url"]["url"]


class ImagesTest(unittest.TestCase):
    SAME = [
        ("a data URL", lambda: images.from_url(RIGHT, "x")),
        (
            "with parameters",
            lambda: images.from_url(f"data:image/png;charset=utf-8;name=a.png;base64,{B64}", "x"),
        ),
        ("labelled image/jpg", lambda: images.from_url(f"data:image/jpg;base64,{B64}", "x")),
        ("labelled as text", lambda: images.from_url(f"data:text/plain;base64,{B64}", "x")),
        ("without a label", lambda: images.from_url(f"data:;base64,{B64}", "x")),
        ("bare base64", lambda: images.from_base64(B64, None, "x")),
        ("a wrong label", lambda: images.from_base64(B64, "image/jpeg", "x")),
        ("URL-safe", lambda: images.from_base64(base64.urlsafe_b64encode(PNG).decode(), None, "x")),
        ("without padding", lambda: images.from_base64(B64.rstrip("="), None, "x")),
        (
            "in lines",
            lambda: images.from_base64(
                "\n".join(B64[at : at + 76] for at in range(0, len(B64), 76)), None, "x"
            ),
        ),
    ]

    def test_every_shape_becomes_the_same_part(self):
        for name, make in self.SAME:
            with self.subTest(name):
                self.assertEqual(url(make()), RIGHT)

    def test_what_is_right_is_not_copied(self):
        self.assertIs(url(images.from_url(RIGHT, "x", "low")), RIGHT)
        large = RIGHT + "AAAA" * 500_000
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        images.from_url(large, "x")
        self.assertLess(tracemalloc.get_traced_memory()[1], 100_000)

    def test_the_bytes_say_what_they_are(self):
        for label, picture in PICTURES.items():
            with self.subTest(label):
                made = images.from_base64(base64.b64encode(picture).decode(), "image/bmp", "x")
                self.assertEqual(url(made), f"data:{label};base64,{base64.b64encode(picture).decode()}")

    def test_addresses_are_passed_on(self):
        for address in ("https://example.com/a.png", "http://169.254.169.254/latest"):
            self.assertEqual(url(images.from_url(address, "x")), address)
        self.assertEqual(images.from_url("https://a/b", "x", "low")["image_url"]["detail"], "low")

    REFUSED = [
        ("a file", lambda: images.from_url("file:///etc/passwd", "x")),
        ("a bare id", lambda: images.from_url("file-abc123", "x")),
        ("no string", lambda: images.from_url(5, "x")),
        ("no base64 in it", lambda: images.from_url("data:image/png,hello", "x")),
        ("no comma", lambda: images.from_url("data:image/png;base64", "x")),
        ("nothing", lambda: images.from_base64("", None, "x")),
        ("null", lambda: images.from_base64(None, None, "x")),
        ("a foreign character", lambda: images.from_base64(B64[:40] + "*" + B64[41:], None, "x")),
        ("an impossible length", lambda: images.from_base64("A", None, "x")),
        ("padding in the middle", lambda: images.from_base64("AAA=AAAA", None, "x")),
        ("not ascii", lambda: images.from_base64("é" * 8, None, "x")),
        (
            "a PDF",
            lambda: images.from_base64(base64.b64encode(b"%PDF-1.7 something").decode(), "image/png", "x"),
        ),
    ]

    def test_refused_by_name(self):
        for name, make in self.REFUSED:
            with self.subTest(name):
                with self.assertRaises(Problem) as caught:
                    make()
                self.assertEqual((caught.exception.status, caught.exception.param), (400, "x"))
