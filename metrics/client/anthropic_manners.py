"""How Anthropic's models differ in what they take, and what each refused when it was asked.

The idea: one API, whose models refuse each other's fields: which kinds of thinking, which words of effort,
which sampling, whether a system message may stand within the conversation. That follows from the version in
a model's name; what it does not follow from is learned from a refusal's words, once. Fields that are refused
by name are quirks.learn's.

Sources, at platform.claude.com/docs: build-with-claude/thinking-troubleshooting (4.5 and older: "enabled"
alone; 4.6: both; later: "adaptive" alone), build-with-claude/effort,
build-with-claude/mid-conversation-system-messages (Opus 4.8), about-claude/models/migration-guide (no
sampling from Opus 4.7; one of temperature and top_p before). The words of refusals: anthropics/claude-code
issues 30010, 61412 and 63469, QwenLM/Qwen issue 2244, docker/docker-agent issue 3362, decolua/9router issue
2023, mpfaffenberger/code_puppy pull request 517, anomalyco/opencode issues 28930 and 48637,
QuantumNous/new-api issues 2975 and 3041, farion1231/cc-switch issue 3930, pydantic/pydantic-ai issue 2075.
"""

import functools
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from metrics.client import quirks
from metrics.records import Problem, Target

EFFORTS = ("low", "medium", "high", "xhigh", "max")
BOTH = frozenset({"adaptive", "enabled"})


@dataclass(frozen=True, slots=True)
class Manners:
    """How to ask one model.

    `thinking` are the types of thinking it takes, `efforts` the words of effort; `always` says that it thinks
    unless told not to, and `firm` that it cannot be told so. `sampling` is how many of temperature and top_p
    it takes; `system` whether system messages may stand within the conversation; `most` the output to ask for
    when nobody says how much; `betas` are names that it refused ("*" all). `known` is False for a model whose
    name says nothing: what its own API's callers send goes out as it came.
    """

    thinking: frozenset[str] = BOTH
    efforts: tuple[str, ...] = EFFORTS
    always: bool = False
    firm: bool = False
    sampling: int = 2
    system: bool = False
    most: int = 8192
    known: bool = True
    betas: frozenset[str] = frozenset()


STRANGER = Manners(known=False)

_LATER = re.compile(r"claude-(opus|sonnet|haiku|fable|mythos)-(\d+)(?:[.-](\d{1,2}))?(?!\d)")
_EARLIER = re.compile(r"claude-(\d)(?:[.-](\d))?-(opus|sonnet|haiku)")
_ADAPTIVE = frozenset({"adaptive"})
_FIRM = ("fable", "mythos")


@functools.lru_cache(maxsize=512)
def of_name(served: str) -> Manners:
    """The manners of a model by its name, wherever it is served ("anthropic.claude-opus-4-6-v1:0")."""
    if found := _LATER.search(served.lower()):
        return _of_version(found[1], int(found[2]), int(found[3] or 0))
    if found := _EARLIER.search(served.lower()):
        return _of_version(found[3], int(found[1]), int(found[2] or 0))
    return STRANGER


def _of_version(family: str, major: int, minor: int) -> Manners:
    version = (major, minor)
    adaptive = version >= (4, 6)
    return Manners(
        thinking=_ADAPTIVE if version >= (4, 7) else BOTH if adaptive else _budgets(version),
        efforts=EFFORTS if version >= (4, 7) else ("low", "medium", "high", "max") if adaptive else (),
        always=major >= 5,
        firm=major >= 5 and family in _FIRM,
        sampling=0 if version >= (4, 7) else 1 if version >= (4, 1) else 2,
        system=version >= (5, 1) or (version >= (4, 8) and family != "sonnet"),
        most=32_000 if version >= (3, 7) else 8192 if version >= (3, 5) else 4096,
    )


def _budgets(version: tuple[int, int]) -> frozenset[str]:
    return frozenset({"enabled"}) if version >= (3, 7) else frozenset()


