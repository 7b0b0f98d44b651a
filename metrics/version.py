"""The version, said once: the packages, `/health` and `bench --version` all read it here."""

VERSION = "0.1.0"
