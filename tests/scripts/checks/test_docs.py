import unittest

from scripts.checks import docs
from scripts.checks.spoken import Spoken
from tests.scripts.trees import broken, tree

SPOKEN = Spoken(
    commands={"ask": ("-f", "--deadline"), "endpoint add": ("--base",), "log": ()},
    everywhere=("--json", "--url"),
    routes=("/v1/models", "/v1/models/{id*}", "/api/model"),
    settings=("bodies",),
)
README = """\
# House

`bench ask` with -f or --deadline, and `bench log`. To add: `endpoint add` with `--base`.
Routes: `/v1/models`, `/v1/models/{id}`, `/api/model`. Setting `bodies`.
Variables `BENCH_PORT`, `BENCHWARMERS_KEY_<NAME>`.

    python3 cli.py ask core "What?" -f app.py --json   # a comment
    cat app.py | bench ask core
    bench endpoint add NAME \\
        --base URL

See [the map](AGENTS.md#the-map), [there](docs/) and [below](#house); [out](https://example.org/x).
"""
FILES = {
    "README.md": README,
    "AGENTS.md": "# The map\n",
    "docs/X.md": "# X\n\n[up](../README.md)\n",
    "cli.py": '"""Words."""\nimport os\nos.environ.get("BENCH_PORT")\nPREFIX = "BENCHWARMERS_KEY_"\n',
    "tests/test_cli.py": "",
}

# What is done to README, the rule that then is broken, what the problem says.
BREACHES = [
    (("`bench log`", "the log"), "every command is written down", "`bench log`"),
    (("`endpoint add`", "an endpoint"), None, ""),  # the code block still says it
    (("--deadline", "deadlines"), "every option is written down", "--deadline (of ask)"),
    (("`/v1/models`,", ""), "every route is written down", "/v1/models "),
    (("`/v1/models/{id}`,", ""), "every route is written down", "/v1/models/{id*}"),
    (("/api/model`", "/api/models`"), "every route is written down", "/api/model "),
    (("`bodies`", "bodies"), "every setting is written down", "`bodies`"),
    (("`BENCH_PORT`", "a variable"), "every environment variable is written down", "BENCH_PORT (cli.py:3)"),
    (("BENCHWARMERS_KEY_<NAME>", ""), "every environment variable is written down", "BENCHWARMERS_KEY_"),
    (("python3 cli.py", "python3 gone.py"), "every command in the documents exists", "no file gone.py"),
    (("bench ask core", "bench sak core"), "every command in the documents exists", "no command 'sak'"),
    (("--json   #", "--jsno   #"), "every command in the documents exists", "ask has no option --jsno"),
    (
        ("--base URL", "--case URL"),
        "every command in the documents exists",
        "endpoint add has no option --case",
    ),
    (("docs/)", "doc/)"), "every link in the documents leads somewhere", "README.md:12 links to doc/"),
    (("#the-map", "#a-map"), "every link in the documents leads somewhere", "AGENTS.md#a-map"),
    (("(#house)", "(#home)"), "every link in the documents leads somewhere", "#home"),
]


class TestDocs(unittest.TestCase):
    def test_what_is_told_and_holds_is_left_alone(self):
        with tree(FILES) as found:
            self.assertEqual(broken(docs.checks(found, SPOKEN)), {})

    def test_each_breach_is_found(self):
        for (old, new), name, says in BREACHES:
            self.assertIn(old, README)
            with self.subTest(new), tree(FILES | {"README.md": README.replace(old, new)}) as found:
                problems = broken(docs.checks(found, SPOKEN))
                self.assertEqual(list(problems), [name] if name else [])
                self.assertIn(says, problems.get(name, ""))

    def test_tables_that_cannot_be_read_are_a_problem_of_their_own(self):
        with tree(FILES) as found:
            problems = broken(docs.checks(found, Spoken(problem="cli.py does not import")))
        self.assertEqual(list(problems), ["the product's own tables can be read"])

    def test_docstrings(self):
        with tree(
            {"metrics/a.py": "x = 1\n", "metrics/__init__.py": "", "tests/test_a.py": "x = 1\n"}
        ) as found:
            problems = broken(docs.checks(found, Spoken()))
        self.assertEqual(problems["every module opens with a docstring"].count("metrics/a.py"), 1)
        self.assertNotIn("__init__", problems["every module opens with a docstring"])

    def test_a_neighbour_that_takes_a_module_up_by_name_tests_it(self):
        cases = [
            ("from metrics.store import index\n", "tests/store/test_log.py", True),
            ("from metrics.store.index import find\n", "tests/store/test_log.py", True),
            ("from metrics.store import files\n", "tests/store/test_log.py", False),
            ("from metrics.store import index\n", "tests/web/test_http.py", False),
            ("from metrics.store import index\n", "tests/store/stage.py", False),
        ]
        for text, test, fits in cases:
            with (
                self.subTest(text, test=test),
                tree({"metrics/store/index.py": '"""Words."""\n', test: text}) as found,
            ):
                problems = broken(docs.checks(found, Spoken()))
                self.assertEqual("every module has its test module" not in problems, fits)

    def test_mirrors(self):
        cases = [
            ("metrics/store/files.py", "tests/store/test_files.py", True),
            ("metrics/records.py", "tests/test_records.py", True),
            ("serve.py", "tests/test_serve.py", True),
            ("scripts/check.py", "tests/scripts/test_check.py", True),
            ("metrics/store/files.py", "tests/test_store.py", False),
            ("metrics/play/practice/lint/flow.py", "tests/play/practice/lint/test_flow.py", True),
            ("metrics/play/practice/lint/flow.py", "tests/play/practice/test_lint.py", True),
            ("metrics/play/practice/lint/flow.py", "tests/play/test_practice.py", True),
            ("metrics/play/practice/lint/flow.py", "tests/test_play.py", False),
            ("metrics/version.py", "tests/scripts/test_package.py", True),
            ("metrics/web/__init__.py", "tests/nothing.py", True),
        ]
        for module, test, fits in cases:
            with self.subTest(module, test=test), tree({module: '"""Words."""\n', test: ""}) as found:
                problems = broken(docs.checks(found, Spoken()))
                self.assertEqual("every module has its test module" not in problems, fits)
