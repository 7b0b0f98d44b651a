import base64
import json
import unittest
from typing import Any

from scripts.driven import plans
from scripts.driven.jobs import png
from scripts.driven.plans import Json, Said, next_turn

TOKEN = "TOKEN-0a1b2c"


def tool(name: str, *required: str, **properties: Any) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TEXT = {"type": "string"}
READ = tool("Read", "file_path", file_path=TEXT, limit={"type": "integer"})
WRITE = tool("write_file", "path", "content", path=TEXT, content=TEXT)
BASH = tool("Bash", "command", command=TEXT, description=TEXT, timeout={"type": "number"})
TOOLS = [READ, WRITE, BASH]
STEPS = [
    {"do": "read", "path": "in"},
    {"do": "write", "path": "out", "text": "got {token}"},
    {"do": "run", "command": "ls"},
]


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def plan(steps: list[Json], final: str = "DONE {token}", **more: Any) -> Json:
    return user("Do it. PLAN " + json.dumps({"steps": steps, "final": final, **more}) + " please")


def called(*names: str) -> Json:
    calls = [{"id": f"c{at}", "function": {"name": name, "arguments": "{}"}} for at, name in enumerate(names)]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(text: str) -> Json:
    return {"role": "tool", "tool_call_id": "c0", "content": text}


def answer(*messages: Json, tools: list[Json] | None = None) -> Said:
    return next_turn({"messages": list(messages), "tools": TOOLS if tools is None else tools})


CALL = "p20261130-022421-ecd7a85e.member1"
MCP = [tool("mcp__bench__ask", "prompt", prompt=TEXT), tool("bench-verdict", "call", call=TEXT)]
CALLS = [
    {"do": "call", "tool": "ask", "arguments": {"prompt": "ECHO hello", "files": [1]}},
    {"do": "call", "tool": "verdict", "arguments": {"call": "{call}", "useful": True}},
]


class Turns(unittest.TestCase):
    def test_tools_of_a_server_are_called_by_what_their_names_end_in(self) -> None:
        begun = [plan(CALLS, final="DONE {call}")]
        self.assertEqual(answer(*begun, tools=MCP).calls, (("mcp__bench__ask", CALLS[0]["arguments"]),))
        begun += [called("mcp__bench__ask"), result(f'{{"call": "{CALL}"}}')]
        self.assertEqual(
            answer(*begun, tools=MCP).calls, (("bench-verdict", {"call": CALL, "useful": True}),)
        )
        begun += [called("bench-verdict"), result("ok")]
        self.assertEqual(answer(*begun, tools=MCP), Said(f"DONE {CALL}"))
        self.assertEqual(answer(begun[0], tools=[BASH]).calls, (("no_tool_ask", {}),))

    def test_a_plan_is_played_step_by_step(self) -> None:
        begun = [plan(STEPS), called("Read"), result(f"it is {TOKEN}.")]
        self.assertEqual(answer(begun[0]).calls, (("Read", {"file_path": "in"}),))
        wanted = (("write_file", {"path": "out", "content": f"got {TOKEN}"}),)
        self.assertEqual(answer(*begun).calls, wanted)
        begun += [called("write_file"), result("ok")]
        self.assertEqual(answer(*begun).calls, (("Bash", {"command": "ls"}),))
        begun += [called("Bash"), result("ok")]
        self.assertEqual(answer(*begun), Said(f"DONE {TOKEN}"))

    def test_steps_together_are_one_turn(self) -> None:
        begun = [plan(STEPS[::2], together=True)]
        self.assertEqual([name for name, _ in answer(*begun).calls], ["Read", "Bash"])
        done = answer(*begun, called("Read", "Bash"), result(TOKEN), result("ok"))
        self.assertEqual(done, Said(f"DONE {TOKEN}"))

    def test_words(self) -> None:
        cases: tuple[tuple[list[Json], str], ...] = (
            ([user("please ECHO one two\nthree")], "one two"),
            ([user("ECHO old"), {"role": "assistant", "content": "old"}, user("ECHO new")], "new"),
            ([user("ECHO asked"), user("<note>nothing</note>")], "asked"),
            ([user("hello")], "nothing was asked"),
            ([{"role": "system", "content": "ECHO never"}, user("hello")], "nothing was asked"),
            ([user("PLAN {broken")], "a title"),
            ([plan([], final="just this")], "just this"),
            ([user(f"read {TOKEN}"), plan([], final="DONE {token}")], f"DONE {TOKEN}"),
            ([plan([])], "DONE NO-TOKEN"),
        )
        for messages, wanted in cases:
            with self.subTest(wanted):
                self.assertEqual(answer(*messages), Said(wanted))

    def test_a_side_request_without_tools_is_no_turn_of_the_job(self) -> None:
        self.assertEqual(answer(plan(STEPS), tools=[]), Said("a title"))

    def test_who_ends_by_a_call_gets_one_and_then_words(self) -> None:
        tools = [tool("attempt_completion", "result", result=TEXT)]
        ends = (("attempt_completion", {"result": "DONE NO-TOKEN"}),)
        self.assertEqual(answer(plan([]), tools=tools).calls, ends)
        self.assertEqual(answer(plan([]), called("attempt_completion"), tools=tools).calls, ())


