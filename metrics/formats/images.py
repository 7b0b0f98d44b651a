"""Pictures, in whatever shape a caller sends them, as one chat part: `{"type": "image_url", "image_url":
{"url", "detail"?}}`.

An http(s) address is passed on and never fetched here. Inline data becomes a data URL in standard base64,
labelled by what the bytes say they are: providers refuse a wrong label, and clients send plenty (image/jpg, a
PNG called a JPEG, none at all).
"""

import base64
import binascii
import re
from typing import Any

from metrics.records import Problem

# The first bytes of what models read, and the label that providers want for it.
SIGNATURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
)
READ = "PNG, JPEG, GIF and WebP are read"

_HEAD = 64  # characters of base64 that show what a picture is; a multiple of 4
_STANDARD = re.compile(r"[A-Za-z0-9+/]*+={0,2}")
_FOREIGN = re.compile(r"[^A-Za-z0-9+/]")
_URL_SAFE = str.maketrans("-_", "+/")
_NO_SPACES = str.maketrans("", "", " \t\r\n\v\f")


def part(url: str, detail: str | None = None) -> dict[str, Any]:
    image = {"url": url, "detail": detail} if detail else {"url": url}
    return {"type": "image_url", "image_url": image}


def from_url(url: Any, where: str, detail: str | None = None) -> dict[str, Any]:
    """A part from an http(s) address or a data URL. Problem 400 naming `where` for anything else."""
    if not isinstance(url, str):
        raise Problem(400, f"{where} must be an http(s) address or a data URL", param=where)
    if url.startswith(("https://", "http://")):
        return part(url, detail)
    if not url.startswith("data:"):
        raise Problem(
            400,
            f"{where} must begin with https://, http:// or data:; a bare file or id is not read",
            param=where,
        )
    comma = url.find(",")
    kind, *parameters = url[len("data:") : max(comma, 0)].split(";")
    if "base64" not in [parameter.strip().lower() for parameter in parameters]:
        raise Problem(400, f"{where} is a data URL without base64 data", param=where)
    # A picture can be megabytes: where nothing is wrong, the caller's own string goes on, uncopied.
    start = comma + 1
    if _is_standard(url, start) and url[:start] == _head(_label(url[start : start + _HEAD], kind, where)):
        return part(url, detail)
    return from_base64(url[start:], kind, where, detail)


def from_base64(data: Any, kind: str | None, where: str, detail: str | None = None) -> dict[str, Any]:
    """A part from bare base64, standard or URL-safe, padded or not. `kind` is the caller's label, if any."""
    if not isinstance(data, str) or not data:
        raise Problem(400, f"{where} must hold a picture in base64", param=where)
    if not _is_standard(data):
        data = _repaired(data, where)
    return part(_head(_label(data[:_HEAD], kind, where)) + data, detail)


def _head(label: str) -> str:
    return f"data:{label};base64,"


def _is_standard(data: str, start: int = 0) -> bool:
    """Whether `data`, from `start` on, is base64 in the standard alphabet with its padding."""
    return (len(data) - start) % 4 == 0 and _STANDARD.fullmatch(data, start) is not None


def _repaired(data: str, where: str) -> str:
    """`data` in the standard alphabet with its padding."""
    if "-" in data or "_" in data:
        data = data.translate(_URL_SAFE)
    if data[-1:].isspace() or "\n" in data:
        data = data.translate(_NO_SPACES)
    bare = data.rstrip("=")
    if len(bare) % 4 == 1 or (odd := _FOREIGN.search(bare)):
        at = f": {odd[0]!r} does not belong in it" if len(bare) % 4 != 1 and odd else ""
        raise Problem(400, f"{where} is not valid base64{at}", param=where)
    return bare + "=" * (-len(bare) % 4)


def _label(start: str, kind: str | None, where: str) -> str:
    """What the picture is by its own first bytes, of which `start` is the base64."""
    try:
        first = base64.b64decode(start + "=" * (-len(start) % 4))
    except (ValueError, binascii.Error):
        raise Problem(400, f"{where} is not valid base64", param=where) from None
    for signature, label in SIGNATURES:
        if signature.match(first):
            return label
    called = f", although it is called {kind.strip()[:40]}" if kind else ""
    raise Problem(400, f"{where} is no picture that models read{called}; {READ}", param=where)
