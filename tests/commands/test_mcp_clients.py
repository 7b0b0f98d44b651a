"""Where clients keep their servers, and how ours stands there."""

import unittest
from pathlib import Path

from metrics.commands import mcp_clients
from metrics.commands.mcp_clients import CLIENTS, Link

HOME = Path("/h")


class ClientsTest(unittest.TestCase):
    def test_where_the_files_lie(self):
        cases = (
            ("claude", {}, "/h/.claude.json"),
            ("claude", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
            ("cursor", {}, "/h/.cursor/mcp.json"),
            ("codex", {}, "/h/.codex/config.toml"),
            ("codex", {"CODEX_HOME": "/x"}, "/x/config.toml"),
            ("opencode", {}, "/h/.config/opencode/opencode.json"),
            ("opencode", {"XDG_CONFIG_HOME": "/x"}, "/x/opencode/opencode.json"),
            ("opencode", {"OPENCODE_CONFIG": "/o.json"}, "/o.json"),
        )
        for name, env, file in cases:
            with self.subTest(name=name, env=env):
                self.assertEqual(CLIENTS[name].file(env, HOME), Path(file))
        systems = (
            ("linux", {}, "/h/.config/Code/User/mcp.json"),
            ("darwin", {}, "/h/Library/Application Support/Code/User/mcp.json"),
            ("win32", {"APPDATA": "/a"}, "/a/Code/User/mcp.json"),
        )
        for system, env, file in systems:
            self.assertEqual(mcp_clients.vscode_file(env, HOME, system), Path(file))

    def test_no_entry_holds_a_key(self):
        for client in CLIENTS.values():
            for stdio in (False, True):
                with self.subTest(client.name, stdio=stdio):
                    plain = client.entry(Link("http://h/mcp", ["bench", "mcp"], stdio=stdio))
                    keyed = client.entry(Link("http://h/mcp", ["bench", "mcp"], keyed=True, stdio=stdio))
                    self.assertNotIn("KEY", str(plain))
                    self.assertIn("bench" if stdio else "http://h/mcp", str(plain))
                    if not stdio:
                        self.assertIn("BENCHWARMERS_KEY", str(keyed))


if __name__ == "__main__":
    unittest.main()
