"""The examples for other tools, on lines that the ledger wrote. Each needs its tool: the test is skipped
where that is not installed, and says so."""

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from metrics.limits import ledger
from metrics.store import home

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "analytics"
FIELDS = ("day", "model", "calls", "errors", "tokens_in", "tokens_out", "known_usd", "unknown_calls")
OCTOBER, NOVEMBER = "2026-10-31T23:59:59.999Z", "2026-11-01T00:00:00.000Z"

ROWS = (
    {
        "at": OCTOBER,
        "model": "kimi",
        "status": "ok",
        "uncached_in": 5,
        "cache_read": 6,
        "out": 7,
        "cost_usd": 0.1,
    },
    {"at": OCTOBER, "model": "kimi", "status": "ok", "uncached_in": 1, "out": 1, "cost_usd": 0.2},
    {"at": NOVEMBER, "model": "kimi", "status": "error", "error": "overloaded", "cost_status": "none"},
    {"at": NOVEMBER, "model": "kimi", "status": "cut", "error": "caller_left", "out": 3, "cost_usd": 5e-12},
    {"at": NOVEMBER, "model": "dark", "status": "ok", "uncached_in": 9, "out": 2, "cost_status": "unknown"},
)
WANTED = [
    ("2026-10-31", "kimi", 2, 0, 12, 8, 0.3, 0),
    ("2026-11-01", "kimi", 2, 1, 0, 3, 5e-12, 0),
    ("2026-11-01", "dark", 1, 0, 9, 2, None, 1),
]


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


class Analytics(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        home.use(self.home)
        self.addCleanup(home.close)
        for row in ROWS:
            ledger.add({"cost_status": "computed", "usage_raw": {"prompt_tokens": 5}} | row)
        home.close()

    def check(self, rows: list[dict[str, Any]]) -> None:
        told = [tuple(row[field] for field in FIELDS) for row in rows]
        self.assertEqual([tuple(None if cell != cell else cell for cell in row) for row in told], WANTED)

    def run_python(self, code: str, *words: str) -> list[dict[str, Any]]:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code, *words], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        rows: list[dict[str, Any]] = json.loads(done.stdout)
        return rows

    @unittest.skipUnless(has("duckdb"), "DuckDB is not installed: pip install duckdb")
    def test_duckdb(self) -> None:
        code = (
            "import duckdb, json, sys; db = duckdb.connect();"
            'db.execute("SET VARIABLE ledger = \'" + sys.argv[1] + "\'");'
            "found = db.execute(open(sys.argv[2]).read()); names = [one[0] for one in found.description];"
            "print(json.dumps([dict(zip(names, row)) for row in found.fetchall()]))"
        )
        ledger_ = str(self.home / "ledger" / "*.jsonl")
        self.check(self.run_python(code, ledger_, str(FOLDER / "usage.duckdb.sql")))

    @unittest.skipUnless(has("pandas"), "pandas is not installed: pip install pandas")
    def test_pandas(self) -> None:
        code = (
            "import sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path; import usage_pandas;"
            "print(usage_pandas.usage(Path(sys.argv[1])).to_json(orient='records', double_precision=15))"
        )
        self.check(self.run_python(code, str(self.home), str(FOLDER)))

    @unittest.skipUnless(
        shutil.which("clickhouse") or has("chdb"), "ClickHouse is not installed: see clickhouse.com (or chdb)"
    )
    def test_clickhouse(self) -> None:
        code = "import chdb, sys; print(chdb.query(open(sys.argv[1]).read().rstrip().rstrip(';')))"
        words = [sys.executable, "-c", code]
        if shutil.which("clickhouse"):
            words = ["clickhouse", "local", "--queries-file"]
        words.append(str(FOLDER / "usage.clickhouse.sql"))
        done = subprocess.run(words, capture_output=True, text=True, cwd=self.home / "ledger", check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check([json.loads(line) for line in done.stdout.splitlines() if line])
