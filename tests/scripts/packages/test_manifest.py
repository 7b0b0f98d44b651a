import tempfile
import unittest
import unittest.mock
import zipfile
from pathlib import Path

from scripts.packages import archives, manifest, wheel


class TestContext(unittest.TestCase):
    def test_an_image_is_built_from_the_same_list(self):
        """.dockerignore lets in what CONTEXT names, and nothing else."""
        said = (manifest.ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        let_in = {line[1:] for line in said if line.startswith("!")}
        self.assertIn("*", said)
        self.assertEqual(let_in, set(manifest.CONTEXT))


class TestManifest(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(unittest.mock.patch.object(manifest, "ROOT", self.root))

    def put(self, *paths: str, text: str = "x"):
        for path in paths:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8")

    def test_what_is_left_out(self):
        kept = ["metrics/a.py", "metrics/deep/b.json", "ui/app.js", "ui/fonts/serif.woff2"]
        self.put(
            *kept,
            "metrics/__pycache__/a.pyc",
            "ui/.DS_Store",
            "metrics/.mypy_cache/x",
            "ui/node_modules/y.js",
        )
        self.put("elsewhere/c.py", "metrics/.a.py.draft", "metrics/a.lock")
        (self.root / "metrics" / "link.py").symlink_to(self.root / "elsewhere" / "c.py")
        self.assertEqual([path for path, _ in manifest.files(["metrics", "ui", "absent"])], kept)

    def test_the_application_has_nothing_for_developers_alone(self):
        self.put("ui/README.md", "docs/pictures/a.png", "docs/CLI.md", "AGENTS.md", "tests/a.py")
        self.put("README.md", text="[cli](docs/CLI.md) [map](AGENTS.md) ![p](docs/pictures/a.png)")
        held = manifest.application()
        self.assertEqual(sorted(held), ["README.md", "docs/CLI.md"])
        self.assertEqual(held["README.md"], b"[cli](docs/CLI.md) map ")

    def test_a_version_is_three_numbers(self):
        for said, good in [
            ("0.1.0", True),
            ("1.20.3", True),
            ("1.0", False),
            ("01.0.0", False),
            ("1.0.0rc1", False),
        ]:
            with self.subTest(said):
                self.put("metrics/version.py", text=f'"""V."""\n\nVERSION = "{said}"\n')
                if good:
                    self.assertEqual(manifest.version(), said)
                else:
                    with self.assertRaisesRegex(ValueError, "MAJOR.MINOR.PATCH"):
                        manifest.version()

    def test_modes(self):
        for path, mode in [
            ("cli.py", 0o644),
            (".ci/run", 0o755),
            ("bin/bench.js", 0o755),
            ("lib/launch.js", 0o644),
        ]:
            self.assertEqual(manifest.mode(path), mode)

    def test_the_wheel_ends_with_its_record(self):
        names = ["b.dist-info/RECORD", "b.dist-info/WHEEL", "b/z.py", "b.dist-info/METADATA"]
        archives.zip(self.root / "x.whl", dict.fromkeys(names, b"x"), wheel.order)
        with zipfile.ZipFile(self.root / "x.whl") as packed:
            self.assertEqual(
                packed.namelist(),
                ["b/z.py", *sorted(names[1::2], reverse=True), names[0]][:1]
                + ["b.dist-info/METADATA", "b.dist-info/WHEEL", "b.dist-info/RECORD"],
            )
