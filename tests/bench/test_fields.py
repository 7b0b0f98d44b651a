import math
import unittest
from typing import Any

from metrics.bench import fields
from metrics.records import Price, Problem

LONG = "x" * 301

# check, value, what is kept; or the words that the refusal has
KEPT: list[tuple[str, fields.Check, Any, Any]] = [
    ("text is stripped", fields.text(), " a b\n", "a b"),
    ("an empty text", fields.text(), "", ""),
    ("a whole number", fields.whole(1, 5), 5, 5),
    ("a whole number as a float", fields.whole(1, 5), 5.0, 5),
    ("a number", fields.number(1, 3600), 0.5e2, 50.0),
    ("a choice", fields.one_of("all", "none"), "none", "none"),
    ("a flag", fields.flag, False, False),
    ("null is none", fields.maybe(fields.flag), None, None),
    ("an empty text is none", fields.maybe(fields.name), "", None),
    ("a name", fields.name, "my-box-2", "my-box-2"),
    ("an alias", fields.alias, "Qwen3.5_4b-it", "Qwen3.5_4b-it"),
    ("a list", fields.words(2, fields.tag), ["a", "b c"], ["a", "b c"]),
    ("an empty list", fields.words(2, fields.tag), [], []),
    ("a price", fields.price, {"input": 0, "output": 2.5}, Price(0, 2.5)),
    ("a price of unknown parts", fields.price, {"input": None}, Price()),
]
REFUSED: list[tuple[str, fields.Check, Any, str]] = [
    ("a number as text", fields.text(), 5, "must be a text, not 5"),
    ("a long text", fields.text(), LONG, "301 characters long; the most is 300"),
    ("control characters", fields.text(), "a\x00b", "control characters"),
    ("half a character", fields.text(), "a\ud800b", "control characters"),
    ("an empty text that must not be", fields.text(empty=False), "  ", "must not be empty"),
    ("two lines", fields.line(), "a\nb", "one line"),
    ("too many", fields.whole(1, 5), 6, "a whole number from 1 to 5, not 6"),
    ("a fraction", fields.whole(1, 5), 1.5, "whole number"),
    ("true is no number", fields.whole(0, 5), True, "not true"),
    ("a number in quotes", fields.whole(0, 5), "3", 'not "3"'),
    ("not a number", fields.number(1, 3600), math.nan, "from 1 to 3600"),
    ("no end", fields.number(1, 3600, "seconds"), math.inf, "from 1 to 3600 seconds"),
    ("below", fields.number(1, 3600), 0.5, "not 0.5"),
    ("a false number", fields.number(0, 1), False, "not false"),
    ("another choice", fields.one_of("all", "none"), "some", "one of all, none"),
    ("a list as choice", fields.one_of("all"), ["all"], "not a list"),
    ("a word as flag", fields.flag, "yes", "true or false"),
    ("one letter", fields.name, "a", "2 to 32"),
    ("33 letters", fields.name, "a" * 33, "2 to 32"),
    ("capitals", fields.name, "Core", "lower-case"),
    ("a line end", fields.name, "core\n", "lower-case"),
    ("a letter of another script", fields.name, "cöre", "lower-case"),
    ("null as name", fields.name, None, "not null"),
    ("an alias that starts with a dot", fields.alias, ".hidden", "starting with a letter or digit"),
    ("an alias with a slash", fields.alias, "a/b", "letters, digits"),
    ("65 letters", fields.alias, "a" * 65, "2 to 64"),
    ("a text as list", fields.words(2, fields.tag), "a,b", 'must be a list, not "a,b"'),
    ("too many entries", fields.words(2, fields.tag), ["a", "b", "c"], "3 entries; the most is 2"),
    ("twice", fields.words(3, fields.tag), ["a", "b", "a"], '"a" twice'),
    ("a number in a list", fields.words(3, fields.tag), [1], "must be a text, not 1"),
    ("a tag in capitals", fields.words(3, fields.tag), ["Python"], "lower-case"),
    ("a negative price", fields.price, {"input": -1}, '"input" must be a number from 0'),
    ("a price as a number", fields.price, 3, "must be an object"),
    ("a part that is none", fields.price, {"in": 3}, '"in" is not a field here'),
]


class Fields(unittest.TestCase):
    def test_kept(self) -> None:
        for case, check, value, kept in KEPT:
            with self.subTest(case):
                self.assertEqual(check("x", value), kept)

    def test_refused(self) -> None:
        for case, check, value, words in REFUSED:
            with self.subTest(case), self.assertRaises(Problem) as refusal:
                check("x", value)
            self.assertEqual(refusal.exception.status, 400, case)
            self.assertIn(words, refusal.exception.message, case)

    def test_every_refusal_is_short_and_names_its_field(self) -> None:
        for case, check, value, _ in REFUSED:
            with self.subTest(case):
                try:
                    check("colour", value)
                except Problem as problem:
                    self.assertTrue(
                        problem.param == "colour" or case == "a part that is none" or "price" in case
                    )
                    self.assertLess(len(problem.message), 200)

    def test_take(self) -> None:
        table = {"name": fields.name, "on": fields.flag}
        self.assertEqual(fields.take({"on": True}, table), {"on": True})
        for form, words in (({"onn": True}, "these are: name, on"), ({"on": True}, '"name" is missing')):
            with self.subTest(form=form), self.assertRaises(Problem) as refusal:
                fields.take(form, table, required=("name",))
            self.assertIn(words, refusal.exception.message)


if __name__ == "__main__":
    unittest.main()
