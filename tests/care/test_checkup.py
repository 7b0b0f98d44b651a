import errno
import os
import unittest
from unittest import mock

from metrics.bench import credentials, endpoints
from metrics.bench.endpoints import Endpoint
from metrics.care import checkup, finding
from metrics.store import holdings, home
from tests.bench.bench import BY, BenchCase

ROW = '{"$schema_version": 1}\n{"panel": "p1"}\n'


class Checkup(BenchCase):
    def setUp(self) -> None:
        super().setUp()
        self.place = home.current()
        self.enterContext(mock.patch.dict(os.environ, clear=False))
        for name in [name for name in os.environ if name.startswith("BENCH")]:
            del os.environ[name]

    def look(self) -> dict[str, finding.Finding]:
        found = {each.name: each for each in checkup.folder(self.place)}
        for each in found.values():  # what fails always says what to do
            self.assertTrue(each.then or each.state != "failed", each)
        return found

    def failed(self) -> dict[str, str]:
        return {name: each.said for name, each in self.look().items() if each.state == "failed"}

    def test_a_folder_that_is_well(self) -> None:
        self.write("verdicts.jsonl", ROW)
        (self.place / "verdicts.jsonl").chmod(0o600)
        self.place.chmod(0o700)
        self.assertEqual(self.failed(), {})
        self.assertEqual(self.look()["versions"].said, "1 logs are of versions known here")
        self.assertEqual(self.look()["owner"].said, "no server has it")

    def test_what_is_no_settings_file(self) -> None:
        self.place.chmod(0o700)
        for name in ("underway.json", "before-restore-1/models.json", "mine.json"):
            (self.place / name).parent.mkdir(mode=0o700, exist_ok=True)
            self.write(name, "[]")
            (self.place / name).chmod(0o600)
        self.assertEqual(self.failed(), {})

    def test_what_may_not_be_read_is_told_and_the_rest_looked_at(self) -> None:
        """As somebody else's: a root's, who once started the server."""
        self.write("verdicts.jsonl", ROW)
        self.place.chmod(0o700)
        (self.place / "verdicts.jsonl").chmod(0o600)
        denied = PermissionError(errno.EACCES, "Permission denied", "verdicts.jsonl")
        for what, words in (
            ("metrics.store.disk.reading", "verdicts.jsonl cannot be read: Permission denied"),
            ("metrics.store.home.FileLock.take", "server.lock cannot be read: Permission denied"),
        ):
            (self.place / "server.lock").touch(0o600)
            with self.subTest(what), mock.patch(what, side_effect=denied):
                found = self.look()
                self.assertIn(words, found["files"].said)
                self.assertIn("keys", found)

    def test_a_file_that_goes_meanwhile_is_no_fault(self) -> None:
        self.place.chmod(0o700)
        with mock.patch.object(holdings, "sizes", lambda place: [("verdicts.jsonl", 1, 0.0)]):
            self.assertEqual(self.failed(), {})

    def test_each_thing_that_can_be_wrong(self) -> None:
        cases = [
            ("settings", "models.json", "{broken", "models.json, line 1"),
            ("settings", "keys.json", '{"$schema_version": 99}', "version 99"),
            ("logs", "verdicts.jsonl", ROW + '{"torn', "verdicts.jsonl"),
            ("logs", "claims.jsonl", ROW + "nonsense\n", "claims.jsonl"),
            ("versions", "changes.jsonl", '{"$schema_version":99}\n', "changes.jsonl"),
        ]
        for name, file, content, words in cases:
            with self.subTest(name, file=file):
                self.write(file, content)
                (self.place / file).chmod(0o600)
                found = self.failed()
                self.assertEqual(list(found), [name])
                self.assertIn(words, found[name])
                (self.place / file).unlink()

    @unittest.skipIf(os.name == "nt", "modes are POSIX's")
    def test_what_others_may_read(self) -> None:
        self.write("credentials.json", "{}")
        self.write("mine.txt", "")
        for name in ("credentials.json", "mine.txt"):
            (self.place / name).chmod(0o644)
        found = self.look()
        self.assertEqual((found["modes"].state, found["modes"].said[-16:]), ("failed", "credentials.json"))
        self.assertIn("chmod -R go=", found["modes"].then)
        self.assertEqual(
            (found["others' files"].state, found["others' files"].said[-8:]), ("skipped", "mine.txt")
        )

    def test_a_long_last_line_is_no_torn_one(self) -> None:
        self.write("verdicts.jsonl", ROW + '{"x": "' + "y" * 200_000 + '"}\n')
        (self.place / "verdicts.jsonl").chmod(0o600)
        self.assertEqual(self.look()["logs"].state, "passed")

    def test_space(self) -> None:
        for free, state in ((5, "failed"), (None, "skipped"), (1 << 40, "passed")):
            with mock.patch.object(holdings, "free", return_value=free):
                self.assertEqual(self.look()["space"].state, state)

    def test_whose_it_is(self) -> None:
        with home.own() as owner:
            owner.listening(8122)
            self.assertRegex(self.look()["owner"].said, r"process \d+, on port 8122")

    def test_keys_are_looked_for_and_never_told(self) -> None:
        for name, base, kind in (
            ("saved", "https://saved.example", "provider"),
            ("spoken", "https://spoken.example", "provider"),
            ("without", "https://without.example", "provider"),
            ("here", "http://127.0.0.1:11434", "provider"),
        ):
            endpoints.save(Endpoint(name=name, base=base, kind=kind), BY)
        credentials.save("saved", "sk-very-secret-one", BY)
        os.environ["BENCHWARMERS_KEY_SPOKEN"] = "sk-very-secret-two"
        found = self.look()
        states = {name[7:]: each.state for name, each in found.items() if name.startswith("key of ")}
        self.assertEqual(
            states, {"saved": "passed", "spoken": "passed", "without": "failed", "here": "passed"}
        )
        os.environ["BENCHWARMERS_KEY_SPOKN"] = "sk-very-secret-three"
        found = self.look()
        self.assertIn("BENCHWARMERS_KEY_SPOKN", found["keys"].said)
        self.assertNotIn("secret", str(found))
