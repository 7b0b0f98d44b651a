#!/usr/bin/env python3
"""The client libraries for Node, in js/, against one server with every scripted member.

python tests/clients/run_js.py FOLDER [NAME...]     FOLDER: where `npm install` put what package.json names
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.clients.scripted import seat_all
from tests.provider import Provider
from tests.running import Running

SCRIPTS = Path(__file__).parent / "js"
PATIENCE = 180.0  # seconds a script may take


def main(folder: Path, *names: str) -> int:
    for script in SCRIPTS.glob("*.mjs"):
        shutil.copy(script, folder)  # Node looks for libraries beside the script that asks for them
    failed = 0
    with Provider() as provider, Running() as bench:
        seat_all(bench, provider)
        for name in names or sorted(
            script.stem for script in SCRIPTS.glob("*.mjs") if script.stem != "checks"
        ):
            environment = {**os.environ, "BASE_URL": bench.url}
            done = subprocess.run(["node", f"{name}.mjs"], cwd=folder, env=environment, timeout=PATIENCE)
            if done.returncode not in (0, 1):
                print(f"FAIL {name}.mjs: ended with {done.returncode}", flush=True)
            failed += done.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
