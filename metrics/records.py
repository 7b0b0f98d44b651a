"""The nouns: what is asked, who is asked, what came back. Values only; nothing here does anything.

    Request -> Panel of Seats -> an Answer per seat -> Reply

`Request.messages` keeps OpenAI chat shape exactly as it was sent. What that shape cannot say travels in the
extension keys of EXTENSIONS, which only the modules that know them read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from metrics.values import dataclass

Message = dict[str, Any]

DEPTH = "X-Bench-Depth"  # the header in which one bench tells the next how many a request came through

# key -> what it holds; every dialect strips all of them but its own before a message leaves the house.
EXTENSIONS = {
    "_thinking": "Anthropic thinking blocks with their signatures, byte for byte",
    "_turn": "the blocks of an Anthropic turn as its caller sent them, on the turn's first message; none on "
    "the others that it became",
    "_cache": "a cache mark on a message or part, in Anthropic's form",
    "_encrypted": "reasoning items of the Responses API, sealed, that stood before this message or call",
    "_signature": "Gemini's thought signature of a tool call",
    "_namespace": "the namespace a tool was declared in (Codex)",
    "_custom": "a custom tool: its input is text, not JSON",
    "_phase": "the phase of an assistant message (Responses)",
    "_moved": "pictures of a tool's result, which chat can only show behind it: on the result the parts it "
    "came with, on each part of the user message that shows them true",
}

# Kind of failure by status, for a Problem that names none. The words are those of `error` in records
# (decisions 8).
KINDS = {
    400: "bad_request",
    401: "auth",
    402: "payment",
    403: "forbidden",
    404: "not_found",
    405: "not_allowed",
    408: "timeout",
    413: "too_large",
    415: "media_type",
    429: "rate_limited",
    431: "too_large",
    500: "internal",
    502: "upstream",
    503: "overloaded",
    504: "timeout",
    507: "disk_full",
    529: "overloaded",
}


@dataclass(frozen=True, slots=True)
class Stated:
    """What a provider said of one limit. `metric` is requests | tokens | input_tokens | output_tokens |
    concurrency | usd, `window` second | minute | hour | day | month, "retry-after" for a wait alone, or
    "unknown"; `reset` is epoch seconds. `kind` says how the window moves (client/limit_rows.py), "" where
    that is not known; `scope` is model or connection: whose calls count."""

    metric: str
    window: str
    limit: float | None = None
    remaining: float | None = None
    reset: float | None = None
    kind: str = ""
    scope: str = "model"


@dataclass(frozen=True, slots=True)
class Limited:
    """Why a provider refused a call for want of room. `cause` is concurrency (too many at once), window (a
    window is used up), exhausted (an allowance or credit is), overload (it has too much to do) or too_large
    (this one call is above what a window holds). `until` is when it is worth asking again, epoch seconds,
    None when nothing says so; `stated` are the limits that were named."""

    cause: str
    until: float | None = None
    scope: str = "model"
    stated: tuple[Stated, ...] = ()


class Problem(Exception):
    """A failure on its way to the caller: an HTTP status and a sentence that says what is wrong and what to
    do.

    `kind` is one word (see KINDS); `param` and `code` are OpenAI's fields of that name; `retry_after` is in
    seconds; `retryable` False means that sending the same request again cannot succeed. `headers` are added
    to the reply. `limited` is there when a provider's limit is the reason.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "",
        param: str | None = None,
        code: str | None = None,
        retry_after: float | None = None,
        retryable: bool | None = None,
        headers: tuple[tuple[str, str], ...] = (),
        limited: Limited | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind or KINDS.get(status, "error")
        self.param = param
        self.code = code
        self.retry_after = retry_after
        self.retryable = status in (408, 429, 500, 502, 503, 504, 529) if retryable is None else retryable
        self.headers = headers
        self.limited = limited


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer in one convention (decisions 6): `out` is all output, `reasoning` its part. None:
    not known.

    `estimated` marks figures that we made up from characters; `raw` is the provider's own object, untouched;
    `cost` is what the provider said this answer cost, in USD.
    """

    uncached_in: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    out: int | None = None
    reasoning: int | None = None
    estimated: bool = False
    raw: Mapping[str, Any] | None = None
    cost: float | None = None

    @property
    def prompt(self) -> int | None:
        """All input tokens, cached or not."""
        if self.uncached_in is None:
            return None
        return self.uncached_in + (self.cache_read or 0) + (self.cache_write or 0)


@dataclass(frozen=True, slots=True)
class Tier:
    """What a request with more than `above` input tokens, cached ones included, costs instead, all of it;
    None is as without the tier."""

    above: int
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens; None is unknown, which is never free. `plan` is "free" or "flat" (a
    subscription) where a call costs nothing by itself, whatever it uses. `source` says whose figures these
    are: user, listing (the endpoint's own), models.dev, openrouter, or local (nobody's: the model runs on
    the user's own machine)."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    tiers: tuple[Tier, ...] = ()
    plan: str = ""
    source: str = "user"


@dataclass(frozen=True, slots=True)
class Target:
    """Where one call goes: a model as it is today, with all that a client of its provider must know.

    `connection` is what shares a rate limit; `profile` the provider host whose quirks and dialects apply;
    None in a capability means unknown. `builtin` marks the practice squad: programs, not models.
    """

    alias: str
    model_id: str
    endpoint: str
    connection: str
    served: str
    base: str
    api: str = "chat"
    profile: str = ""
    key: str | None = field(default=None, repr=False)
    role: str = "general"
    tools: bool | None = None
    vision: bool | None = None
    reasoning: bool | None = None
    context: int | None = None
    max_output: int | None = None
    price: Price | None = None
    price_version: str | None = None
    builtin: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller asks, whatever format it came in.

    `model` is the name exactly as it was asked for; `collection` and `reply` (all | merged | route) what it
    means. `options` holds the sampling fields that any member gets (temperature top_p stop seed max_tokens),
    `tools` and `passed` what only route mode passes on, in chat completions' shape; `ignored` names, as the
    caller wrote them, the fields a panel leaves out; `native` the fields of the caller's own API that
    chat has no words for, as they were sent, for a member that speaks the same API. `session` is the
    conversation's id where the client has one, a hint and no proof of anything. `dropped` names the
    hosted tools that the collection goes without. `invited` are the aliases of `with`; `only` these sit, and
    nobody of `without`. `deadline` is
    seconds a seat may take, `quorum` how many answers are enough. `framing` is for formats that have
    several
    kinds of stream. `key` names the caller ("local" without keys), `launch` the `bench launch` whose agent
    asks: it says whom to count a call for, and proves nothing. `models` are the aliases that the key may be
    answered by (None: any), `budget` what the request may cost, in units of 1e-12 USD. `depth` is how many
    benches the request has come through before this one.
    """

    model: str
    collection: str
    reply: str
    messages: Sequence[Message]
    options: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[Mapping[str, Any]] = ()
    passed: Mapping[str, Any] = field(default_factory=dict)
    native: Mapping[str, Any] = field(default_factory=dict)
    session: str | None = None
    dropped: tuple[str, ...] = ()
    stream: bool = False
    include_usage: bool = False
    invited: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    deadline: float | None = None
    quorum: int | None = None
    ignored: tuple[str, ...] = ()
    format: str = "openai-chat"
    framing: str = ""
    key: str = "local"
    depth: int = 0
    launch: str | None = None
    models: frozenset[str] | None = None
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Seat:
    """One place in a panel. `seat` is member | explorer | merger; `how` and `p` say how it was chosen and how
    likely."""

    call: str
    seat: str
    target: Target
    how: str = "member"
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A model that could have sat and does not, with the reason in words."""

    seat: str
    alias: str
    why: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Who sits for one request, and the decision that chose them (`decision`: judgement.md section 3's log
    record)."""

    id: str
    request: Request
    shape: str
    shape_by: str
    seats: tuple[Seat, ...]
    skipped: tuple[Skipped, ...]
    merger: str | None
    deadline: float
    decision: Mapping[str, Any]
    at: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What one seat gave. `status`: ok empty error timeout refused cut skipped (decisions 8); `error` says
    which kind in one word, `message` in a sentence, `code` in the provider's own word and `http_status` as a
    status to answer with. Seconds are
    since the call was placed; `cost` is exact, in units of 1e-12 USD, None when unknown. `changed` names the
    options that were altered for this seat and why. `calls` are its tool calls, each a name and the arguments
    as they were written."""

    seat: Seat
    status: str
    text: str = ""
    reasoning: str = ""
    error: str | None = None
    message: str | None = None
    code: str | None = None
    http_status: int | None = None
    finish: str | None = None
    seconds: float = 0.0
    first_token_s: float | None = None
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: int | None = None
    cost_status: str = "unknown"
    provider: str | None = None
    fingerprint: str | None = None
    request_id: str | None = None
    retry_after: float | None = None
    changed: tuple[str, ...] = ()
    calls: tuple[tuple[str, str], ...] = ()

    @property
    def answered(self) -> bool:
        return self.status in ("ok", "cut")


@dataclass(frozen=True, slots=True)
class Reply:
    """Everything an unstreamed reply needs: the events of a stream, gathered. `chunks` are those that a
    provider of the caller's own API sent, as they came: all of the answer, also what we have no word for (of
    those that held nothing new but text, the text; of an answer that came whole, the object).
    `thoughts` is the reasoning in its blocks, each {"text", "signature", "sealed"} as events.Reasoning has
    them, and where it did not come first "behind": how many characters of the text and how many calls.
    `phases` are those of the text, each with the place where it begins."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    finish: str = "stop"
    usage: Usage = field(default_factory=Usage)
    stop_sequence: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    chunks: tuple[bytes | str | dict[str, Any], ...] = ()
    thoughts: tuple[Mapping[str, Any], ...] = ()
    phases: tuple[tuple[str, int], ...] = ()
