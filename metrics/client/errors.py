"""What a provider's refusal means: every status, body and in-stream error becomes one Problem, here and
nowhere else.

The idea: providers disagree on statuses (a used-up quota is a 429, 402, 400 or 403; a prompt that is too long
a 400, 413, 422 or 429), so the words decide first and the status only when they say nothing. KINDS_BY_WORDS
is read from the top, the first row that matches wins. The provider's status is kept, since it is what the
caller would have got without us.
"""

import html
import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from metrics.client import refusals, retry
from metrics.records import Problem, Target

LONGEST = 300  # characters of what the provider said


class Said(NamedTuple):
    """A refusal in its parts. `words` is code, type and status in lower case, apart from the prose."""

    message: str = ""
    words: tuple[str, ...] = ()
    code: str | None = None
    param: str | None = None
    body: Any = None


class Row(NamedTuple):
    """`words` are matched against code, type and status alone, whole; `prose` is searched for in the
    message."""

    kind: str
    words: str
    prose: str
    statuses: frozenset[int] = frozenset()  # empty: any


_LENGTH = frozenset({400, 413, 422, 429, 500})
_BUSY = frozenset({400, 403, 408, 429, 500, 502, 503, 504, 529})

KINDS_BY_WORDS = (
    Row(  # fault 26: a prompt that is too long is the request's doing, never the provider's capacity
        "context",
        r"context_length_exceeded|context_window_exceeded|exceed_context_size_error|string_above_max_length",
        r"maximum context length|context (?:length|window|size)|prompt is too long|input is too long"
        r"|too many input tokens|reduce the length of the (?:messages|prompt|input)"
        r"|input token count.{0,40}exceeds|exceeds the (?:maximum|max) (?:number of )?tokens|max_model_len",
        _LENGTH,
    ),
    Row(  # one request above a per-minute allowance can never pass (Groq 413, OpenAI 429)
        "too_large",
        r"request_too_large|payload_too_large",
        r"request (?:entity )?too large|payload too large|body (?:is )?too large",
        frozenset({400, 413, 429}),
    ),
    Row(
        "rate_limited",
        r"in_flight_budget_exhausted",
        r"concurrent requests|too many concurrent",
        frozenset({402, 429}),
    ),
    Row(
        "payment",
        r"insufficient_quota|credit_balance_exhausted|billing_hard_limit_reached|billing_not_active"
        r"|billing_error|insufficient_balance|insufficient_credits|insufficient_funds|access_terminated|arrears|arrearage",
        r"credit balance is too low|insufficient (?:balance|credits?|funds)|requires more credits"
        r"|out of credits|no credits|depleted|payment required"
        r"|exceeded your monthly (?:spend|included)|\blimit: 0\b",
        frozenset({400, 402, 403, 429}),
    ),
    Row(
        "auth",
        r"invalid_api_key|invalid_authentication|authentication_error|api_key_invalid|unauthenticated"
        r"|no_api_key|invalid_token",
        r"api key not valid|invalid api key|incorrect api key|missing api key|no auth credentials",
        frozenset({400, 401, 403}),
    ),
    Row(
        "refused",
        r"content_filter|content_policy_violation|moderation_blocked|data_inspection_failed|sensitive"
        r"|responsibleaipolicyviolation|prohibited_content|safety|refusal",
        r"content (?:policy|filter|management)|usage polic|flagged|moderation|safety system"
        r"|violat\w+ .{0,40}polic",
        frozenset({400, 403, 422, 451, 500}),
    ),
    Row(
        "not_found",
        r"model_not_found|not_found_error|unknown_model|model_not_available|model_decommissioned|not_found",
        r"model.{0,80}(?:does not exist|not found|is not available|has been (?:decommissioned|retired))"
        r"|no endpoints found|no such model|unknown model",
        frozenset({400, 403, 404, 410, 422}),
    ),
    Row(
        "overloaded",
        r"overloaded_error|overloaded|queue_exceeded|engine_overloaded_error|engine_overloaded|unavailable"
        r"|capacity_exceeded|server_busy|1302",
        r"overloaded|at capacity|no healthy upstream|loading model|model is (?:currently )?loading"
        r"|server (?:is )?busy",
        _BUSY,
    ),
    Row(
        "rate_limited",
        r"rate_limit_exceeded|rate_limit_error|rate_limited|resource_exhausted|request_quota_exceeded"
        r"|too_many_requests|ratelimitreached|throttlingexception|throttling|1300",
        r"rate limit|too many requests|quota exceeded|tokens per (?:minute|day)|requests per (?:minute|day)",
        frozenset({400, 403, 429, 500, 503}),
    ),
    Row("timeout", r"timeout|deadline_exceeded|timeout_error", r"timed out|deadline exceeded", _BUSY),
)
_ROWS = [
    (row, re.compile(row.words), re.compile(row.prose, re.IGNORECASE | re.DOTALL)) for row in KINDS_BY_WORDS
]

