import json
import re
import unittest

from metrics.events import Chunk, Closed, Text, ToolArguments, ToolStart
from metrics.formats import tool_names
from metrics.records import Request

LONG = "warehouse_north_inventory_management_service_find_part_by_supplier_reference"
ODD = ["stock.catalog/find-part", LONG, LONG + "_2", "é", "a b", "", "x\ud800", "3d_view", "-x"]
FINE = ["look", "mcp__gw__go-on", "x" * 64]


def function(name):
    return {"type": "function", "function": {"name": name, "parameters": {}}}


def custom(name):
    return {"type": "custom", "custom": {"name": name}}


def call(name):
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}


def request(*names, choice=None):
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [call(name) for name in names]},
    ]
    passed = {"tool_choice": function(choice) if choice else "auto"}
    return Request("m", "c", "route", messages, tools=[function(name) for name in names], passed=passed)


def names_in(asked):
    calls = [call for message in asked.messages for call in message.get("tool_calls", ())]
    return [[held["function"]["name"] for held in holders] for holders in (asked.tools, calls)]


class ToolNamesTest(unittest.TestCase):
    def test_names_that_fit_are_left_alone(self):
        asked = request(*FINE, choice=FINE[0])
        self.assertEqual(tool_names.fitted(asked), (asked, {}))
        self.assertIs(tool_names.fitted(asked)[0], asked)

    def test_others_get_stand_ins_everywhere(self):
        asked = request(*FINE, *ODD, choice=LONG)
        fitting, back = tool_names.fitted(asked)
        tools, calls = names_in(fitting)
        self.assertEqual(tools, calls)
        self.assertEqual(len(set(tools)), len(tools))
        self.assertEqual(tools[: len(FINE)], FINE)
        for name in tools:
            self.assertTrue(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", name), name)
        self.assertEqual([back[name] for name in tools[len(FINE) :]], ODD)
        self.assertEqual(back[fitting.passed["tool_choice"]["function"]["name"]], LONG)
        self.assertEqual(names_in(asked), [[*FINE, *ODD]] * 2)

    def test_the_same_name_has_the_same_stand_in_in_every_turn(self):
        self.assertEqual(names_in(tool_names.fitted(request(LONG))[0])[0][0], tool_names.stand_in(LONG))

    def test_custom_tools(self):
        fitting, back = tool_names.fitted(Request("m", "c", "route", [], tools=[custom("a.b")]))
        self.assertEqual(back, {fitting.tools[0]["custom"]["name"]: "a.b"})

    def test_what_has_no_name_is_left_alone(self):
        odd = [{"type": "function"}, {"type": "function", "function": {"name": 5}}, {}]
        asked = Request(
            "m", "c", "route", [], tools=[*odd, function("a.b")], passed={"tool_choice": {"type": "x"}}
        )
        self.assertEqual(tool_names.fitted(asked)[0].tools[:3], odd)

    def test_the_answer_has_the_callers_names(self):
        stand = tool_names.stand_in("a.b")
        start, said = ToolStart(0, "c1", stand), ToolArguments(0, "{}")
        plain = Chunk(b"{}", (Text("x"),))
        sent = b'{"content":"\\"name\\":\\"%b\\"","function":{"name": "%b"},"name":"other"}' % (
            stand.encode(),
            stand.encode(),
        )
        put_back = sent.replace(b'"name": "%b"' % stand.encode(), b'"name": "a.b"')
        events = [
            Text("x"),
            start,
            said,
            plain,
            Chunk(sent, (start, said)),
            ToolStart(1, "c2", "look"),
            Closed(),
        ]
        mine = ToolStart(0, "c1", "a.b")
        self.assertEqual(
            list(tool_names.restored(events, {stand: "a.b"})),
            [
                Text("x"),
                mine,
                said,
                plain,
                Chunk(put_back, (mine, said)),
                ToolStart(1, "c2", "look"),
                Closed(),
            ],
        )

    def test_an_answer_that_came_whole_has_them_too(self):
        stand = tool_names.stand_in("a.b")
        start, mine = ToolStart(0, "c1", stand), ToolStart(0, "c1", "a.b")
        whole = {"function": {"name": stand}, "content": f'"name":"{stand}"'}
        [told] = tool_names.restored([Chunk(whole, (start,))], {stand: "a.b"})
        self.assertEqual(
            (json.loads(told.raw), told.events), ({**whole, "function": {"name": "a.b"}}, (mine,))
        )
        other = Chunk(whole, (Text("x"),))
        self.assertEqual(list(tool_names.restored([other], {stand: "a.b"})), [other])
