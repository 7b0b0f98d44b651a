import unittest

from metrics.events import Chunk, Closed, Text, Tick, ToolArguments, ToolStart
from metrics.formats.calls import Calls, Turns, Whole, arguments_text, plain, whole
from metrics.records import Problem


def turns(*steps):
    """What is built by (call id name), (result id name text) and (user text)."""
    built = Turns()
    for step in steps:
        match step:
            case ("call", given, name):
                built.call(given, name, "{}")
            case ("result", given, name, text):
                built.result(given, name, text, "here")
            case (role, text):
                built.assistant(text) if role == "assistant" else built.add(role, text)
    return built.messages


def told(messages):
    """Roles, with ids: "assistant a,b", "tool a=text"."""
    out = []
    for message in messages:
        ids = ",".join(call["id"] for call in message.get("tool_calls", ()))
        if message["role"] == "tool":
            out.append(f"tool {message['tool_call_id']}={message['content']}")
        else:
            out.append(" ".join(filter(None, (message["role"], message["content"], ids))))
    return out


class ThoughtsTest(unittest.TestCase):
    def test_they_stay_with_the_calls_that_they_led_to(self):
        built = Turns()
        built.add("user", "x")
        built.think("h")
        built.think("m")
        built.call("a", "f", "{}")
        built.call("b", "f", "{}")
        built.think("so")
        built.assistant("done")
        built.add("user", "y")
        built.call("c", "f", "{}")
        self.assertEqual(
            [message.get("reasoning_content") for message in built.messages], [None, "hm", None, None]
        )


class TurnsTest(unittest.TestCase):
    CASES = [
        (
            "no ids: by name, oldest first",
            [
                ("call", None, "f"),
                ("call", None, "f"),
                ("result", None, "f", "1"),
                ("result", None, "f", "2"),
            ],
            ["assistant call_1,call_2", "tool call_1=1", "tool call_2=2"],
        ),
        (
            "names win over order",
            [
                ("call", None, "f"),
                ("call", None, "g"),
                ("result", None, "g", "1"),
                ("result", None, "f", "2"),
            ],
            ["assistant call_1,call_2", "tool call_2=1", "tool call_1=2"],
        ),
        (
            "ids win over names and order",
            [("call", "a", "f"), ("call", "b", "f"), ("result", "b", "f", "1"), ("result", "a", "f", "2")],
            ["assistant a,b", "tool b=1", "tool a=2"],
        ),
        (
            "no names at all",
            [("call", "a", "f"), ("call", None, "g"), ("result", "", "", "1"), ("result", None, None, "2")],
            ["assistant a,call_2", "tool a=1", "tool call_2=2"],
        ),
        (
            "an id that only the result has",
            [("call", None, "f"), ("result", "x", "f", "1")],
            ["assistant call_1", "tool call_1=1"],
        ),
        (
            "an id of another call: those without ids come first",
            [("call", "a", "f"), ("call", None, "f"), ("result", "x", "f", "1"), ("result", "a", "f", "2")],
            ["assistant a,call_2", "tool call_2=1", "tool a=2"],
        ),
        (
            "one id twice",
            [("call", "a", "f"), ("call", "a", "f"), ("result", "a", "f", "1"), ("result", "a", "f", "2")],
            ["assistant a,call_2", "tool a=1", "tool call_2=2"],
        ),
        (
            "an id like those we make",
            [("call", "call_2", "f"), ("call", None, "f")],
            ["assistant call_2,call_3"],
        ),
        (
            "turns in a row are one",
            [("assistant", "I "), ("assistant", "look"), ("call", None, "f"), ("call", None, "g")],
            ["assistant I look call_1,call_2"],
        ),
        (
            "a result goes behind its call, whatever came between",
            [
                ("call", "a", "f"),
                ("call", "b", "g"),
                ("result", "a", "f", "1"),
                ("user", "x"),
                ("result", "b", "g", "2"),
            ],
            ["assistant a,b", "tool a=1", "tool b=2", "user x"],
        ),
        (
            "numbers go on over turns",
            [
                ("call", None, "f"),
                ("result", None, "f", "1"),
                ("call", None, "f"),
                ("result", None, "f", "2"),
            ],
            ["assistant call_1", "tool call_1=1", "assistant call_2", "tool call_2=2"],
        ),
    ]

    def test_results_find_their_calls(self):
        for name, steps, wanted in self.CASES:
            with self.subTest(name):
                self.assertEqual(told(turns(*steps)), wanted)

    def test_what_answers_nothing(self):
        for name, steps in [
            ("no call", [("result", None, "f", "1")]),
            ("another name", [("call", None, "f"), ("result", None, "g", "1")]),
            ("an id alone, of nobody", [("call", "a", "f"), ("result", "b", None, "1")]),
            ("a second time", [("call", "a", "f"), ("result", "a", "f", "1"), ("result", "a", "f", "2")]),
        ]:
            with self.subTest(name), self.assertRaises(Problem) as caught:
                turns(*steps)
            self.assertEqual((caught.exception.status, caught.exception.param), (400, "here"))

    def test_arguments(self):
        for given, wanted in [
            (None, "{}"),
            ({}, "{}"),
            ("", "{}"),
            ({"a": "é\n"}, '{"a":"é\\n"}'),
            ('{"a": 1}', '{"a":1}'),
        ]:
            with self.subTest(given=given):
                self.assertEqual(arguments_text(given, "args"), wanted)
        for given in (5, [], True, False, "nonsense", "[1]", {"a": float("inf")}):
            with self.subTest(given=given), self.assertRaises(Problem):
                arguments_text(given, "args")


