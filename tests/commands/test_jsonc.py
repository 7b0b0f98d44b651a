"""Setting one value in somebody else's JSON: what changes, and that nothing else does."""

import random
import unittest

from metrics.commands import jsonc
from metrics.commands.jsonc import Unreadable

PATH = ("mcpServers", "bench")
VALUE = {"url": "U"}

# name, before, after
CASES = (
    ("no file", "", '{\n  "mcpServers": {\n    "bench": {\n      "url": "U"\n    }\n  }\n}\n'),
    (
        "a comment alone",
        "// mine\n",
        '// mine\n{\n  "mcpServers": {\n    "bench": {\n      "url": "U"\n    }\n  }\n}\n',
    ),
    ("an empty object", "{}", '{\n  "mcpServers": {\n    "bench": {\n      "url": "U"\n    }\n  }\n}'),
    (
        "other settings",
        '{\n    "a": 1, // one\n    "b": [1, 2] // two\n}\n',
        '{\n    "a": 1, // one\n    "b": [1, 2], // two\n    "mcpServers": {\n      "bench": {\n'
        '        "url": "U"\n      }\n    }\n}\n',
    ),
    (
        "other servers, tabs",
        '{\n\t"mcpServers": {\n\t\t"x": {}\n\t}\n}',
        '{\n\t"mcpServers": {\n\t\t"x": {},\n\t\t"bench": {\n\t\t\t"url": "U"\n\t\t}\n\t}\n}',
    ),
    (
        "a trailing comma",
        '{\n  "mcpServers": {\n    "x": {}, /* last */\n  },\n}',
        '{\n  "mcpServers": {\n    "x": {}, /* last */\n    "bench": {\n      "url": "U"\n    },\n  },\n}',
    ),
    (
        "one line",
        '{"a": 1, "mcpServers": {"x": {}}}',
        '{"a": 1, "mcpServers": {"x": {}, "bench": {"url": "U"}}}',
    ),
    (
        "another entry of that name",
        '{"mcpServers": {"bench": {"url": "old"}, "x": 5}} // end',
        '{"mcpServers": {"bench": {\n  "url": "U"\n}, "x": 5}} // end',
    ),
    (
        "an empty object with a comment",
        '{\n  "mcpServers": {\n    // none yet\n  }\n}',
        '{\n  "mcpServers": {\n    // none yet\n    "bench": {\n      "url": "U"\n    }\n  }\n}',
    ),
    (
        "Windows' line ends and a mark at the head",
        '\ufeff{\r\n  "a": 1\r\n}\r\n',
        '\ufeff{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "bench": {\r\n      "url": "U"\r\n    }'
        "\r\n  }\r\n}\r\n",
    ),
)


class EditedTest(unittest.TestCase):
    maxDiff = None

    def test_each_style_is_kept(self):
        for name, before, after in CASES:
            with self.subTest(name):
                self.assertEqual(jsonc.edited(before, PATH, VALUE), after)
                self.assertEqual(jsonc.edited(after, PATH, VALUE), after)
                self.assertEqual(jsonc.read(after)["mcpServers"]["bench"], VALUE)

    def test_what_is_refused(self):
        cases = (
            ("[1]", "the file is no object"),
            ('{"mcpServers": []}', "mcpServers is no object"),
            ('{"mcpServers": {"bench": 1, "bench": 2}}', "twice"),
            ('{"mcpServers": {}, "mcpServers": {}}', "twice"),
            ('{"a" 1}', '":" is missing at line 1, column 6'),
            ('{"a": 1\n "b": 2}', "line 2, column 2"),
            ('{"a": }', "a value is missing"),
            ('{"a": nope}', "a value is missing"),
            ("{a: 1}", "a name in quotes"),
            ('{"a": 1} x', "the end is missing"),
            ('{"a": "x\n"}', "a value is missing"),
            ("[" * 100_000, "nested too deeply"),
        )
        for text, words in cases:
            with self.subTest(text[:40]), self.assertRaises(Unreadable) as refused:
                jsonc.edited(text, PATH, VALUE)
            self.assertIn(words, str(refused.exception))

    def test_whatever_stands_there_stays(self):
        for seed in range(300):
            chance = random.Random(seed)
            text = document(chance)
            with self.subTest(text):
                after = jsonc.edited(text, PATH, VALUE)
                self.assertTrue(jsonc.same_but(jsonc.read(text), jsonc.read(after), PATH))
                self.assertEqual(jsonc.read(after)["mcpServers"]["bench"], VALUE)
                self.assertTrue(held(text, after), after)

    def test_what_differs_at_one_place_alone(self):
        cases = (
            ({}, {"a": {"b": 1}}, ("a", "b"), True),
            ({"a": {"b": 1}, "c": 2}, {"a": {"b": 3}, "c": 2}, ("a", "b"), True),
            ({"a": {"b": 1}, "c": 2}, {"a": {"b": 3}, "c": 3}, ("a", "b"), False),
            ({"a": {"d": 1}}, {"a": {"b": 1}}, ("a", "b"), False),
            ({}, {"a": {"b": 1, "c": 2}}, ("a", "b"), False),
            ({"a": 5}, {"a": {"b": 1}}, ("a", "b"), False),
        )
        for before, after, path, same in cases:
            with self.subTest(before=before, after=after):
                self.assertEqual(jsonc.same_but(before, after, path), same)


def document(chance):
    """A file as somebody may have it."""
    blank = chance.choice((" ", "\n  ", "\n\t", " // c\n", "/* c */", ""))
    inner = chance.choice(('"x": {"y": [1, {"z": null}]}', '"bench": {"url": "old"}', ""))
    comma = chance.choice((",", ""))
    servers = f'"mcpServers":{blank}{{{blank}{inner}{comma if inner else ""}{blank}}}'
    members = [f'"k{at}":{blank}"v // no comment \\" {at}"' for at in range(chance.randrange(3))]
    members.insert(chance.randrange(len(members) + 1), servers)
    chosen = members if chance.random() < 0.8 else members[:1] if members[0] is not servers else []
    last = comma if chosen else ""
    return f"{blank}{{{blank}{f',{blank}'.join(chosen)}{last}{blank}}}{blank}"


def held(before, after):
    """Whether all of `before`, but for the entry's own old value, is still there in its order."""
    for piece in before.split('{"url": "old"}'):
        rest = iter(after)
        if not all(character in rest for character in piece):
            return False
    return True


if __name__ == "__main__":
    unittest.main()
