import base64
import io
import os
import tempfile
import unittest
from pathlib import Path

from metrics.commands import prompt
from metrics.commands.failure import Failure
from tests.commands.stage import Keyboard

PICTURES = {
    "png": b"\x89PNG\r\n\x1a\nbytes",
    "jpeg": b"\xff\xd8\xff\xe0bytes",
    "gif": b"GIF89abytes",
    "webp": b"RIFF\x0a\0\0\0WEBPbytes",
}


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
        cases = [*zip(("a.png", "b.JPG", "c.gif", "d.webp"), PICTURES, strict=True), ("misnamed.png", "jpeg")]
        for name, kind in cases:
            with self.subTest(name):
                path = self.file(name, PICTURES[kind])
                content = prompt.messages("look", None, [path], None)[0]["content"]
                url = f"data:image/{kind};base64,{base64.b64encode(PICTURES[kind]).decode()}"
                self.assertEqual(content[0], {"type": "text", "text": "look"})
                self.assertEqual(content[1], {"type": "image_url", "image_url": {"url": url}})

    def test_an_image_alone_has_no_empty_text_beside_it(self) -> None:
        content = prompt.messages(None, None, [self.file("a.png", PICTURES["png"])], None)[0]["content"]
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
            ("fake.png", b"no picture", "is not a picture"),
            ("empty.gif", b"", "is not a picture"),
            ("sound.webp", b"RIFF1234WAVE", "is not a picture"),
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

    @unittest.skipUnless(hasattr(os, "mkfifo"), "there are no named pipes here")
    def test_a_named_pipe_is_refused_and_not_waited_for(self) -> None:
        path = self.folder / "fifo.png"
        os.mkfifo(path)
        with self.assertRaises(Failure) as caught:
            prompt.messages("q", None, [str(path)], None)
        self.assertEqual(caught.exception.exit, 2)
        self.assertIn("-f -", caught.exception.hint)


class Pipe(unittest.TestCase):
    def test_which_stdin_promises_something(self) -> None:
        reading, writing = os.pipe()
        os.close(writing)
        cases: list[tuple[int | str, bool]] = [(reading, True), (os.devnull, False)]
        for source, wanted in cases:
            with self.subTest(wanted), open(source, encoding="utf-8") as stdin:
                self.assertEqual(prompt.promised(stdin), wanted)
        self.assertFalse(prompt.promised(None))
        self.assertFalse(prompt.promised(Keyboard(b"")))

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
