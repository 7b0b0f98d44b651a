import base64
import io
import tempfile
import unittest
from pathlib import Path

from metrics.commands import prompt
from metrics.commands.failure import Failure
from tests.commands.stage import Keyboard

DATA = base64.b64encode(b"\x89bytes").decode()


class Messages(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, content: bytes) -> str:
        (self.folder / name).write_bytes(content)
        return str(self.folder / name)

    def test_what_one_user_message_says(self) -> None:
        cases = [
            ("the argument alone", "why?", None, "why?"),
            ("a pipe alone is the question as it is", None, "x = 1\n", "x = 1\n"),
            (
                "argument first, then the pipe in a fence",
                "why?",
                "x = 1",
                "why?\n\nFile: stdin\n```\nx = 1\n```",
            ),
        ]
        for name, argument, piped, wanted in cases:
            with self.subTest(name):
                self.assertEqual(
                    prompt.messages(argument, piped, [], None), [{"role": "user", "content": wanted}]
                )

    def test_files_follow_in_order_with_their_language(self) -> None:
        first, second = self.file("a.py", b"x = 1\n"), self.file("b.unknown-kind", b"y")
        content = prompt.messages("why?", None, [first, second], "be brief")
        self.assertEqual(content[0], {"role": "system", "content": "be brief"})
        wanted = f"why?\n\nFile: {first}\n```python\nx = 1\n```\n\nFile: {second}\n```\ny\n```"
        self.assertEqual(content[1], {"role": "user", "content": wanted})

    def test_a_fence_is_longer_than_any_inside(self) -> None:
        for inside, fence in (("", "```"), ("``", "```"), ("```", "````"), ("a ````` b", "``````")):
            with self.subTest(inside):
                self.assertEqual(prompt.fenced("x.md", inside).splitlines()[1], f"{fence}markdown")
                self.assertTrue(prompt.fenced("x.md", inside).endswith(f"\n{fence}"))

    def test_images_are_parts(self) -> None:
        for name, kind in (("a.png", "png"), ("b.JPG", "jpeg"), ("c.gif", "gif"), ("d.webp", "webp")):
            with self.subTest(name):
                path = self.file(name, b"\x89bytes")
                content = prompt.messages("look", None, [path], None)[0]["content"]
                url = f"data:image/{kind};base64,{DATA}"
                self.assertEqual(content[0], {"type": "text", "text": "look"})
                self.assertEqual(content[1], {"type": "image_url", "image_url": {"url": url}})

    def test_an_image_alone_has_no_empty_text_beside_it(self) -> None:
        content = prompt.messages(None, None, [self.file("a.png", b"x")], None)[0]["content"]
        self.assertEqual([part["type"] for part in content], ["image_url"])

    def test_encodings(self) -> None:
        cases = [
            (b"\xef\xbb\xbfhi", "hi"),
            ("hé\n".encode("utf-16"), "hé\n"),
            (b"", ""),
            ("日本".encode(), "日本"),
        ]
        for data, wanted in cases:
            with self.subTest(data):
                self.assertEqual(prompt.decoded("f", data), wanted)

    def test_refused_by_name(self) -> None:
        cases = [
            ("binary.bin", b"a\0b", "is a binary file"),
            ("latin.txt", b"caf\xe9", "byte 3 is not UTF-8"),
            ("odd.txt", b"\xff\xfea", "is not UTF-16"),
        ]
        for name, data, words in cases:
            with self.subTest(name), self.assertRaises(Failure) as caught:
                prompt.messages("q", None, [self.file(name, data)], None)
            self.assertIn(name, caught.exception.message)
            self.assertIn(words, caught.exception.message)
            self.assertEqual(caught.exception.exit, 2)

    def test_missing_file_and_folder(self) -> None:
        for name in (str(self.folder / "nowhere.py"), str(self.folder)):
            with self.subTest(name), self.assertRaises(Failure) as caught:
                prompt.messages("q", None, [name], None)
            self.assertIn(name, caught.exception.message)


class Pipe(unittest.TestCase):
    def read(self, stdin: io.TextIOWrapper | None, typed: bool = False) -> str | None:
        return prompt.piped(stdin, lambda: self.fail("nothing was slow here"), typed)

    def test_what_counts_as_a_pipe(self) -> None:
        closed = Keyboard(b"x")
        closed.close()
        cases = [
            ("text", Keyboard(b"text\n"), "text\n"),
            ("empty", Keyboard(b""), None),
            ("none", None, None),
            ("closed", closed, None),
            ("a terminal", Keyboard(b"x", tty=True), None),
        ]
        for name, stdin, wanted in cases:
            with self.subTest(name):
                self.assertEqual(self.read(stdin), wanted)

    def test_a_terminal_is_read_when_asked_for(self) -> None:
        self.assertEqual(self.read(Keyboard(b"typed\n", tty=True), typed=True), "typed\n")


if __name__ == "__main__":
    unittest.main()
