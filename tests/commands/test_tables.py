import unittest

from metrics.commands import tables


class Table(unittest.TestCase):
    def test_shape(self) -> None:
        text = tables.table(("name", ">n"), [("a", "1"), ("long name", "1,000")])
        self.assertEqual(text, "name           n\n---------  -----\na              1\nlong name  1,000\n")

    def test_no_rows_still_has_its_header(self) -> None:
        self.assertEqual(tables.table(("name", ">n"), []), "name  n\n----  -\n")

    def test_wide_and_combining_characters_line_up(self) -> None:
        rows = [("日本", "x"), ("e\u0301a", "x"), ("abcd", "x"), ("a\u200bb", "x")]
        lines = tables.table(("name", "x"), rows).splitlines()[2:]
        self.assertEqual({tables.shown(line) for line in lines}, {7})

    def test_a_cell_stays_on_its_line(self) -> None:
        text = tables.table(("task",), [("one\ntwo\x1b[31m\x9b2J",)])
        self.assertEqual(text.splitlines()[2], "one two[31m2J")

    def test_only_the_widest_text_column_is_cut(self) -> None:
        rows = [("a" * 30, "b" * 10, "1234567890")]
        text = tables.table(("a", "b", ">n"), rows, width=40)
        last = text.splitlines()[-1]
        self.assertEqual(tables.shown(last), 40)
        self.assertIn("b" * 10, last)
        self.assertTrue(last.endswith("1234567890"))
        self.assertIn("…", last)

    def test_never_cut_without_a_width(self) -> None:
        self.assertIn("a" * 500, tables.table(("a",), [("a" * 500,)]))

    def test_less_important_columns_go_before_any_is_cut_too_far(self) -> None:
        columns, row = ("a", "=id", ">n", "b"), ("a" * 30, "i" * 30, "12345", "b" * 30)
        cases = [
            (None, "a id n b"),
            (101, "a id n b"),
            (73, "a id n b"),
            (72, "a id n"),
            (57, "a id n"),
            (54, "a id"),
            (47, "id"),
            (10, "id"),
        ]
        for width, wanted in cases:
            with self.subTest(width=width):
                lines = tables.table(columns, [row], width, ("b", ">n", "a")).splitlines()
                self.assertEqual(" ".join(lines[0].split()), wanted)
                self.assertIn("i" * 30, lines[2])
                self.assertLessEqual(max(map(len, lines)), max(width or 200, 30))

    def test_numbers_are_never_cut(self) -> None:
        self.assertIn("123456789012", tables.table(("a", ">n"), [("abc", "123456789012")], width=6))

    def test_cut_counts_columns(self) -> None:
        cases = [("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…")]
        for text, width, wanted in cases:
            with self.subTest(text=text, width=width):
                self.assertEqual(tables.cut(text, width), wanted)


class Words(unittest.TestCase):
    def test_money_never_shows_unknown_as_zero(self) -> None:
        cases = [
            (None, "unknown"),
            (0, "$0"),
            (0.0, "$0"),
            (1, "$1.00"),
            (0.0123, "$0.0123"),
            (1234.5, "$1234.50"),
            (0.000001, "$0.000001"),
            (0.0000004, "<$0.000001"),
            (0.1234567, "$0.123457"),
        ]
        for usd, wanted in cases:
            with self.subTest(usd=usd):
                self.assertEqual(tables.money(usd), wanted)

    def test_seconds_are_never_blank(self) -> None:
        cases = [(0.0, "0.0"), (0, "0.0"), (0.04, "0.0"), (12.34, "12.3"), (None, "-")]
        for value, wanted in cases:
            with self.subTest(value=value):
                self.assertEqual(tables.seconds(value), wanted)

    def test_span_and_ago(self) -> None:
        cases = [(0, "0 s"), (-5, "0 s"), (59.9, "59 s"), (60, "1 min"), (7300, "2 h"), (200000, "2 d")]
        for length, wanted in cases:
            with self.subTest(length=length):
                self.assertEqual(tables.span(length), wanted)
        self.assertEqual(tables.ago("1970-01-01T00:00:00.000Z", 300.0), "5 min ago")
        self.assertEqual(tables.ago("yesterday", 300.0), "yesterday")

    def test_unknown_counts_and_answers(self) -> None:
        self.assertEqual(
            [tables.number(None), tables.number(0), tables.number(128000)], ["unknown", "0", "128,000"]
        )
        self.assertEqual([tables.yes_no(value) for value in (None, True, False)], ["unknown", "yes", "no"])
        self.assertEqual(
            [tables.plural(n, "seat") for n in (0, 1, 2000)], ["0 seats", "1 seat", "2,000 seats"]
        )


if __name__ == "__main__":
    unittest.main()