def of(target: Target) -> Manners:
    """How to ask this model now: what its name says, and what it taught."""
    manners = of_name(target.served)
    lessons = _learned.get((target.base, target.served))
    return manners if not lessons else _with(manners, lessons)


# --- learning from refusals

# lesson -> the words of the refusal that teaches it; names of betas are in the first group
_TEACHES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "system",
        re.compile(
            r"role .?system.? is not supported|unexpected role .{0,2}system"
            r"|role.{0,20}unknown variant .?system"
            r"|role.{0,20}(?:must|should) be (?:either )?.?user.{1,3}or .?assistant",
            re.I,
        ),
    ),
    ("effort", re.compile(r"not support the effort parameter", re.I)),
    (
        "adaptive",
        re.compile(
            r"adaptive thinking is not supported|input tag .?adaptive|thinking\.type\W+must be .?enabled",
            re.I,
        ),
    ),
    ("enabled", re.compile(r"thinking\.type\.enabled\W+is not supported", re.I)),
    ("one", re.compile(r"temperature\W+and\W+top_p\W+cannot both", re.I)),
    ("none", re.compile(r"temperature\W+is deprecated", re.I)),
    ("beta", re.compile(r"unexpected value\(s\) (.*?) for the .?anthropic-beta", re.I)),
    ("betas", re.compile(r"invalid beta flag", re.I)),
)
# lesson -> the manner that it changes, and to what
_CHANGES: Mapping[str, tuple[str, Any]] = {
    "system": ("system", False),
    "effort": ("efforts", ()),
    "one": ("sampling", 1),
    "none": ("sampling", 0),
    "betas": ("betas", frozenset("*")),
}
# A signature that this model did not write in this conversation; thinking that was altered, or lost.
_UNSIGNED = re.compile(
    r"invalid .?signature|thinking.{0,60}cannot be modified|thinking block must contain thinking"
    r"|expected .?thinking.? or .?redacted_thinking",
    re.I,
)
_MOST_LEARNED = 4096

_lock = threading.Lock()
_learned: dict[tuple[str, str], frozenset[str]] = {}
_once = threading.local()


def learn(target: Target, problem: Problem) -> bool:
    """Whether a refusal taught something: then compose the request anew and send it once more.

    A refused signature is no lesson about the model but about one conversation: what this thread composes
    next for the model goes without thinking, once.
    """
    if problem.status not in (400, 422):
        return False
    place = (target.base, target.served)
    if _UNSIGNED.search(problem.message):
        again = getattr(_once, "refused", None) != place
        _once.refused, _once.place = (place, place) if again else (None, None)
        return again
    found = _lessons(problem.message)
    if not found:
        return quirks.learn(target, problem)
    with _lock:
        known = _learned.get(place, frozenset())
        if found <= known or len(_learned) >= _MOST_LEARNED:
            return False
        _learned[place] = known | found
    return True


def without_thinking(target: Target) -> bool:
    """Whether this thread's request to the model was just refused for a signature. Says so once."""
    refused = getattr(_once, "place", None) == (target.base, target.served)
    _once.place = None
    if not refused:
        _once.refused = None
    return refused


def forget() -> None:
    """Unlearns everything."""
    with _lock:
        _learned.clear()
    _once.place = _once.refused = None


def _lessons(message: str) -> frozenset[str]:
    lessons: set[str] = set()
    for lesson, words in _TEACHES:
        found = words.search(message)
        if found and lesson == "beta":
            lessons |= {f"beta {name}" for name in re.findall(r"[\w-]+", found[1])}
        elif found:
            lessons.add(lesson)
    return frozenset(lessons)


def _with(manners: Manners, lessons: frozenset[str]) -> Manners:
    named = frozenset(lesson[5:] for lesson in lessons if lesson.startswith("beta "))
    taught: dict[str, Any] = {"thinking": manners.thinking - lessons, "betas": named}
    for lesson in sorted(lessons & _CHANGES.keys(), reverse=True):
        name, value = _CHANGES[lesson]
        taught[name] = value
    return replace(manners, **taught)
