import unittest

from scripts.checks import manners
from tests.scripts.trees import broken, tree

OPENS = "only store/ opens data files"
PRINTS = "only cli.py, commands/ and the mains print"
EXITS = "only cli.py, commands/ and the mains exit"
CATCHES = "everything is caught only where it is logged"
ENCODING = "text files name their encoding"
IMPORT = "nothing works at import"

BREACHES = [
    (OPENS, "open(path, 'rb')"),
    (OPENS, "path.open('rb')"),
    (OPENS, "path.read_text(encoding='utf-8')"),
    (OPENS, "Path('a').write_bytes(b'')"),
    (OPENS, "os.replace(a, b)"),
    (OPENS, "import sqlite3"),
    (OPENS, "from shutil import rmtree"),
    (PRINTS, "print('hello')"),
    (PRINTS, "sys.stderr.write('hello')"),
    (EXITS, "sys.exit(1)"),
    (EXITS, "os._exit(1)"),
    (EXITS, "raise SystemExit(1)"),
    (CATCHES, "try:\n    f()\nexcept Exception as problem:\n    g(problem)"),
    (CATCHES, "try:\n    f()\nexcept:\n    pass"),
    (CATCHES, "try:\n    f()\nexcept (OSError, BaseException):\n    pass"),
    ("no os.fork", "os.fork()"),
    (ENCODING, "open(path)"),
    (ENCODING, "path.open('w')"),
    (ENCODING, "path.read_text()"),
    (ENCODING, "path.write_text('x')"),
]
FINE = [
    "transport.open('GET', url)",
    "webbrowser.open(url)",
    "text.replace('a', 'b')",
    "log(traceback.format_exc())",
    "raise Problem(500, 'no')",
    "try:\n    f()\nexcept OSError:\n    pass",
    "try:\n    f()\nexcept BaseException:\n    undo()\n    raise",
]


def inside(body: str) -> str:
    return "def f():\n" + "".join(f"    {line}\n" for line in body.splitlines())


class TestManners(unittest.TestCase):
    def test_each_breach_is_found(self):
        for name, body in BREACHES:
            for path in ("metrics/play/a.py", "suite/a.py"):
                with self.subTest(body, path=path), tree({path: inside(body)}) as found:
                    self.assertIn(f"{path}:", broken(manners.checks(found)).get(name, "nothing"))

    def test_what_is_fine_is_left_alone(self):
        for body in FINE:
            with self.subTest(body), tree({"metrics/play/a.py": inside(body)}) as found:
                self.assertEqual(broken(manners.checks(found)), {})

    def test_each_rule_has_its_places(self):
        cases = [
            ("metrics/store/a.py", "open(path, 'rb')"),
            ("metrics/web/static.py", "path.read_bytes()"),
            ("metrics/commands/a.py", "print('x')\nsys.exit(1)\nopen(p, 'rb')"),
            ("cli.py", "print('x')\nsys.exit(1)"),
            ("serve.py", "print('x')\nraise SystemExit(1)"),
            ("metrics/play/relay.py", "try:\n    f()\nexcept Exception:\n    traceback.print_exc()"),
            ("metrics/web/http.py", "try:\n    f()\nexcept Exception:\n    log(1)"),
            ("scripts/a.py", "print(open(path, 'rb'))\nsys.exit()"),
            ("tests/test_a.py", "print(open(path, 'rb'))\nsys.exit()"),
        ]
        for path, body in cases:
            with self.subTest(path), tree({path: inside(body)}) as found:
                self.assertEqual(broken(manners.checks(found)), {})

    def test_encodings_are_named_in_scripts_too(self):
        with tree({"scripts/a.py": inside("open(path)")}) as found:
            self.assertEqual(list(broken(manners.checks(found))), [ENCODING])

    def test_work_at_import(self):
        cases = [
            ("start()\n", True),
            ("with lock:\n    pass\n", True),
            ('"""Words."""\nimport a\nX = make()\ndef f():\n    g()\n', False),
        ]
        for text, works in cases:
            with self.subTest(text), tree({"metrics/a.py": text}) as found:
                self.assertEqual(IMPORT in broken(manners.checks(found)), works)
