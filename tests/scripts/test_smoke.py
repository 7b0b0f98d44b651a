import contextlib
import io
import os
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from scripts import smoke

ROOT = Path(smoke.__file__).resolve().parent.parent
RUN = "import sys; sys.path.insert(0, '{root}'); import cli; sys.exit(cli.main(program='{name}'))"
PROGRAM = f'#!/bin/sh\nexec {{python}} -c "{RUN}" "$@"\n'


@unittest.skipIf(os.name == "nt", "the stand-ins are shell scripts")
class SlowSmoke(unittest.TestCase):
    def run_on(self, programs: dict[str, str]) -> tuple[int, str]:
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            for name, text in programs.items():
                path = Path(folder, name)
                path.write_text(text, encoding="utf-8")
                path.chmod(0o755)
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
                code = smoke.main([folder])
        return code, said.getvalue()

    def test_a_whole_one_passes(self):
        programs = {
            name: PROGRAM.format(python=sys.executable, root=ROOT, name=name)
            for name in ("bench", "benchwarmers")
        }
        code, said = self.run_on(programs)
        self.assertEqual(code, 0, said)
        self.assertEqual(said.splitlines()[-1], "11 passed, 0 failed")

    def test_a_broken_one_fails(self):
        code, said = self.run_on(dict.fromkeys(("bench", "benchwarmers"), "#!/bin/sh\necho no; exit 1\n"))
        self.assertEqual(code, 1)
        self.assertRegex(said.splitlines()[-1], r"^\d passed, [1-9] failed$")

    def test_the_environment_is_that_of_a_newcomer(self):
        with unittest.mock.patch.dict(os.environ, {"BENCH_PORT": "1", "XAI_API_KEY": "x", "PATH": "/bin"}):
            env = smoke.environment(Path("/nowhere"))
        self.assertEqual((env["HOME"], env["PATH"]), (str(Path("/nowhere")), "/bin"))
        self.assertFalse({"BENCH_PORT", "XAI_API_KEY"} & set(env))
