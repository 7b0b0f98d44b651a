"""The application. Its rooms, and who may use whom, are in AGENTS.md."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  a checkout is run by whatever Python there is
    raise ImportError(f"Benchwarmers needs Python 3.11 or newer; this is {sys.version.split()[0]}")
