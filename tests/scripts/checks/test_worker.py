import io
import json
import unittest

from scripts.checks import worker


class Sample(unittest.TestCase):
    """Tests to be run by the test below, never by themselves: their names do not begin with test."""

    def passes(self):
        pass

    def fails(self):
        self.fail("because")

    def breaks(self):
        raise KeyError("gone")

    def skips(self):
        self.skipTest("not here")

    def fails_in_parts(self):
        for number in range(3):
            with self.subTest(number):
                self.assertEqual(number, 1)

    @unittest.expectedFailure
    def fails_as_expected(self):
        self.fail("as it should")

    @unittest.expectedFailure
    def passes_unexpectedly(self):
        pass


class SlowSample(Sample):
    pass


class Unready(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no disk")

    def passes(self):
        pass


def events(*tests: unittest.TestCase) -> list[dict[str, str]]:
    lines = io.StringIO()
    unittest.TestSuite(tests).run(worker.Report(lines))
    return [json.loads(line) for line in lines.getvalue().splitlines()]


class TestWorker(unittest.TestCase):
    def test_every_test_ends_in_one_line(self):
        cases = [
            ("passes", "passed", ""),
            ("fails", "failed", "because"),
            ("breaks", "failed", "gone"),
            ("skips", "skipped", "not here"),
            ("fails_in_parts", "failed", "(<subtest>)"),
            ("fails_as_expected", "passed", ""),
            ("passes_unexpectedly", "failed", "expected to fail"),
        ]
        for name, end, says in cases:
            with self.subTest(name):
                started, ended = events(Sample(name))
                self.assertTrue(started["start"].endswith(name))
                self.assertTrue(ended[end].endswith(name))
                self.assertIn(says.replace("(<subtest>)", "[0]"), ended.get("text", ""))

    def test_both_broken_parts_are_told(self):
        self.assertEqual(events(Sample("fails_in_parts"))[1]["text"].count("Traceback"), 2)

    def test_a_class_that_cannot_be_set_up_is_a_failure(self):
        (ended,) = events(Unready("passes"))
        self.assertIn("no disk", ended["text"])
        self.assertIn("setUpClass", ended["failed"])

    def test_quick_leaves_slow_classes_out(self):
        suite = unittest.TestSuite([Sample("passes"), unittest.TestSuite([SlowSample("passes")])])
        self.assertEqual(worker.tests(suite, quick=False).countTestCases(), 2)
        self.assertEqual(worker.tests(suite, quick=True).countTestCases(), 1)
