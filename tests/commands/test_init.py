import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from metrics.commands import init
from metrics.store import home
from tests.commands.stage import Played, Stage, bench

KEY = "made-up-" + "key-1234"
URL = "https://api.example.com/v1"


class Init(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory())) / "data"
        self.addCleanup(home.close)

    def init(self, *argv: str, stdin: bytes = b"", **env: str) -> Played:
        return bench(
            "init",
            str(self.folder),
            *argv,
            stdin=stdin,
            env={"BENCHWARMERS_URL": "http://127.0.0.1:1", **env},
        )

    def stored(self, name: str) -> dict[str, object]:
        saved = json.loads((self.folder / name).read_text(encoding="utf-8"))
        assert isinstance(saved, dict)
        return saved

    def test_makes_a_folder_and_keeps_it_the_next_time(self) -> None:
        first = self.init("--json").document
        self.assertEqual((first["created"], first["running"], first["home"]), (True, False, str(self.folder)))
        self.assertEqual(first["providers_configured"], [])
        self.assertIn("core", self.stored("collections.json"))
        (self.folder / "collections.json").write_text('{"mine": {"members": ["a"]}}', encoding="utf-8")
        self.assertEqual(self.init("--json").document["created"], False)
        self.assertIn("mine", self.stored("collections.json"))

    def test_the_environment_names_the_folder(self) -> None:
        played = bench("init", env={"BENCHWARMERS_HOME": str(self.folder)})
        self.assertEqual((played.code, played.err), (0, ""))
        self.assertEqual(played.out, f"made the data folder {self.folder}\nstart the server: bench serve\n")

    def test_the_hint_starts_that_folder_as_the_program_was_called(self) -> None:
        folder = self.folder.with_name("my data")
        for options in ([], ["--json"]):
            played = bench("init", str(folder), "--yes", *options, program="python3 cli.py")
            if os.name != "nt":
                self.assertIn(f"python3 cli.py serve --home '{folder}'", played.out)

    def test_the_hint_names_the_server_that_has_the_folder(self) -> None:
        cases = [(None, "bench serve"), (8122, "bench status"), (9, "bench status --url http://127.0.0.1:9")]
        for port, wanted in cases:
            with self.subTest(port):
                owner = {"pid": 1, "port": port} if port else None
                self.assertEqual(init.following(owner, None), wanted)

    def test_saves_an_endpoint_where_no_server_is(self) -> None:
        cases = [
            (["--key-stdin"], KEY.encode(), KEY),
            (["--key-env", "MY_KEY"], b"", KEY),
            (["--yes"], b"", None),
        ]
        for options, stdin, keyed in cases:
            with self.subTest(options):
                played = self.init("--endpoint", "far", URL, *options, stdin=stdin, MY_KEY=KEY)
                self.assertEqual(played.code, 0, played.err)
                self.assertIn("saved the endpoint far", played.out)
                self.assertNotIn(KEY, played.out + played.err)
                self.assertIn(URL, json.dumps(self.stored("endpoints.json")))
                kept = "".join(file.read_text(encoding="utf-8") for file in self.folder.glob("*.json"))
                self.assertEqual(KEY in kept, bool(keyed))
                shutil.rmtree(self.folder)

    def test_goes_through_the_server_that_has_the_folder(self) -> None:
        with Stage({"POST /api/endpoint": {"ok": True, "endpoint": {}, "listing": {}}}) as stage:
            with mock.patch.object(
                home, "owner", return_value={"pid": 1, "port": int(stage.url.rpartition(":")[2])}
            ):
                played = self.init("--endpoint", "far", URL, "--key-stdin", "--json", stdin=KEY.encode())
            self.assertEqual(stage.last.body, {"name": "far", "base": URL, "key": KEY})
        self.assertEqual((played.code, played.document["running"]), (0, True))
        self.assertFalse((self.folder / "endpoints.json").exists())

    def test_refused_before_anything_is_made(self) -> None:
        cases = [["--key-stdin"], ["--endpoint", "far"], ["--endpoint", "far", URL, "--key-env", "UNSET"]]
        for options in cases:
            with self.subTest(options):
                self.assertEqual(self.init(*options).code, 2)
                self.assertFalse(self.folder.exists())


if __name__ == "__main__":
    unittest.main()
