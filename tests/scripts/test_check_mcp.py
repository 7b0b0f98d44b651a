import contextlib
import io
import json
import re
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

from scripts import check_mcp


class Pins(unittest.TestCase):
    def test_everything_is_pinned_to_one_version(self) -> None:
        for line in (check_mcp.HERE / "requirements.txt").read_text(encoding="utf-8").splitlines():
            self.assertRegex(line, r"^[\w-]+==\d[\w.]*$")
        package = json.loads((check_mcp.HERE / "package.json").read_text(encoding="utf-8"))
        for version in package["dependencies"].values():
            self.assertRegex(version, r"^\d+\.\d+\.\d+$")

    def test_what_the_node_script_asks_for_is_pinned(self) -> None:
        package = json.loads((check_mcp.HERE / "package.json").read_text(encoding="utf-8"))
        asked = re.findall(r'from "(@[^".:]+)', (check_mcp.HERE / "talk.mjs").read_text(encoding="utf-8"))
        for name in asked:
            self.assertTrue(any(name.startswith(pinned) for pinned in package["dependencies"]), name)


class Main(unittest.TestCase):
    def run_it(self, *words: str, **parts: Counter[tuple[str, str]]) -> tuple[int, str]:
        said = io.StringIO()
        made = {name: mock.Mock(return_value=counts) for name, counts in parts.items()}
        with (
            mock.patch.object(sys, "argv", ["check_mcp.py", *words]),
            mock.patch.object(check_mcp, "PARTS", made),
            mock.patch.object(check_mcp, "serving", lambda *given: contextlib.nullcontext(None)),
            contextlib.redirect_stdout(said),
        ):
            return check_mcp.main(), said.getvalue().splitlines()[-1]

    def test_it_counts(self) -> None:
        well, badly = Counter({("PASS", "a"): 3}), Counter({("PASS", "b"): 1, ("FAIL", "b"): 2})
        self.assertEqual(self.run_it(a=well), (0, "3 passed, 0 failed"))
        self.assertEqual(self.run_it(a=well, b=badly), (1, "4 passed, 2 failed"))
        self.assertEqual(self.run_it("a", a=well, b=badly), (0, "3 passed, 0 failed"))
        self.assertEqual(self.run_it(a=Counter()), (1, "0 passed, 0 failed"))

    def test_unknown_parts_are_refused(self) -> None:
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            self.run_it("x", a=Counter())


class Pieces(unittest.TestCase):
    def setUp(self) -> None:
        self.said = self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        where = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bench = check_mcp.Bench("http://127.0.0.1:9", "bwk_x", where)

    def listened(self, program: str) -> Counter[tuple[str, str]]:
        return check_mcp.listened([sys.executable, "-c", program], self.bench.where, self.bench)

    def test_a_script_is_told_where_to_go_and_listened_to(self) -> None:
        told = "import os; print('PASS lib 1.0: ' + os.environ['BASE_URL'] + os.environ['KEY'])"
        self.assertEqual(self.listened(told), Counter({("PASS", "lib 1.0"): 1}))
        self.assertIn("PASS lib 1.0: http://127.0.0.1:9bwk_x", self.said.getvalue())
        self.assertEqual(self.listened("print('FAIL lib: x'); exit(1)"), Counter({("FAIL", "lib"): 1}))

    def test_one_that_ends_badly_is_a_failure(self) -> None:
        for program in ("import no_such_module_here", "print('PASS lib: x'); exit(3)"):
            counts = self.listened(program)
            self.assertEqual(sum(many for (word, _), many in counts.items() if word == "FAIL"), 1)


if __name__ == "__main__":
    unittest.main()