class Pictures(unittest.TestCase):
    def see(self, url: str) -> str:
        shown = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
        return answer(shown, plan([], final="I see {picture}.")).text

    def test_its_size_comes_from_its_bytes(self) -> None:
        self.assertEqual(
            self.see("data:image/png;base64," + base64.b64encode(png()).decode()), "I see 24x16."
        )
        self.assertEqual(
            self.see("data:image/png;base64," + base64.b64encode(b"x").decode()), "I see no picture."
        )
        self.assertEqual(answer(plan([], final="{picture}")).text, "no picture")

    def test_it_must_be_standard_base64(self) -> None:
        with self.assertRaises(ValueError):
            self.see("data:image/png;base64,-_-_")


class Tools(unittest.TestCase):
    def test_an_agents_own_kind_first_and_its_shell_else(self) -> None:
        write, read = STEPS[1], STEPS[0]
        cases: tuple[tuple[Json, list[Json], str, str], ...] = (
            (read, TOOLS, "Read", "in"),
            (read, [tool("mcp__files__read_file", path=TEXT)], "mcp__files__read_file", "in"),
            (read, [tool("functions.view", path=TEXT)], "functions.view", "in"),
            (read, [BASH], "Bash", "cat in"),
            (write, [BASH], "Bash", "printf %s 'got {token}' > out"),
            (read, [WRITE], "no_tool_to_run", ""),
        )
        for step, tools, name, said in cases:
            with self.subTest(name, said=said):
                chosen, given = plans.call(step, [one["function"] for one in tools])
                self.assertEqual(chosen, name)
                self.assertIn(said, json.dumps(given))

    def test_arguments_fit_their_schema(self) -> None:
        step = {"do": "read", "path": "p"}
        nested = {"type": "object", "properties": {"path": TEXT}, "required": ["path"]}
        cases: tuple[tuple[Json, Any], ...] = (
            (TEXT, "p"),
            ({"type": ["string", "null"]}, "p"),
            ({"type": "array", "items": TEXT}, ["p"]),
            ({"type": "array", "items": nested}, [{"path": "p"}]),
            ({"anyOf": [{"type": "null"}, TEXT]}, "p"),
            ({}, "p"),
        )
        for schema, wanted in cases:
            with self.subTest(schema):
                self.assertEqual(plans.value(schema, step, "p"), wanted)
        for schema, wanted in (
            ({"type": "integer"}, 1),
            ({"type": "boolean"}, False),
            ({"type": "array"}, []),
            ({"enum": ["view", "create"]}, "create"),
            ({"enum": ["b"]}, "b"),
            ({"anyOf": [TEXT, {"type": "null"}]}, None),
            (TEXT, "step"),
        ):
            with self.subTest(schema):
                self.assertEqual(plans.value(schema, step, ""), wanted)


if __name__ == "__main__":
    unittest.main()
