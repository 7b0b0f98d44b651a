"""`bench mcp install`: what lands in whose file."""

import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import cli
from metrics.commands import mcp
from metrics.commands.output import Console
from metrics.commands.server import Server


class InstallTest(unittest.TestCase):
    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_it(self, *words, **env):
        """(exit code, stdout, stderr)"""
        out, err = io.StringIO(), io.StringIO()
        environment = {"HOME": str(self.home), "USERPROFILE": str(self.home), **env}
        console = Console("bench", environment, None, out, err)
        return cli.main(["mcp", "install", *words], console=console), out.getvalue(), err.getvalue()

    def test_every_client_twice(self):
        files = {
            "claude": ".claude.json",
            "cursor": ".cursor/mcp.json",
            "codex": ".codex/config.toml",
            "opencode": ".config/opencode/opencode.json",
        }
        for client, name in files.items():
            with self.subTest(client):
                code, said, _ = self.run_it("--client", client)
                self.assertEqual(code, 0, said)
                text = (self.home / name).read_text(encoding="utf-8")
                self.assertIn("http://127.0.0.1:8122/mcp", text)
                code, said, _ = self.run_it("--client", client)
                self.assertIn("already", said)
                self.assertEqual((self.home / name).read_text(encoding="utf-8"), text)

    def test_a_name_that_clients_refuse_is_refused_before(self):
        for name in ("my bench", "bänk", "", "a.b", "a" * 65):
            with self.subTest(name):
                code, _, err = self.run_it("--client", "codex", f"--name={name}")
                self.assertEqual(code, 2)
                self.assertIn("letters, digits, dashes and underscores", err)
                self.assertEqual(list(self.home.iterdir()), [])

    def test_a_dry_run_shows_and_writes_nothing(self):
        code, said, _ = self.run_it("--client", "cursor", "--dry-run")
        self.assertEqual(code, 0)
        self.assertIn("+++", said)
        self.assertIn('+    "bench"', said)
        self.assertEqual(list(self.home.iterdir()), [])

    def test_what_stands_there_stays_and_so_do_mode_and_link(self):
        real, link = self.home / "real.json", self.home / ".claude.json"
        before = b'{\r\n  "numStartups": 5, // mine\r\n  "mcpServers": {}\r\n}\r\n'
        real.write_bytes(before)
        real.chmod(0o640)
        link.symlink_to(real)
        code, said, err = self.run_it("--client", "claude", "--json", BENCHWARMERS_KEY="bwk_secret")
        self.assertEqual(code, 0, said)
        document = json.loads(said)
        self.assertEqual((document["changed"], document["dry_run"]), (True, False))
        after = real.read_bytes()
        self.assertTrue(after.startswith(b'{\r\n  "numStartups": 5, // mine\r\n  "mcpServers": {'))
        self.assertNotIn(b"bwk_secret", after)
        self.assertIn(b"Bearer ${BENCHWARMERS_KEY}", after)
        self.assertIn("BENCHWARMERS_KEY", err)
        self.assertTrue(link.is_symlink())
        self.assertEqual(real.stat().st_mode & 0o777, 0o640)
        self.assertEqual(
            [one.name for one in self.home.iterdir() if one.name.startswith(".claude.json.")], []
        )

    def test_a_file_that_cannot_be_read_is_left_with_the_entry_to_put_in(self):
        file = self.home / ".cursor" / "mcp.json"
        file.parent.mkdir()
        for content, words in (
            (b'{"mcpServers": ', "a value is missing at line 1"),
            (b'{"mcpServers": []}', "mcpServers is no object"),
            (b"\xff", "utf-8"),
        ):
            with self.subTest(content):
                file.write_bytes(content)
                code, _, err = self.run_it("--client", "cursor")
                self.assertEqual(code, 1)
                self.assertIn(words, err)
                self.assertIn("left as it is", err)
                self.assertIn('"url": "http://127.0.0.1:8122/mcp"', err)
                self.assertEqual(file.read_bytes(), content)

    @unittest.skipIf(os.name == "nt" or os.geteuid() == 0, "needs a user who may not do everything")
    def test_a_folder_that_may_not_be_written(self):
        (self.home / ".cursor").mkdir(mode=0o500)
        code, _, err = self.run_it("--client", "cursor")
        self.assertEqual(code, 1)
        self.assertIn("cannot be read or written", err)

    def test_a_client_that_writes_its_file_meanwhile(self):
        file = self.home / ".cursor" / "mcp.json"
        file.parent.mkdir()
        file.write_text("{}", encoding="utf-8")
        edited = mcp.edited

        def busy(client, text, *more):
            file.write_text(json.dumps({"at": len(text)}), encoding="utf-8")
            return edited(client, text, *more)

        with mock.patch.object(mcp, "edited", busy):
            code, _, _ = self.run_it("--client", "cursor")
        self.assertEqual(code, 0)  # the second time it found what it had read
        self.assertIn("at", json.loads(file.read_text(encoding="utf-8")))
        with mock.patch.object(mcp, "replaced", lambda *given: False):
            code, _, err = self.run_it("--client", "cursor", "--name", "other")
        self.assertEqual(code, 1)
        self.assertIn("keeps writing it", err)

    def test_opencodes_newer_form(self):
        file = self.home / ".config" / "opencode" / "opencode.jsonc"
        file.parent.mkdir(parents=True)
        file.write_text('{"mcp": {"servers": {"x": {"type": "local"}}}}', encoding="utf-8")
        self.assertEqual(self.run_it("--client", "opencode", "--url", "http://host:9/")[0], 0)
        servers = json.loads(file.read_text(encoding="utf-8"))["mcp"]["servers"]
        self.assertEqual(servers["bench"], {"type": "remote", "url": "http://host:9/mcp"})

    def test_the_twin_is_started_as_this_program_was(self):
        here = Server("http://127.0.0.1:8122")
        bench, other = self.home / "bench", self.home / "other"
        for file in (bench, other):
            file.touch()
        cases = ((str(bench), [str(bench), "mcp"]), ("/x/bench.pyz", [sys.executable, "/x/bench.pyz", "mcp"]))
        for argv, command in cases:
            with mock.patch.object(sys, "argv", [argv]):
                self.assertEqual(mcp.twin(here), command)
        with mock.patch.object(sys, "argv", [str(other)]):
            self.assertEqual(Path(mcp.twin(here)[1]).name, "mcp_server.py")

    def test_by_command_and_by_another_name(self):
        self.run_it("--client", "vscode", "--stdio", "--name", "panel", "--url", "http://127.0.0.1:9999")
        file = next(self.home.rglob("mcp.json"))
        entry = json.loads(file.read_text(encoding="utf-8"))["servers"]["panel"]
        self.assertEqual(entry["type"], "stdio")
        self.assertEqual(entry["args"][-2:], ["--url", "http://127.0.0.1:9999"])

    def test_for_other_clients_what_to_enter_is_printed(self):
        code, said, _ = self.run_it()
        self.assertEqual(code, 0)
        self.assertIn('"type": "http"', said)
        self.assertIn('"type": "stdio"', said)
        self.assertEqual(json.loads(self.run_it("--json")[1])["url"], "http://127.0.0.1:8122/mcp")
        code, _, err = self.run_it("--client", "cursr")
        self.assertEqual(code, 2)
        self.assertIn("did you mean cursor?", err)

    def test_without_stdin_there_is_nothing_to_serve(self):
        out, err = io.StringIO(), io.StringIO()
        self.assertEqual(cli.main(["mcp"], console=Console("bench", {}, None, out, err)), 2)
        self.assertIn("mcp install", err.getvalue())


if __name__ == "__main__":
    unittest.main()
