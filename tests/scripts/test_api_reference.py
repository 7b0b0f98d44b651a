import unittest

import serve
from metrics.web.table import Response, Route
from scripts import api_reference


def route(**about):
    return Route("GET", "/api/x", lambda call: Response(), **about)


class TableTest(unittest.TestCase):
    def test_the_document_is_what_the_routes_say(self):
        text = api_reference.TARGET.read_text("utf-8")
        self.assertEqual(
            text, api_reference.renewed(text, serve.routes(False)), "run scripts/api_reference.py"
        )

    def test_a_row(self):
        said = "`{a|b}`,\n            and more"
        self.assertEqual(
            api_reference.row(route(says=said, who="judge")),
            "| `GET /api/x` | judge | `{a\\|b}`, and more |\n",
        )
        self.assertIn("| any |", api_reference.row(route(says="s", guard="open")))

    def test_a_route_that_says_nothing_is_refused(self):
        with self.assertRaisesRegex(ValueError, "GET /api/x does not say"):
            api_reference.table([route()])

    def test_what_stands_around_the_table_stays(self):
        old = f"before\n\n{api_reference.HEAD}| `GET /gone` | admin | x |\n\nafter\n"
        new = api_reference.renewed(old, [route(says="s")])
        self.assertEqual(new, f"before\n\n{api_reference.HEAD}| `GET /api/x` | admin | s |\n\nafter\n")
        with self.assertRaises(ValueError):
            api_reference.renewed("no table", [])


if __name__ == "__main__":
    unittest.main()
