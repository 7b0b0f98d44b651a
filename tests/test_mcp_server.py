"""mcp_server.py as a client starts it."""

import json
import subprocess
import sys
import unittest

from tests.mcp.stage import message
from tests.running import ROOT, clean_environment


class SlowMainTest(unittest.TestCase):
    def test_lines_in_lines_out(self):
        """Nobody is asked: what is no message is answered by the twin itself, what is one says that there is
        no server."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "mcp_server.py"), "--url", "http://127.0.0.1:9"],
            input="nope\n" + json.dumps(message("ping")) + "\n",
            capture_output=True,
            encoding="utf-8",
            env=clean_environment(),
            timeout=60,
        )
        said = sorted(json.loads(line)["error"]["code"] for line in done.stdout.splitlines())
        self.assertEqual((done.returncode, said), (0, [-32700, -32603]), done.stderr)


if __name__ == "__main__":
    unittest.main()
