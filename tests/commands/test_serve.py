import unittest
from unittest import mock

from metrics.commands import serve


class Serving(unittest.TestCase):
    def test_the_main_of_that_name_gets_the_words(self) -> None:
        for word in serve.MAINS:
            for outcome, code in ((None, 0), (0, 0), (1, 1)):
                with self.subTest(word=word, outcome=outcome), mock.patch("importlib.import_module") as load:
                    load.return_value.main.return_value = outcome
                    self.assertEqual(serve.main(word, ["--port", "0"]), code)
                    load.assert_called_once_with(word)
                    load.return_value.main.assert_called_once_with(["--port", "0"])


if __name__ == "__main__":
    unittest.main()
