import base64
import hashlib
import os
import stat
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from metrics.commands import doctor, installed
from metrics.commands.server import Server
from metrics.version import VERSION
from tests.commands.stage import Reply, Stage, bench

FREE = {"BENCH_PORT": "9", "BENCH_GATEWAY_PORT": "9"}  # where nobody listens
STATUS = {
    "ok": True,
    "version": VERSION,
    "home": "/not/here",
    "exposure": "this computer only",
    "problems": [],
}


def found(played) -> dict[str, dict[str, str]]:
    return {f"{each['part']}, {each['name']}": each for each in played.document["checks"]}


class Doctor(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.env = {**FREE, "BENCHWARMERS_HOME": str(self.home), "PATH": str(self.home / "bin")}

    def test_a_newcomers_computer(self) -> None:
        played = bench("doctor", "--json", env=self.env)
        checks = found(played)
        failed = [name for name, each in checks.items() if each["state"] == "failed"]
        self.assertEqual((played.code, failed), (0, []))
        self.assertEqual(checks["server, reach"]["state"], "skipped")
        self.assertEqual(checks["endpoint, calls"]["state"], "skipped")
        self.assertEqual(
            played.document["passed"] + played.document["skipped"], len(played.document["checks"])
        )
        self.assertEqual(checks["port, 9"]["said"], "free")

    def test_for_people(self) -> None:
        played = bench("doctor", env={**self.env, "BENCH_PORT": "x"})
        self.assertEqual(played.code, 1)
        self.assertIn("FAIL  port, BENCH_PORT: 'x' is not a port\n        unset BENCH_PORT", played.out)
        self.assertRegex(played.out.splitlines()[-1], r"^\d+ passed, 1 failed, \d+ skipped$")

    def test_the_server(self) -> None:
        cases = [
            (STATUS, {"server, version": "passed", "data, folder": "skipped"}, 0),
            (STATUS | {"version": "0.0.9"}, {"server, version": "failed"}, 1),
            (STATUS | {"problems": ["models.json, line 3: …"]}, {"server, problem": "failed"}, 1),
            (STATUS | {"home": str(self.home)}, {"data, owner": "passed"}, 0),
        ]
        for status, states, code in cases:
            with self.subTest(status), Stage({"GET /api/status": status}) as stage:
                played = stage.bench("doctor", "--json", env=self.env)
                checks = found(played)
                self.assertEqual({name: checks[name]["state"] for name in states}, states)
                self.assertEqual(played.code, code)

    def test_a_folder_on_another_computer_is_not_looked_for_here(self) -> None:
        visit = doctor.Visit(
            mock.Mock(home=None),
            mock.Mock(env=self.env),
            Server("http://10.0.0.1"),
            STATUS | {"home": str(self.home)},
        )
        (only,) = doctor.folder(visit)
        self.assertEqual((only.state, only.then), ("skipped", "run this there"))

    def test_a_server_that_wants_to_know_who_asks(self) -> None:
        error = {"message": "sign in", "kind": "auth"}
        refusal = Reply({"ok": False, "errors": ["sign in"], "error": error}, 401)
        with Stage({"GET /api/status": refusal}) as stage:
            check = found(stage.bench("doctor", "--json", env=self.env))["server, reach"]
        self.assertEqual((check["state"], check["said"]), ("failed", "sign in"))
        self.assertIn("bench login", check["then"])

    def test_ports(self) -> None:
        with Stage({"GET /health": {"name": "somebody"}}) as other, Stage() as ours:
            for stage, state in ((ours, "passed"), (other, "failed")):
                number = stage.url.rpartition(":")[2]
                self.assertEqual(doctor.port(Server(stage.url), number, "serve").state, state)

    def test_live_calls_every_endpoint(self) -> None:
        listing = {"ok": True, "models": [], "total": 7, "note": ""}
        rows = [
            {"name": "box", "base": "http://127.0.0.1:1/v1"},
            {"name": "practice", "base": "x", "builtin": True},
        ]
        replies = {
            "GET /api/status": STATUS,
            "GET /api/endpoints": {"ok": True, "endpoints": rows},
            "POST /api/endpoint/test": {"ok": True, "listing": listing},
        }
        with Stage(replies) as stage:
            checks = found(stage.bench("doctor", "--live", "--json", env=self.env))
            self.assertEqual([one.body for one in stage.sent if one.method == "POST"], [{"name": "box"}])
        self.assertEqual(checks["endpoint, box"]["state"], "passed")
        self.assertIn("lists 7 models", checks["endpoint, box"]["said"])
        error = {"message": "the key is refused", "kind": "upstream_auth"}
        replies["POST /api/endpoint/test"] = Reply(
            {"ok": False, "errors": [error["message"]], "error": error}, 400
        )
        with Stage(replies) as stage:
            played = stage.bench("doctor", "--live", "--json", env=self.env)
        self.assertEqual((played.code, found(played)["endpoint, box"]["said"]), (1, "the key is refused"))
        self.assertTrue(found(played)["endpoint, box"]["then"])

    def test_without_live_nothing_is_called(self) -> None:
        with Stage({"GET /api/status": STATUS}) as stage:
            stage.bench("doctor", env=self.env)
            self.assertEqual({one.path for one in stage.sent}, {"/api/status"})

    def test_agents(self) -> None:
        program = self.home / "bin" / "codex"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        checks = found(bench("doctor", "--json", env=self.env))
        self.assertEqual(checks["client, Codex"]["state"], "passed" if os.name != "nt" else "skipped")
        self.assertEqual(
            (checks["client, pi"]["state"], checks["client, pi"]["then"][:4]), ("skipped", "npm ")
        )


class Parts(unittest.TestCase):
    def test_whether_the_command_is_this_program(self) -> None:
        here = installed.place({})
        with mock.patch.object(installed, "owns", side_effect=[True, False]):
            said = [doctor.on_path(here, found) for found in (None, "/ours/bench", "/other/bench")]
        self.assertEqual([one.state for one in said], ["skipped", "passed", "skipped"])
        self.assertIn("/other/bench", said[2].said)
        self.assertTrue(said[0].then and said[2].then)

    def test_the_clock(self) -> None:
        self.assertEqual(doctor.clock(0.0).state, "failed")
        self.assertEqual(doctor.clock(1_800_000_000.0).state, "passed")

    def test_another_clock(self) -> None:
        with Stage({"GET /v1": {}}) as stage, mock.patch.object(doctor, "LOOPBACK", ()):
            for off, state in ((0, "passed"), (4000, "failed"), (-4000, "failed")):
                now = doctor.time.time() + off
                (one,) = doctor.skewed("box", f"{stage.url}/v1", lambda now=now: now)
                self.assertEqual(one.state, state, one)
        self.assertEqual(list(doctor.skewed("box", "http://127.0.0.1:1/v1")), [])

    def test_descriptors(self) -> None:
        resource = mock.Mock(RLIMIT_NOFILE=7, RLIM_INFINITY=-1)
        for hard, state in ((256, "failed"), (-1, "passed"), (4096, "passed")):
            resource.getrlimit.return_value = (256, hard)
            with mock.patch.dict("sys.modules", {"resource": resource}):
                self.assertEqual(doctor.descriptors().state, state)
        with mock.patch.dict("sys.modules", {"resource": None}):
            self.assertEqual(doctor.descriptors().state, "skipped")

    def test_files_that_are_not_what_was_installed(self) -> None:
        top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        folder = top / "benchwarmers"
        folder.mkdir()
        rows = ["benchwarmers-0.1.0.dist-info/RECORD,,", "../../bin/bench,sha256=x,1"]
        for name in ("a.py", "b.py", "c.py"):
            (folder / name).write_text(name, encoding="utf-8")
            digest = base64.urlsafe_b64encode(hashlib.sha256(name.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"benchwarmers/{name},sha256={digest},4")
        record = "\n".join(rows)
        self.assertEqual(doctor.changed(top, record), [])
        (folder / "a.py").write_text("mine", encoding="utf-8")
        (folder / "b.py").unlink()
        self.assertEqual(doctor.changed(top, record), ["benchwarmers/a.py", "benchwarmers/b.py"])
        info = top / "benchwarmers-0.1.0.dist-info"
        info.mkdir()
        (info / "RECORD").write_text(record, encoding="utf-8")
        self.assertEqual(installed.record(folder), record)
        self.assertEqual(installed.record(top / "elsewhere" / "benchwarmers"), "")