KINDS_BY_STATUS = {
    401: "auth",
    402: "payment",
    403: "forbidden",
    404: "not_found",
    408: "timeout",
    410: "not_found",
    413: "too_large",
    429: "rate_limited",
    451: "refused",
    503: "overloaded",
    504: "timeout",
    524: "timeout",
    529: "overloaded",
}
# For errors that come without a status of their own, inside a stream that began with 200.
STATUSES = {
    "auth": 401,
    "payment": 402,
    "forbidden": 403,
    "not_found": 404,
    "too_large": 413,
    "context": 400,
    "bad_request": 400,
    "refused": 400,
    "rate_limited": 429,
    "overloaded": 503,
    "timeout": 504,
}
RETRYABLE = frozenset({"rate_limited", "overloaded", "timeout", "upstream"})
HINTS = {
    "auth": "; the key of endpoint {endpoint} was not accepted (bench endpoint key {endpoint})",
    "not_found": "; see what the endpoint serves with: bench endpoint test {endpoint}",
}
_KEYS = re.compile(
    r"\b(?:(?:sk|pk|rk|gsk|csk|xai|r8|hf|nvapi|pplx|ghp|glpat)[-_]|AIza)[\w*.-]{8,}"
    r"|(?<=earer )[\w.~+/=-]{20,}"
)


def from_status(
    status: int, headers: Mapping[str, str], body: bytes, target: Target, *, now: float
) -> Problem:
    """The Problem of an answer that is not a success. `headers` have lower-case names; `now` is epoch
    seconds."""
    said = read(body)
    if not said.message and headers.get("x-error-message"):  # Hugging Face's router
        said = said._replace(message=headers["x-error-message"])
    return _problem(status, said, headers, target, now)


def in_stream(event: Any, target: Target, *, now: float) -> Problem | None:
    """The Problem of an object found in a 200 stream (or body), or None when it is no error."""
    if isinstance(event, list) and event and isinstance(event[0], dict):
        event = event[0]
    if not isinstance(event, dict) or not _is_error(event):
        return None
    said = _parts(event)
    status = next((status for word in said.words if (status := _status(word))), 0)
    return _problem(status, said, {}, target, now)


def of_finish(word: str, target: Target, *, now: float) -> Problem:
    """The Problem of a finish reason that says the model broke down ("error",
    "insufficient_system_resource")."""
    kind = "overloaded" if "resource" in word else "upstream"
    said = Said(f"the answer ended with finish reason {word!r}")
    return _problem(STATUSES.get(kind, 502), said, {}, target, now, kind)


def read(body: bytes) -> Said:
    """The parts of an error body: JSON in any provider's shape, HTML, or plain text."""
    text = body.decode("utf-8", "replace").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Said(_plain(text))
    if isinstance(value, list) and value:  # Gemini wraps the object in a list
        value = value[0]
    return _parts(value) if isinstance(value, dict) else Said(str(value) if value else "")


def named(alias: str, message: str) -> str:
    """`message` with who said it in front, once: a gateway's own message may begin with the name."""
    return message if message.casefold().startswith(f"{alias}:".casefold()) else f"{alias}: {message}"


def redact(text: str, key: str | None = None) -> str:
    """`text` without the key, and without whatever looks like one (OpenAI quotes half of a wrong key)."""
    key = (key or "").strip()
    if len(key) >= 4:
        text = text.replace(key, "[key]")
    return _KEYS.sub("[key]", text)


def _problem(
    status: int, said: Said, headers: Mapping[str, str], target: Target, now: float, kind: str = ""
) -> Problem:
    kind = kind or ("payment" if status == 429 and _no_allowance(headers) else _kind(status, said))
    if not 400 <= status <= 599:
        status = STATUSES.get(kind, 502)
    message = _told(said.message, target) or f"answered {_phrase(status)} and said nothing more"
    waits = kind in ("rate_limited", "overloaded") or status in (408, 429, 503)
    wait = retry.wait(headers, said.body, said.message, now) if waits else None
    told = refusals.Told(kind, status, said.words, said.message, said.body)
    limited = refusals.limited(told, headers, target, now, wait)
    if waits and limited and limited.until is not None:
        wait = limited.until - now
    return Problem(
        status,
        named(target.alias, message) + HINTS.get(kind, "").format(endpoint=target.endpoint),
        kind=kind,
        param=_told(said.param, target),
        code=_told(said.code, target),
        retry_after=wait,
        retryable=kind in RETRYABLE,
        limited=limited,
    )


