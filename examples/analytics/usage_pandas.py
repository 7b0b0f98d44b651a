"""What was used by day and model, from the ledger's lines as they are, with pandas.

python3 examples/analytics/usage_pandas.py /path/to/home
"""

import sys
from pathlib import Path

import pandas

IN = ["uncached_in", "cache_read", "cache_write"]
FINE = ("caller_left", "interrupted")  # not the model's fault


def usage(home: Path) -> pandas.DataFrame:
    """day, model, calls, errors, tokens_in, tokens_out, known_usd, unknown_calls."""
    files = sorted((home / "ledger").glob("*.jsonl"))
    calls = pandas.concat(
        pandas.read_json(file, lines=True, convert_dates=False, dtype=False) for file in files
    )
    calls = calls[calls["at"].notna()]
    calls["day"] = calls["at"].str[:10]
    calls["errors"] = (calls["status"] != "ok") & ~calls["error"].isin(FINE)
    calls["tokens_in"] = calls[IN].astype(float).fillna(0).sum(axis=1)
    calls["tokens_out"] = calls["out"].astype(float).fillna(0)
    calls["cost_usd"] = calls["cost_usd"].astype(float)
    calls["unknown"] = calls["cost_status"] == "unknown"
    table = calls.groupby(["day", "model"], as_index=False).agg(
        calls=("at", "size"),
        errors=("errors", "sum"),
        tokens_in=("tokens_in", "sum"),
        tokens_out=("tokens_out", "sum"),
        # Without a single known cost there is no sum: a zero would say that nothing was spent.
        known_usd=("cost_usd", lambda costs: round(costs.sum(min_count=1), 12)),
        unknown_calls=("unknown", "sum"),
    )
    whole = dict.fromkeys(("tokens_in", "tokens_out"), int)
    return table.astype(whole).sort_values(["day", "known_usd", "model"], ascending=[True, False, True])


if __name__ == "__main__":
    print(usage(Path(sys.argv[1])).to_string(index=False))
