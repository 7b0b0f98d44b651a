import random
import unittest

from metrics.bench.roster import Model
from metrics.play.practice.squad import PLAYERS, SQUAD, Player
from metrics.records import Problem
from tests.play.practice.conversations import EXAMPLE, ask, example, tool

BY_NAME = {player.name: player for player in SQUAD}
READERS = [BY_NAME[f"practice-{name}"] for name in ("lint", "paranoid", "terse", "counter")]
BRICKS = [
    "def f(",
    "):",
    "\n",
    "    ",
    "x",
    "=",
    "[",
    "]",
    "{",
    "}",
    "'",
    '"',
    '"""',
    "f'",
    "%d",
    "\\",
    "```",
    "```python\n",
    "lambda",
    ":",
]
BRICKS += [
    "if ",
    "else",
    "try:",
    "except",
    "for x in y",
    "import a",
    "\x00",
    "\ud800",
    "\u2028",
    "é",
    "@@ -1 +1 @@\n",
    "+",
    "#",
    ",",
    "1e999",
    "class A",
]
# What no parser likes; each must be answered, not died of.
HOSTILE = [
    ("deep parentheses", "(" * 10_000),
    ("deep lists", "x = " + "[" * 300 + "]" * 300),
    ("a long row of signs", "x = " + "-" * 20_000 + "1"),
    ("a long chain", "x = a" + ".b" * 3_000),
    ("many elifs", "if a: b\n" + "elif a: b\n" * 400),
    ("deep blocks", "".join(" " * n + "if x:\n" for n in range(120))),
    ("a huge number", "x = " + "9" * 6_000),
    ("NUL", "x = 1\x00"),
    ("half a surrogate", "x = '\ud800'"),
    ("too long", "x = 1\n" * 200_000),
    ("a long line", "# " + "x " * 100_000),
    ("bad escapes", "x = '\\d \\w \\N{no}'"),
]


class Table(unittest.TestCase):
    def test_every_answer_says_who_speaks(self):
        for player in SQUAD:
            if player.name != "practice-flaky":
                with self.subTest(player.name):
                    answer = player.answer(ask("hello"))
                    self.assertTrue(
                        answer.text.endswith(
                            f"\n\n*{player.name} is a program, not a model: it {player.does}.*"
                        )
                    )

    def test_flaky_refuses_then_answers(self):
        flaky = BY_NAME["practice-flaky"]
        with self.assertRaises(Problem):
            flaky.answer(ask("a conversation of this test"))
        self.assertIn(flaky.honesty, flaky.answer(ask("a conversation of this test")).text)

    def test_calls_carry_no_words(self):
        said = BY_NAME["practice-agent"].answer(ask("Read a.py", tools=(tool("read_file", "path"),)))
        self.assertEqual((len(said.calls), said.text), (1, ""))

    def test_rows_fit_the_roster(self):
        models = [Model(**row) for row in PLAYERS]
        self.assertEqual([model.alias for model in models], list(BY_NAME))
        free = [model.alias for model in models if not model.ad_hoc]
        self.assertEqual(free, ["practice-lint", "practice-paranoid", "practice-terse", "practice-counter"])
        self.assertTrue(all(model.builtin and model.price and model.price.output == 0 for model in models))

    def test_the_same_question_has_the_same_answer(self):
        for player in READERS:
            self.assertEqual(player.answer(ask(example())), player.answer(ask(example())))


class Hostile(unittest.TestCase):
    def answer(self, player: Player, text: str) -> None:
        self.assertTrue(player.answer(ask(text)).text.endswith(f"*{player.honesty}*"))

    def test_hostile_sources(self):
        for name, text in HOSTILE:
            for player in READERS:
                with self.subTest(name, player=player.name):
                    self.answer(player, f"```python\n{text}\n```")

    def test_deep_nesting_is_said(self):
        self.assertIn(
            "nested too deeply",
            BY_NAME["practice-lint"].answer(ask("```python\n" + HOSTILE[2][1] + "\n```")).text,
        )

    def test_random_texts(self):
        dice = random.Random(7)
        for _ in range(150):
            text = "".join(dice.choice(BRICKS) for _ in range(dice.randrange(60)))
            for player in READERS:
                with self.subTest(text):
                    self.answer(player, text)

    def test_random_bytes(self):
        dice = random.Random(8)
        for _ in range(50):
            text = "```python\n" + bytes(dice.randrange(256) for _ in range(100)).decode("latin-1")
            for player in READERS:
                with self.subTest(text):
                    self.answer(player, text)

    def test_every_cut_of_the_example(self):
        text = EXAMPLE.read_text(encoding="utf-8")
        for end in range(0, len(text), 7):
            for player in READERS:
                with self.subTest(end):
                    self.answer(player, f"File: pricing.py\n```python\n{text[:end]}\n```")

    def test_odd_messages(self):
        odd = [
            {"role": "user"},
            {"role": "user", "content": None},
            {"role": "user", "content": [1, {"text": 2}]},
            {"role": "user", "content": []},
        ]
        for message in odd:
            for player in SQUAD:
                if player.name != "practice-flaky":
                    with self.subTest(message, player=player.name):
                        player.answer(ask(message))
