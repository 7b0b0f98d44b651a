"""What is written to a provider: addresses, the shared conversation, and what quirks alter in it."""

import json
import unittest
from typing import Any

from metrics.client import chat
from metrics.client.outgoing import Conversation, address, sendable, to_json
from metrics.client.quirks import Quirks
from metrics.longjson import AsWritten
from metrics.records import EXTENSIONS, Problem, Target

PLAIN = Quirks()
USER = {"role": "user", "content": "hi"}


def written(messages: list[Any], quirks: Quirks = PLAIN) -> Any:
    return json.loads(Conversation(messages).bytes_for(quirks))


class Address(unittest.TestCase):
    def test_as_people_write_it(self) -> None:
        for base, expected in [
            ("http://h:1/v1", "http://h:1/v1/chat/completions"),
            ("http://h:1/v1/", "http://h:1/v1/chat/completions"),
            ("http://h:1", "http://h:1/v1/chat/completions"),
            ("http://h:1/", "http://h:1/v1/chat/completions"),
            ("http://h:1//v1//", "http://h:1/v1/chat/completions"),
            ("http://h:1/v1/v1", "http://h:1/v1/chat/completions"),
            ("http://h:1/openai/v1", "http://h:1/openai/v1/chat/completions"),
            ("https://h/api/paas/v4", "https://h/api/paas/v4/chat/completions"),
            ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
            ("https://h/v1/chat/completions/", "https://h/v1/chat/completions"),
            ("https://h/d?api-version=2", "https://h/d/chat/completions?api-version=2"),
            (" https://h/v1\n", "https://h/v1/chat/completions"),
            ("http://[::1]:8/v1", "http://[::1]:8/v1/chat/completions"),
        ]:
            with self.subTest(base):
                self.assertEqual(address(base, "/chat/completions"), expected)
        self.assertEqual(address("https://h", "/models", ""), "https://h/models")

    def test_refused(self) -> None:
        for base in ("", "h/v1", "ftp://h", "http://", "http://[::1", "file:///etc/passwd"):
            with self.subTest(base), self.assertRaises(Problem) as caught:
                address(base, "/models")
            self.assertEqual(caught.exception.status, 400)

    def test_keys(self) -> None:
        self.assertEqual(sendable(" sk-1\n", "e"), "sk-1")
        for key in ("a\r\nX: y", "schlüssel", "a\x00b"):
            with self.subTest(key), self.assertRaises(Problem) as caught:
                sendable(key, "e")
            self.assertNotIn(key, caught.exception.message)


