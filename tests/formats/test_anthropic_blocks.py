import unittest

from tests.formats.anthropic_asked import (
    BILLING,
    CALL,
    HELLO,
    MARK,
    PNG,
    SEEN,
    TOOL,
    USE,
    assistant,
    parse,
    result,
    text,
    user,
)


def plain(messages):
    """What a member that speaks another API is told of `messages`."""
    return [{name: value for name, value in m.items() if name not in ("_turn", "_moved")} for m in messages]


def blocks(messages):
    """The turns' own blocks."""
    return [list(message["_turn"]) for message in messages]


class MessagesTest(unittest.TestCase):
    SYSTEM = {"role": "system", "content": "s"}

    CASES = [
        ("a string", {}, HELLO),
        ("a text block", {"messages": [user(text("hello"))]}, HELLO),
        ("system as a string", {"system": "s"}, [SYSTEM, *HELLO]),
        ("system as blocks", {"system": [text("a"), text("b")]}, [{**SYSTEM, "content": "a\n\nb"}, *HELLO]),
        ("an empty system", {"system": ""}, HELLO),
        ("no system blocks", {"system": []}, HELLO),
        ("billing alone", {"system": BILLING}, HELLO),
        ("billing as a block", {"system": [text(BILLING), text("s")]}, [SYSTEM, *HELLO]),
        ("billing as the first line", {"system": f"{BILLING}\n\ns"}, [SYSTEM, *HELLO]),
        (
            "billing in the middle is what somebody wrote",
            {"system": f"s\n{BILLING}"},
            [{**SYSTEM, "content": f"s\n{BILLING}"}, *HELLO],
        ),
        ("a system message in its place", {"messages": [*HELLO, SYSTEM]}, [*HELLO, SYSTEM]),
        (
            "a system block within a turn",
            {"messages": [user(text("a"), {"type": "mid_conv_system", "content": [text("s")]}, text("b"))]},
            [{"role": "user", "content": "a"}, SYSTEM, {"role": "user", "content": "b"}],
        ),
        (
            "messages of one role in a row",
            {"messages": [*HELLO, user(text("there")), assistant(text("a")), assistant(text("b"))]},
            [{"role": "user", "content": "hello\n\nthere"}, {"role": "assistant", "content": "ab"}],
        ),
        (
            "an answer begun for the model",
            {"messages": [*HELLO, {"role": "assistant", "content": "Sure, "}]},
            [*HELLO, {"role": "assistant", "content": "Sure, "}],
        ),
        (
            "empty blocks",
            {"messages": [user(text(""), text("hello")), assistant(), assistant(text(""))]},
            HELLO,
        ),
        (
            "a mark at the end",
            {"system": [text("a"), text("b", cache_control=MARK)]},
            [{"role": "system", "content": "a\n\nb", "_cache": MARK}, *HELLO],
        ),
        (
            "a mark before the end",
            {"messages": [user(text("a", cache_control={**MARK, "ttl": "1h", "new": []}), text("b"))]},
            [{"role": "user", "content": [text("a", _cache={**MARK, "ttl": "1h"}), text("b")]}],
        ),
        (
            "pictures",
            {
                "messages": [
                    user(
                        PNG,
                        {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}},
                        text("what?", cache_control=MARK),
                    )
                ]
            },
            [
                {
                    "role": "user",
                    "content": [
                        SEEN,
                        {"type": "image_url", "image_url": {"url": "https://a/b.png"}},
                        text("what?", _cache=MARK),
                    ],
                }
            ],
        ),
        (
            "a text document",
            {
                "messages": [
                    user(
                        {
                            "type": "document",
                            "title": "Notes",
                            "context": "of May",
                            "citations": {"enabled": True},
                            "source": {"type": "text", "media_type": "text/plain", "data": "body"},
                        }
                    )
                ]
            },
            [{"role": "user", "content": "Document: Notes\nof May\n\nbody"}],
        ),
        (
            "a document of blocks",
            {
                "messages": [
                    user({"type": "document", "source": {"type": "content", "content": [text("a"), PNG]}})
                ]
            },
            [{"role": "user", "content": [text("a"), SEEN]}],
        ),
        (
            "a search result",
            {
                "messages": [
                    user({"type": "search_result", "title": "T", "source": "u", "content": [text("found")]})
                ]
            },
            [{"role": "user", "content": "T (u)\n\nfound"}],
        ),
        (
            "thinking that is signed",
            {
                "messages": [
                    *HELLO,
                    assistant(
                        {"type": "thinking", "thinking": "stép ", "signature": "c2ln", "new": 1},
                        {"type": "redacted_thinking", "data": "cmVk"},
                        text("a"),
                    ),
                ]
            },
            [
                *HELLO,
                {
                    "role": "assistant",
                    "content": "a",
                    "_thinking": [
                        {"type": "thinking", "thinking": "stép ", "signature": "c2ln"},
                        {"type": "redacted_thinking", "data": "cmVk"},
                    ],
                },
            ],
        ),
        (
            "thinking that is not",
            {
                "messages": [
                    *HELLO,
                    assistant({"type": "thinking", "thinking": "hm", "signature": ""}, text("a")),
                ]
            },
            [*HELLO, {"role": "assistant", "content": "a"}],
        ),
        (
            "thinking alone",
            {"messages": [*HELLO, assistant({"type": "thinking", "thinking": "hm", "signature": "c2ln"})]},
            HELLO,
        ),
    ]

    def test_conversations(self):
        for name, fields, messages in self.CASES:
            with self.subTest(name):
                self.assertEqual(plain(parse(**fields).messages), messages)

    def test_a_panel_takes_them_as_well(self):
        for name, fields, messages in self.CASES:
            with self.subTest(name):
                self.assertEqual(plain(parse("all", **fields).messages), messages)

    ASKED = [*HELLO, {"role": "assistant", "content": None, "tool_calls": [CALL]}]
    PICTURE = [text("From the result of t1:", _moved=True), {**SEEN, "_moved": True}]
    RESULTS = [
        ("a string", [result("r")], ["r"], []),
        ("blocks", [result([text("r"), text("s")])], ["r\n\ns"], []),
        ("nothing", [{"type": "tool_result", "tool_use_id": "t1"}], [""], []),
        ("an empty list", [result([])], [""], []),
        ("an error", [result("r", is_error=True)], ["Error: r"], []),
        ("an error without words", [result("", is_error=True)], ["Error: the tool did not say why"], []),
        ("no error", [result("r", is_error=False)], ["r"], []),
        ("a picture", [result([text("shot"), PNG])], ["shot"], PICTURE),
        ("a picture alone", [result([PNG])], ["(a picture: it is in the next message)"], PICTURE),
        ("text behind it", [result("r"), text("go on")], ["r"], "go on"),
        ("text before it", [text("go on"), result("r")], ["r"], "go on"),
        (
            "a picture and text",
            [result([PNG]), text("go")],
            ["(a picture: it is in the next message)"],
            [*PICTURE, text("go")],
        ),
        (
            "a found tool",
            [result([{"type": "tool_reference", "tool_name": "dig"}])],
            ["Found the tool dig."],
            [],
        ),
        (
            "a text document",
            [result([{"type": "document", "source": {"type": "text", "data": "d"}}])],
            ["d"],
            [],
        ),
    ]

    def test_results_of_tools(self):
        for name, blocks, results, behind in self.RESULTS:
            with self.subTest(name):
                said = parse(messages=[*HELLO, assistant(USE), user(*blocks)], tools=[TOOL]).messages
                told = [{"role": "tool", "tool_call_id": "t1", "content": words} for words in results]
                more = [{"role": "user", "content": behind}] if behind else []
                self.assertEqual(plain(said), [*self.ASKED, *told, *more])

    def test_a_result_keeps_its_pictures_for_members_that_see_them_there(self):
        said = parse(
            messages=[*HELLO, assistant(USE), user(result([text("shot"), PNG]))], tools=[TOOL]
        ).messages
        self.assertEqual(said[2]["_moved"], [text("shot"), SEEN])
        self.assertNotIn("_moved", said[1])

    def test_a_turn_keeps_its_own_blocks(self):
        thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
        first = [text("Look."), {"type": "document", "source": {"type": "text", "data": "d"}}]
        last = [result([PNG], is_error=True), text("a"), {"type": "mid_conv_system", "content": [text("s")]}]
        said = parse(
            system=[text(BILLING), text("s", cache_control=MARK)],
            messages=[
                user(*first),
                assistant(text("I"), thought, USE),
                user(*last),
                {"role": "system", "content": "x"},
            ],
            tools=[TOOL],
        ).messages
        self.assertEqual(
            [m["role"] for m in said], ["system", "user", "assistant", "tool", "user", "system", "system"]
        )
        self.assertEqual(
            blocks(said),
            [
                [text(""), text("s", cache_control=MARK)],
                first,
                [text("I"), thought, USE],
                last,
                [],
                [],
                [text("x")],
            ],
        )

    def test_results_keep_their_order_and_stand_behind_the_calls(self):
        uses = [USE, {**USE, "id": "t2", "input": {}}]
        said = parse(
            messages=[
                *HELLO,
                assistant(text("I look."), *uses),
                user(result("one"), text("a")),
                user(result("two", "t2", cache_control=MARK), text("b")),
            ],
            tools=[TOOL],
        ).messages
        self.assertEqual([m["role"] for m in said], ["user", "assistant", "tool", "tool", "user"])
        self.assertEqual(said[1]["content"], "I look.")
        self.assertEqual([c["function"]["arguments"] for c in said[1]["tool_calls"]], ['{"a":"é"}', "{}"])
        self.assertEqual([m.get("content") for m in said[2:]], ["one", "two", "a\n\nb"])
        self.assertEqual(said[3]["_cache"], MARK)

    def test_a_call_keeps_its_mark(self):
        said = parse(messages=[*HELLO, assistant({**USE, "cache_control": MARK}), user(result("r"))])
        self.assertEqual(said.messages[1]["tool_calls"], [{**CALL, "_cache": MARK}])
