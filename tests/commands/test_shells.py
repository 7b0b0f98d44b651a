import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from metrics.commands import shells

NASTY = 'it\'s $HOME `x` "q"\nnew % line \\ é'
DOCUMENT = {
    "env": {"BENCH_A": NASTY, "BENCH_B": "plain"},
    "unset": ["BENCH_C"],
    "files": {},
    "links": {},
    "command": ["pi", "-e", "a b.js", "one\ntwo"],
}


class Posix(unittest.TestCase):
    @unittest.skipIf(os.name == "nt", "there is no POSIX shell on Windows")
    def test_a_shell_that_ran_it_has_it_all(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file, link = Path(folder, "o'f", "it's.json"), Path(folder, "o'f", "link")
            document = {**DOCUMENT, "files": {str(file): NASTY}, "links": {str(link): folder}}
            show = 'printf \'%s|%s|%s\' "$BENCH_A" "$BENCH_B" "${BENCH_C-gone}"'
            ran = subprocess.run(
                ["/bin/sh", "-euc", shells.script(document, windows=False) + show],
                capture_output=True,
                encoding="utf-8",
                env={"BENCH_C": "here", "PATH": os.environ["PATH"]},
            )
            self.assertEqual((ran.stderr, ran.stdout), ("", f"{NASTY}|plain|gone"))
            self.assertEqual(file.read_text(encoding="utf-8"), f"{NASTY}\n")
            self.assertEqual(file.parent.stat().st_mode & 0o777, 0o700)
            self.assertEqual(os.readlink(link), folder)

    def test_the_command_is_a_comment_of_one_line(self) -> None:
        for windows, words in ((False, "# then: pi -e 'a b.js' "), (True, "# then: pi -e 'a b.js' ")):
            with self.subTest(windows=windows):
                last = shells.script(DOCUMENT, windows).splitlines()[-1]
                self.assertTrue(last.startswith(words), last)


class PowerShell(unittest.TestCase):
    def test_only_the_quote_means_something(self) -> None:
        path = "C:\\a b\\it's.json"
        document = {**DOCUMENT, "files": {path: "x"}, "links": {"C:\\l": "C:\\t"}}
        script = shells.script(document, windows=True)
        for line in (
            "New-Item -ItemType Directory -Force 'C:\\a b' | Out-Null",
            "[IO.File]::WriteAllText('C:\\a b\\it''s.json', 'x')",
            "-Path 'C:\\l' -Target 'C:\\t'",
            "Remove-Item Env:BENCH_C -ErrorAction SilentlyContinue",
            "$env:BENCH_B = 'plain'",
            "$env:BENCH_A = 'it''s $HOME `x`",
        ):
            with self.subTest(line):
                self.assertIn(line, script)


if __name__ == "__main__":
    unittest.main()