class Messages(unittest.TestCase):
    def test_as_sent(self) -> None:
        messages = [
            {"role": "system", "content": "be brief"},
            {
                "role": "user",
                "content": [{"type": "text", "text": "what 🧰"}, {"type": "image_url", "x": 1}],
                "name": "u",
            },
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "1", "reasoning_content": "kept"},
            {"content": [], "role": "user"},
            USER,
        ]
        self.assertEqual(written(messages), messages)

    def test_roles(self) -> None:
        sys, dev = {"role": "system", "content": "s"}, {"role": "developer", "content": "d"}
        both = {"role": "system", "content": "s\n\nd"}
        cases: list[tuple[str, list[Any], Quirks, list[Any]]] = [
            ("developer becomes system", [dev, USER], PLAIN, [{"role": "system", "content": "d"}, USER]),
            ("developer stays", [dev, USER], Quirks(developer=True), [dev, USER]),
            ("leading ones are joined", [sys, dev, USER], PLAIN, [both, USER]),
            ("later ones come to the front", [sys, USER, dev, USER], PLAIN, [both, USER, USER]),
            ("or stay where any place will do", [USER, sys], Quirks(system="anywhere"), [USER, sys]),
            ("empty ones vanish", [USER, {"role": "system", "content": ""}, sys], PLAIN, [sys, USER]),
            (
                "parts are joined as parts",
                [sys, {"role": "system", "content": [{"type": "text", "text": "p"}]}],
                PLAIN,
                [
                    {
                        "role": "system",
                        "content": [{"type": "text", "text": "s"}, {"type": "text", "text": "p"}],
                    }
                ],
            ),
        ]
        for name, messages, quirks, expected in cases:
            with self.subTest(name):
                before = json.dumps(messages)
                self.assertEqual(written(messages, quirks), expected)
                self.assertEqual(json.dumps(messages), before)

    def test_extensions_stay_home(self) -> None:
        extra = dict.fromkeys(EXTENSIONS, "secret")
        messages = [
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "t", **extra}],
                "tool_calls": [{"id": "c", **extra}],
                **extra,
            }
        ]
        self.assertNotIn(b"secret", Conversation(messages).bytes_for(PLAIN))
        self.assertEqual(messages[0]["_thinking"], "secret")

    def test_refused_fields(self) -> None:
        messages = [
            {"role": "user", "content": "x", "name": "u"},
            {"role": "tool", "content": "x", "name": "f"},
        ]
        quirks = Quirks(message_drop=frozenset({"name", "refusal"}))
        self.assertEqual(written(messages, quirks), [{"role": "user", "content": "x"}, messages[1]])
        conversation = Conversation(messages)
        self.assertEqual(
            conversation.changes_for(quirks), ("name left out of messages (not accepted there)",)
        )
        self.assertEqual(conversation.changes_for(PLAIN), ())

    def test_written_once_and_shared(self) -> None:
        conversation = Conversation([USER])
        odd = Quirks(developer=True, system="anywhere", message_drop=frozenset({"refusal"}), budget="x")
        self.assertIs(conversation.bytes_for(PLAIN), conversation.bytes_for(odd))

    SPACED = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c|1", "function": {"name": "f"}}]},
        {"role": "tool", "tool_call_id": "c|1", "content": [{"type": "text", "text": "1"}], "name": "f"},
    ]
    ALTERED: list[tuple[str, Quirks, list[Any]]] = [
        ("a field that is not accepted", Quirks(message_drop=frozenset({"name"})), []),
        ("ids of calls", Quirks(ids="[a-z0-9]+"), []),
        ("the system's place", PLAIN, [{"role": "system", "content": "late"}]),
        ("a mark of ours", PLAIN, [{"role": "user", "content": "x", "_cache": {}}]),
        ("a mark on a part", PLAIN, [{"role": "user", "content": [{"type": "text", "_cache": {}}]}]),
        ("a mark on a call", PLAIN, [{"role": "assistant", "tool_calls": [{"id": "c", "_signature": "s"}]}]),
    ]

    def test_what_is_not_altered_goes_as_it_came(self) -> None:
        """Byte for byte; whatever must be altered is written anew."""
        text = json.dumps(self.SPACED, indent=1).encode()
        sent = Conversation(AsWritten(self.SPACED, text))
        self.assertIs(sent.bytes_for(PLAIN), text)
        self.assertIs(sent.bytes_for(Quirks(developer=True, system="anywhere")), text)
        for name, quirks, more in self.ALTERED:
            messages = self.SPACED + more
            with self.subTest(name):
                anew = Conversation(AsWritten(messages, text)).bytes_for(quirks)
                self.assertEqual(anew, Conversation(messages).bytes_for(quirks))
                self.assertNotEqual(anew, text)

    def test_a_text_is_held_by_the_conversation_alone_while_it_may_be_sent(self) -> None:
        """It may be megabytes, and is a view of all of the body that it came in."""
        text = json.dumps(self.SPACED, indent=1).encode()
        messages = AsWritten(self.SPACED, memoryview(text))
        sent = Conversation(messages)
        self.assertEqual(messages.text, b"")
        sent.shared("another dialect", lambda: None)
        self.assertEqual(sent.bytes_for(PLAIN), to_json(self.SPACED))
        self.assertEqual(Conversation(AsWritten(self.SPACED, memoryview(text))).bytes_for(PLAIN), text)

    def test_tools_that_are_not_altered_go_as_they_came(self) -> None:
        target = Target("a", "e:m", "e", "e", "m", "http://127.0.0.1:1/v1")
        tools = [{"type": "function", "function": {"name": "f", "description": "é"}}]
        text = json.dumps(tools, indent=1).encode()
        for more in ({}, {"temperature": 0.5}):
            sent = chat.compose(target, Conversation([USER]), {"tools": AsWritten(tools, text), **more}).body
            self.assertIn(text, sent)
            plain = chat.compose(target, Conversation([USER]), {"tools": tools, **more}).body
            self.assertEqual(json.loads(b"".join(sent)), json.loads(b"".join(plain)))
        marked = [{**tools[0], "_namespace": "n"}]
        sent = chat.compose(target, Conversation([USER]), {"tools": AsWritten(marked, text)}).body
        self.assertEqual(json.loads(b"".join(sent))["tools"], tools)
        self.assertNotIn(text, sent)

    def test_what_utf8_cannot_hold(self) -> None:
        self.assertEqual(to_json("cut \ud83d here"), '"cut \ufffd here"'.encode())
        self.assertEqual(to_json("\ud83e\uddf0"), '"🧰"'.encode())
        for value in (float("nan"), {1, 2}):
            with self.assertRaises(Problem) as caught:
                Conversation([{"role": "user", "content": value}]).bytes_for(PLAIN)
            self.assertEqual(caught.exception.status, 400)


if __name__ == "__main__":
    unittest.main()
