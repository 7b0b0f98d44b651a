import io
import json
import unittest
import zipfile

from metrics.bench import credentials
from metrics.dashboard import backup
from metrics.web.table import Call
from tests.dashboard.api import ApiCase


class Backup(ApiCase):
    routes = backup.HANDLERS

    def test_a_copy_without_any_secret(self) -> None:
        self.write("settings.json", '{"max_calls": 6}')
        credentials.save("openai", "sk-not-for-the-copy")
        call = Call("GET", "/api/backup")
        answer = backup.take(call)
        self.assertIn(("Content-Type", "application/zip"), answer.headers)
        self.assertRegex(dict(answer.headers)["Content-Disposition"], r'filename="benchwarmers-[\dT-]+\.zip"')
        assert not isinstance(answer.body, bytes)
        content = b"".join(answer.body)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            self.assertEqual(json.loads(archive.read("home/settings.json")), {"max_calls": 6})
            held = b"".join(archive.read(name) for name in archive.namelist())
            self.assertEqual(json.loads(archive.read("manifest.json"))["left_out"], ["credentials.json"])
        self.assertNotIn(b"sk-not-for-the-copy", held)


if __name__ == "__main__":
    unittest.main()
