import base64
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from scripts.bench import product, weights
from scripts.bench.forms import FORMS
from scripts.bench.weights import Load

CHAT = FORMS[0]
BLIND = next(form for form in FORMS if not form.sees)


class WeightsTest(unittest.TestCase):
    def test_bodies_are_as_large_as_they_should_be(self):
        for form in (CHAT, BLIND):
            made = dict(weights.bodies(form, "m"))
            self.assertEqual("picture" in made, form.sees)
            for what, body in made.items():
                wanted = weights.PICTURE if what == "picture" else weights.PROMPT
                with self.subTest(form.name, what=what):
                    self.assertLess(abs(len(body) - wanted), wanted / 100)
                    self.assertLess(len(body), 20_000_000)
                    json.loads(body)
        picture = json.loads(dict(weights.bodies(CHAT, "m"))["picture"])["messages"][0]["content"][1]
        data = base64.b64decode(picture["image_url"]["url"].partition(",")[2], validate=True)
        self.assertTrue(data.startswith(weights.PNG))

    def test_what_is_too_heavy(self):
        light, heavy = (
            Load("chat", "prompt", "panel of 1", 100, 399),
            Load("gemini", "picture", "route", 100, 400),
        )
        self.assertEqual(weights.heavy([light]), [])
        self.assertIn("gemini, picture, route: the peak rises x4.0", weights.heavy([light, heavy])[0])
        self.assertEqual(weights.report([light, heavy])["missed"], weights.heavy([heavy]))
        lines = list(weights.table([light, heavy]))
        self.assertEqual(len(lines), 3)
        self.assertTrue(lines[2].endswith("over"))
        self.assertEqual(lines[1].split()[-1], "3.99")

    @unittest.skipUnless(sys.platform == "linux", "nothing else tells the peak")
    def test_the_peak_of_a_process(self):
        program = (
            "import sys; print(flush=True); sys.stdin.readline(); bytearray(64 << 20); print(flush=True)"
        )
        line = [sys.executable, "-c", program + "; sys.stdin.readline()"]
        with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            before = weights.settled(process.pid)
            process.stdin.write(b"\n")
            process.stdin.flush()
            process.stdout.readline()
            risen = weights.peak(process.pid) - before
            process.stdin.close()
        self.assertGreater(risen, 60 << 20)
        self.assertLess(risen, 80 << 20)


@unittest.skipUnless(sys.platform == "linux", "nothing else tells the peak")
class SlowWeights(unittest.TestCase):
    def test_a_large_request_of_a_real_server(self):
        """The one that every format comes down to: a picture, to a panel of five."""
        with tempfile.TemporaryDirectory() as folder, product.mock() as provider:
            body = dict(weights.bodies(CHAT, "bench/five"))["picture"]
            rise = weights.rise(Path(folder, "home"), provider, CHAT, "bench/five", body)
        self.assertGreater(rise, len(body))
        self.assertLess(rise, weights.MOST * len(body))
