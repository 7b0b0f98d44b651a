import unittest

from metrics.client.dialects import DIALECTS

FUNCTIONS = ("Conversation", "compose", "read", "list_models", "learn")


class DialectsTest(unittest.TestCase):
    def test_each_has_what_a_call_needs(self):
        self.assertIn("chat", DIALECTS)
        for name, dialect in DIALECTS.items():
            for function in FUNCTIONS:
                with self.subTest(name, function=function):
                    self.assertTrue(callable(getattr(dialect, function, None)))