class CallsTest(unittest.TestCase):
    CASES = [
        ("an object", '{"a":1}', "tool_calls", {"a": 1}),
        ("nothing", "", "tool_calls", {}),
        ("blanks", " \n", "stop", {}),
        ("an object in a string", '"{\\"a\\": 1}"', "tool_calls", {"a": 1}),
        ("half", '{"a"', "tool_calls", None),
        ("a list", "[1]", "tool_calls", None),
        ("null", "null", "tool_calls", None),
        ("a number", "1", "tool_calls", None),
        ("no number", '{"a":NaN}', "tool_calls", None),
        ("a number past counting", '{"a":1e999}', "tool_calls", None),
        ("nested without end", '{"a":' * 5000 + "1" + "}" * 5000, "tool_calls", None),
        ("whole although the limit came", '{"a":1}', "length", {"a": 1}),
    ]

    def test_arguments_as_an_object(self):
        for name, text, finish, wanted in self.CASES:
            with self.subTest(name):
                made = whole([{"id": "c", "name": "f", "arguments": text}], finish)
                self.assertEqual(made, [Whole("c", "f", wanted)])

    def test_a_call_cut_by_the_limit_is_left_out(self):
        first = {"id": "a", "name": "f", "arguments": ""}
        for text in ("", '{"a":', '{"a":{}', "{"):
            with self.subTest(text):
                made = whole([first, {"id": "b", "name": "f", "arguments": text}], "length")
                self.assertEqual(made, [Whole("a", "f", {})])

    def test_gathered_from_events(self):
        calls = Calls()
        for event in [
            ToolStart(1, "b", "g", signature="s"),
            ToolStart(0, "a", "f"),
            ToolArguments(1, '{"x":'),
            ToolArguments(0, "{}"),
            ToolArguments(1, "2}"),
        ]:
            calls.take(event)
        self.assertEqual(calls.whole("tool_calls"), [Whole("a", "f", {}), Whole("b", "g", {"x": 2}, "s")])

    def test_plain_events(self):
        events = [Chunk(b"{}", (Text("a"), Text("other", choice=1))), Tick(), Text("b"), Closed()]
        self.assertEqual(list(plain(events)), [Text("a"), Tick(), Text("b"), Closed()])
