import json
import unittest

from metrics.play.practice.agent import play
from metrics.play.practice.ask import Ask, Said, Tool
from tests.play.practice.conversations import ask, tool

LIST = tool("list_files", "path")
READ = tool("read_file", "path")
WRITE = tool("write_file", "path", "content")
WEATHER = tool("get_weather", "city", unit={"type": "string", "enum": ["celsius", "fahrenheit"]})
RESULTS = {
    "list_files": "src/pricing.py\nREADME.md",
    "read_file": "x = 1",
    "get_weather": "12 degrees",
    "write_file": "done",
}


def loop(said: str, *tools: Tool, **options: object) -> tuple[list[list[str]], str]:
    """A whole turn: the calls of each round as `name(arguments)`, and the text at its end."""
    messages: list[object] = [{"role": "user", "content": said}]
    rounds = []
    for _ in range(9):
        answer = play(ask(*messages, tools=tools, **options))
        if not answer.calls:
            return rounds, answer.text
        rounds.append([f"{call.name}({call.arguments})" for call in answer.calls])
        messages += after(answer)
    raise AssertionError("it never ends")


def after(answer: Said) -> list[object]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.calls
    ]
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": RESULTS.get(call.name, "ok")}
        for call in answer.calls
    ]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


# what the user says, the tools, the rounds of calls
TURNS = [
    (
        "look, then read what was found",
        "What is here?",
        [READ, LIST],
        [['list_files({"path": "."})'], ['read_file({"path": "src/pricing.py"})']],
    ),
    ("a file named is read at once", "Explain b.py", [LIST, READ], [['read_file({"path": "b.py"})']]),
    (
        "a tool named",
        "Use write_file on out.txt",
        [LIST, WRITE],
        [['write_file({"path": "out.txt", "content": "content"})']],
    ),
    ("nothing dangerous unasked", "Tidy up", [WRITE], []),
    (
        "in words and enums",
        "Weather in Berlin, in fahrenheit?",
        [WEATHER],
        [['get_weather({"city": "Berlin"})']],
    ),
    (
        "both at once",
        "Read both a.py and b.py",
        [READ],
        [['read_file({"path": "a.py"})', 'read_file({"path": "b.py"})']],
    ),
    (
        "one after the other",
        "Read a.py, then b.py",
        [READ],
        [['read_file({"path": "a.py"})'], ['read_file({"path": "b.py"})']],
    ),
]


class Turns(unittest.TestCase):
    def test_turns(self):
        for name, said, tools, expected in TURNS:
            with self.subTest(name):
                self.assertEqual(loop(said, *tools)[0], expected)

    def test_the_end_quotes_what_tools_said(self):
        text = loop("What is here?", LIST, READ)[1]
        for part in ("2 calls", "`list_files`", "> src/pricing.py", "> x = 1"):
            self.assertIn(part, text)

    def test_never_more_than_four_rounds(self):
        tools = [tool(f"tool_{number}") for number in range(9)]
        said = "Use " + ", ".join(one.name for one in tools)
        self.assertEqual(len(loop(said, *tools)[0]), 4)

    def test_parallel_calls_may_be_forbidden(self):
        self.assertEqual(
            [len(one) for one in loop("Read both a.py and b.py", READ, parallel=False)[0]], [1, 1]
        )

    def test_choices(self):
        self.assertEqual(loop("Read a.py", READ, choice="none")[0], [])
        self.assertEqual(
            loop("Tidy up", WRITE, choice="required")[0],
            [['write_file({"path": "README.md", "content": "content"})']],
        )
        self.assertEqual(
            loop("Read a.py", READ, LIST, choice="list_files")[0], [['list_files({"path": "."})']]
        )

    def test_no_tools(self):
        self.assertIn("No tools", loop("Read a.py")[1])

    def test_the_same_asked_twice_is_the_same(self):
        first, second = (play(ask("What is here?", tools=(LIST,))) for _ in range(2))
        self.assertEqual(first, second)

    def test_odd_histories(self):
        odd = [
            [{"role": "assistant", "tool_calls": "x"}],
            [
                {
                    "role": "assistant",
                    "tool_calls": [None, {"id": 1, "function": None}, {"function": {"name": 3}}],
                }
            ],
            [{"role": "tool", "content": None}],
            [{"role": "user", "content": [{"type": "text", "text": 3}, None]}],
        ]
        for messages in odd:
            with self.subTest(messages):
                play(
                    Ask(messages, (LIST, Tool("", "", {}), Tool("x", "", {"properties": 3, "required": "y"})))
                )

    def test_arguments_are_json(self):
        call = play(ask('Search for "ü"', tools=(tool("search", "query"),))).calls[0]
        self.assertEqual(json.loads(call.arguments), {"query": "ü"})
