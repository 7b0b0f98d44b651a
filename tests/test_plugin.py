"""The plugin's files agree with each other and with the server."""

import json
import re
import unittest

from metrics.mcp.tools import TOOLS
from metrics.version import VERSION
from tests.running import ROOT

PLUGIN = ROOT / "plugin"


def read(name):
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def head(name):
    """The fields at the head of a command or skill."""
    text = (PLUGIN / name).read_text(encoding="utf-8")
    found = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    return dict(line.split(": ", 1) for line in found[1].splitlines())


class PluginTest(unittest.TestCase):
    def test_manifests(self):
        for name in ("plugin/.claude-plugin/plugin.json", "plugin/.cursor-plugin/plugin.json"):
            told = read(name)
            with self.subTest(name):
                self.assertEqual((told["name"], told["version"]), ("benchwarmers", VERSION))
                for part in ("hooks", "skills", "commands", "mcpServers"):
                    self.assertTrue((PLUGIN / told.get(part, ".")).exists(), part)
        listed = read(".claude-plugin/marketplace.json")["plugins"]
        self.assertEqual([(one["name"], one["source"]) for one in listed], [("benchwarmers", "./plugin")])

    def test_the_hook_calls_a_tool_that_takes_what_it_sends(self):
        (hook,) = read("plugin/hooks/claude.json")["hooks"]["Stop"][0]["hooks"]
        (server,) = read("plugin/.mcp.json")["mcpServers"]
        self.assertEqual(hook["server"], f"plugin:benchwarmers:{server}")
        self.assertLessEqual(set(hook["input"]), set(TOOLS[hook["tool"]].takes["properties"]))

    def test_the_words_name_tools_that_exist(self):
        known = {*TOOLS, *(name for tool in TOOLS.values() for name in tool.takes["properties"])}
        known |= {"useful", "context_window", "capabilities", "vision", "program", "bench"}
        for path in ("commands/ask.md", "skills/bench/SKILL.md", "AGENTS-snippet.md"):
            text = (PLUGIN / path).read_text(encoding="utf-8")
            with self.subTest(path):
                self.assertLessEqual(set(re.findall(r"`([a-z_]+)`", text)), known)
                for name in ("ask", "list_collections", "verdict"):
                    self.assertIn(f"`{name}`", text)

    def test_heads(self):
        self.assertIn("description", head("commands/ask.md"))
        skill = head("skills/bench/SKILL.md")
        self.assertEqual(skill["name"], "bench")
        self.assertLess(len(skill["description"]), 1024)


if __name__ == "__main__":
    unittest.main()
