import json
import os
import tempfile
import unittest
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

from metrics.commands import agents
from metrics.commands.agents import AGENTS, Link, Wiring

BASE, MODEL, TOKEN, KEY = "http://127.0.0.1:8122", "bench/core:route", "bwl_" + "0" * 32, "bwk_of-the-user"


def wired(name: str, key: str = TOKEN, env: Mapping[str, str] | None = None, **more: Any) -> Wiring:
    link = Link(BASE, MODEL, key, TOKEN, Path("launch-folder"), env or {}, **more)
    return AGENTS[name].wire(link)


def everything(wiring: Wiring) -> str:
    return "\n".join([*wiring.env.values(), *wiring.words, *wiring.files.values()])


class Every(unittest.TestCase):
    def test_it_is_told_where_the_server_is_what_to_ask_and_who_it_is(self) -> None:
        for name in AGENTS:
            with self.subTest(name):
                told = everything(wired(name))
                for words in (BASE, MODEL, TOKEN):
                    self.assertIn(words, told)

    def test_a_real_key_stays_off_the_line_where_other_users_see_it(self) -> None:
        for name, agent in AGENTS.items():
            with self.subTest(name):
                wiring = wired(name, key=KEY)
                self.assertIn(KEY, everything(wiring))
                self.assertNotIn(KEY, " ".join(wiring.words))
                self.assertEqual(TOKEN in everything(wiring), agent.tells)

    def test_without_a_key_nothing_more_is_sent(self) -> None:
        for name in AGENTS:
            with self.subTest(name):
                told = everything(wired(name))
                self.assertNotIn(agents.HEADER, told)

    def test_words_need_no_quoting(self) -> None:
        for name in AGENTS:
            for word in wired(name).words:
                with self.subTest(f"{name}: {word}"):
                    self.assertNotRegex(word, r"[\"'\s%!^&|<>]")

    def test_files_and_words_agree(self) -> None:
        for name in AGENTS:
            with self.subTest(name):
                wiring = wired(name)
                told = "\n".join([*wiring.env.values(), *wiring.words])
                for file in wiring.files:
                    self.assertIn("launch-folder", told)
                    self.assertTrue(json.loads(wiring.files[file]) if file.endswith(".json") else True)

    def test_pictures_are_offered_only_to_those_who_see(self) -> None:
        for name, words in (("opencode", '"image"'), ("pi", '"image"'), ("qwen", '"image": true')):
            for sees in (True, False):
                with self.subTest(name, sees=sees):
                    self.assertEqual(words in everything(wired(name, sees=sees)), sees)

    def test_the_window_is_the_members_own(self) -> None:
        for name in ("opencode", "pi", "qwen"):
            with self.subTest(name):
                self.assertIn("40000", everything(wired(name, window=40_000)))
                self.assertIn(str(agents.WINDOW), everything(wired(name)))
        self.assertEqual(Link(BASE, MODEL, KEY, TOKEN, Path(), {}, window=8_000).answer, 2_000)


class Particular(unittest.TestCase):
    def test_claude_keeps_the_users_headers_and_loses_what_leads_elsewhere(self) -> None:
        wiring = wired("claude", key=KEY, env={"ANTHROPIC_CUSTOM_HEADERS": "X-Mine: 1"})
        self.assertEqual(wiring.env["ANTHROPIC_CUSTOM_HEADERS"], f"X-Mine: 1\nX-Bench-Launch: {TOKEN}")
        self.assertIn("ANTHROPIC_API_KEY", wiring.unset)
        self.assertEqual(json.loads(wiring.files["settings.json"]), {"env": wiring.env})

    def test_codex_settings(self) -> None:
        words = wired("codex", key=KEY).words
        self.assertEqual(set(words[::2]), {"-c"})
        settings = dict(word.split("=", 1) for word in words[1::2])
        self.assertEqual(settings["model_providers.bench.base_url"], f"{BASE}/v1")
        self.assertEqual(settings["model_providers.bench.wire_api"], "responses")
        self.assertEqual(settings["model_providers.bench.env_http_headers.X-Bench-Launch"], "BENCH_LAUNCH")
        self.assertEqual(settings["web_search"], "disabled")

    def test_gemini_has_the_users_settings_but_for_who_signs_in(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home, ".gemini")
            folder.mkdir()
            mine = {"security": {"auth": {"selectedType": "oauth-personal"}, "x": 1}, "ui": {"theme": "dark"}}
            (folder / "settings.json").write_text(json.dumps(mine), encoding="utf-8")
            (folder / "GEMINI.md").write_text("be brief", encoding="utf-8")
            wiring = wired("gemini", env={"GEMINI_CLI_HOME": home})
        told = json.loads(wiring.files[".gemini/settings.json"])
        self.assertEqual(told["ui"], {"theme": "dark"})
        self.assertEqual(told["security"], {"auth": {"selectedType": "gemini-api-key"}, "x": 1})
        self.assertEqual(wiring.links, {".gemini/GEMINI.md": str(folder / "GEMINI.md")})

    def test_settings_that_cannot_be_read_are_left_alone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "settings.json")
            for content in ("not json", "[1]", ""):
                with self.subTest(content):
                    place.write_text(content, encoding="utf-8")
                    wiring = wired("qwen", env={"QWEN_CODE_SYSTEM_SETTINGS_PATH": str(place)})
                    self.assertEqual(json.loads(wiring.files["settings.json"])["model"]["name"], MODEL)
                    self.assertEqual(place.read_text(encoding="utf-8"), content)

    def test_where_system_settings_are(self) -> None:
        cases = (("nt", "win32", "ProgramData"), ("posix", "darwin", "QwenCode"), ("posix", "linux", "etc"))
        for system, platform, words in cases:
            if system == os.name:  # a path of another system cannot be made on this one
                with self.subTest(platform), mock.patch("sys.platform", platform):
                    self.assertIn(words, str(agents._system_folder()))


if __name__ == "__main__":
    unittest.main()