def _kind(status: int, said: Said) -> str:
    for row, words, prose in _ROWS:
        if (not status or not row.statuses or status in row.statuses) and (
            any(words.fullmatch(word) for word in said.words) or prose.search(said.message)
        ):
            return row.kind
    if status in KINDS_BY_STATUS:
        return KINDS_BY_STATUS[status]
    return "bad_request" if 400 <= status < 500 else "upstream"


def _no_allowance(headers: Mapping[str, str]) -> bool:
    """Mistral names a limit of 0 when the key may not use the model at all: no wait ends that."""
    return any(name.startswith("x-ratelimit-limit") and value == "0" for name, value in headers.items())


def _is_error(event: Mapping[str, Any]) -> bool:
    """{"error": …}, vLLM's {"object": "error"}, {"type": "error"}, and bodies that have a message in place of
    choices."""
    if event.get("error") or event.get("object") == "error" or event.get("type") == "error":
        return True
    return "choices" not in event and bool(event.get("detail") or event.get("message") or event.get("errors"))


def _parts(value: Mapping[str, Any]) -> Said:
    error = value.get("error")
    inner: Mapping[str, Any] = error if isinstance(error, dict) else {}
    words = [
        str(source[name]).lower()
        for source in (inner, value)
        for name in ("code", "type", "status", "status_code", "reason")
        if isinstance(source.get(name), str | int)
    ]
    words += [str(reason).lower() for reason in _reasons(inner)]
    code, param = inner.get("code", value.get("code")), inner.get("param", value.get("param"))
    return Said(
        message=_message(inner, value, error),
        words=tuple(words),
        code=code if isinstance(code, str) else None,
        param=param if isinstance(param, str) else None,
        body=value,
    )


def _message(inner: Mapping[str, Any], value: Mapping[str, Any], error: Any) -> str:
    found = [
        _sentence(source[name])
        for source in (inner, value)
        for name in ("message", "detail", "errors", "title")
        if source.get(name)
    ]
    if isinstance(error, str):
        found.insert(0, error)
    message = next((text for text in found if text), "")
    if isinstance(error, str) and len(found) > 1 and found[1] != error:
        message = f"{error}: {found[1]}"
    raw = _sentence(inner["metadata"].get("raw")) if isinstance(inner.get("metadata"), dict) else ""
    return f"{message}: {raw}" if raw and raw not in message else message


def _sentence(value: Any) -> str:
    """The prose in a value of any shape; a JSON text inside a string is opened (OpenRouter's `raw`, Mistral's
    proxy)."""
    if isinstance(value, str):
        if value.lstrip().startswith("{"):
            inner = read(value.encode("utf-8", "replace")).message
            return inner or value
        return value
    if isinstance(
        value, list
    ):  # FastAPI: [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]
        return "; ".join(filter(None, map(_sentence, value[:5])))
    if isinstance(value, dict):
        text = next((_sentence(value[n]) for n in ("msg", "message", "error", "detail") if value.get(n)), "")
        place = value.get("loc")
        return f"{'.'.join(map(str, place))}: {text}" if isinstance(place, list) and text else text
    return ""


def _reasons(error: Mapping[str, Any]) -> list[Any]:
    """Google's ErrorInfo.reason, such as API_KEY_INVALID."""
    details = error.get("details")
    if not isinstance(details, list):
        return []
    return [detail["reason"] for detail in details if isinstance(detail, dict) and "reason" in detail]


def _plain(text: str) -> str:
    """Prose of a body that is not JSON; of a page its title, which is all that a proxy's error page says."""
    if not text.startswith("<"):
        return text
    title = re.search(r"<(title|h1)[^>]*>(.*?)</\1>", text, re.IGNORECASE | re.DOTALL)
    return html.unescape(title[2] if title else re.sub(r"<[^>]*>", " ", text[:20_000]))


def _told(text: str | None, target: Target) -> str | None:
    """A provider's own words as others may see them."""
    return None if text is None else _trim(redact(text, target.key))


def _trim(text: str) -> str:
    text = " ".join(text.encode("utf-8", "replace").decode().split())  # half of a surrogate pair becomes "?"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _status(word: str) -> int:
    return int(word) if len(word) == 3 and word.isdecimal() and "400" <= word <= "599" else 0


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
