"""`python3 -m tests.cases [NAMES...] [--jobs N] [--later] [--json]`: play the cases, a line each; NAMES are
ids, areas or parts of file names. The last line is `N passed, N failed`; exit status 1 when any failed."""

import argparse
import json
import sys

from tests.cases import case as cases
from tests.cases.play import Result, play


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests.cases", description="Play the black-box cases.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="ids, areas or parts of file names; all without"
    )
    parser.add_argument("--jobs", type=int, default=4, metavar="N", help="runs at a time (4)")
    parser.add_argument("--later", action="store_true", help="play also what is known not to pass yet")
    parser.add_argument("--json", action="store_true", help="print each case as a JSON object on a line")
    options = parser.parse_args(argv)
    try:
        chosen = cases.load(options.names)
    except LookupError as unknown:
        print(unknown.args[0], file=sys.stderr)
        return 2
    passed = failed = 0
    for result in play(chosen, options.jobs, options.later):
        passed += bool(result.played and not result.wrong)
        failed += bool(result.wrong)
        _tell(result, options.json)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def _tell(result: Result, as_json: bool) -> None:
    case = result.case
    if as_json:
        told = {"id": case["id"], "title": case["title"], "played": result.played}
        print(json.dumps({**told, "wrong": result.wrong, "later": result.later}), flush=True)
        return
    word = "FAIL" if result.wrong else "ok" if result.played else "later"
    note = f"  (later: {'; '.join(result.later)})" if result.later else ""
    print(f"{word:<5} {case['id']} {case['area']:<14} {case['title']}{note}", flush=True)
    for sentence in result.wrong:
        print("      " + sentence.encode("ascii", "backslashreplace").decode())


if __name__ == "__main__":
    sys.exit(main())
