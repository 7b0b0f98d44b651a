#!/usr/bin/env python3
"""The bench as an MCP server on stdio: lines in, `POST /mcp`, lines out. The same as `bench mcp`; the server
is the one that --url or BENCHWARMERS_URL names, else this computer's."""

import sys

import cli


def main(argv: list[str] | None = None) -> int:
    return cli.main(["mcp", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
