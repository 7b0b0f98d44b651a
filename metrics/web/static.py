"""The page's own files: read-only, from one folder, with the headers that keep a page harmless.

Names are accepted and not cleaned: each segment must look like a file of ours and its ending must be in
TYPES, so a path that tries to climb out (in whatever encoding or system's spelling) is simply not a file.
"""

import gzip
import re
from pathlib import Path

from metrics.records import Problem
from metrics.web.table import Call, Handler, Headers, Response

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}

PACKED = frozenset(
    {".html", ".js", ".css", ".json", ".svg", ".txt", ".webmanifest"}
)  # what gzip makes smaller
SMALL = 1000  # bytes that are sent as they are

# No inline scripts or styles, nothing from elsewhere, never in a frame.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SAFE = (
    ("Content-Security-Policy", POLICY),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-cache"),
)

_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def files(folder: Path, index: str = "index.html") -> Handler:
    """A handler for "/ui/{file*}", or for a path without a part, which gets `index`. A file that has not
    changed since the caller's ETag is a 304; one that changed on disk is read again. Text is sent packed to
    whoever takes gzip (RFC 9110, section 8.4.1.3): it holds nothing secret that its size could give away."""
    held: dict[tuple[Path, bool], tuple[str, bytes]] = {}

    def serve(call: Call) -> Response:
        path = located(folder, call.parts.get("file", index))
        kind = path.suffix.lower()
        try:
            stat = path.stat()
            packed = kind in PACKED and stat.st_size >= SMALL and takes_gzip(call)
            etag = f'"{stat.st_mtime_ns:x}-{stat.st_size:x}{"-gz" if packed else ""}"'
            if held.get((path, packed), ("",))[0] != etag:
                raw = path.read_bytes()
                held[path, packed] = (etag, gzip.compress(raw, mtime=0) if packed else raw)
        except OSError:
            raise _missing(call.path) from None
        headers: Headers = (*SAFE, ("ETag", etag), ("Content-Type", TYPES[kind]))
        if kind in PACKED:
            headers += (("Vary", "Accept-Encoding"),)
        if _same(call.headers.get("if-none-match", ""), etag):
            return Response(304, headers)
        if packed:
            headers += (("Content-Encoding", "gzip"),)
        return Response(200, headers, held[path, packed][1])

    return serve


def takes_gzip(call: Call) -> bool:
    """Whether Accept-Encoding names gzip, and not with a weight of zero."""
    for each in call.headers.get("accept-encoding", "").lower().split(","):
        name, _, weight = each.partition(";")
        if name.strip() in ("gzip", "x-gzip"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False


def located(folder: Path, name: str) -> Path:
    """The file `name` of `folder`; Problem 404 for any that is not a plain file in it."""
    segments = name.split("/")
    path = folder.joinpath(*segments) if all(map(_SEGMENT.fullmatch, segments)) else folder
    if path.suffix.lower() not in TYPES or not path.is_file():
        raise _missing(name)
    if not path.resolve().is_relative_to(folder.resolve()):
        raise _missing(name)
    return path


def _same(asked: str, etag: str) -> bool:
    return asked.strip() == "*" or etag in (each.strip().removeprefix("W/") for each in asked.split(","))


def _missing(name: str) -> Problem:
    return Problem(404, f"there is no page file {name[:100]!r}")
