"""The address by which a server is known outside: BENCHWARMERS_PUBLIC_URL, else what a host of servers says
of it in variables of its own."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from metrics.records import Problem

VARIABLE = "BENCHWARMERS_PUBLIC_URL"

# Where nobody named an address: the host's own variable, and what it holds.
HOSTS = (
    ("RENDER_EXTERNAL_URL", "{}"),  # render.com/docs/environment-variables
    ("RAILWAY_PUBLIC_DOMAIN", "https://{}"),  # docs.railway.com/variables/reference
    ("FLY_APP_NAME", "https://{}.fly.dev"),  # fly.io/docs/machines/runtime-environment
)


def address(env: Mapping[str, str]) -> str | None:
    """`https://bench.example.com`, without a slash at its end; None for a server of this computer alone.
    Problem 400 where what is named is none."""
    said = env.get(VARIABLE, "").strip()
    if not said:
        found = (form.format(env[name]) for name, form in HOSTS if env.get(name))
        said = next(found, "")
    if not said:
        return None
    try:
        parts = urlsplit(said)
        good = (
            parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) and not parts.username
        )
    except ValueError:
        good = False
    if not good:
        raise Problem(400, f"{VARIABLE}={said[:80]} must be an address such as https://bench.example.com")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise Problem(
            400,
            f"{VARIABLE}={said[:80]} must be an address without a path: the server wants a host name of its "
            "own, such as https://bench.example.com",
        )
    return f"{parts.scheme}://{parts.netloc}"
