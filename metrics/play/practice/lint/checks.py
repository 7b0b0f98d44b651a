"""The table of checks, and a review: a source in, its findings out, most severe first.

Most severe is what stands first in the table; hits of one row come in the order of the file. A line
marked `# noqa` is left alone and counted.
"""

import itertools
from dataclasses import dataclass

from metrics.play.practice.lint import (
    comparing,
    flow,
    functions,
    handlers,
    loops,
    names,
    resources,
    safety,
    texts,
)
from metrics.play.practice.lint.finding import RISK, TIDY, WRONG, Check, Finding, Hit
from metrics.play.practice.lint.tree import BUDGET, Module
from metrics.play.practice.parsing import Source, Unreadable

CHECKS = (
    Check("mutable default argument", WRONG, "one object serves every call", functions.changed_default),
    Check("undefined name", WRONG, "nothing binds it", names.undefined_name, whole=True),
    Check(
        "call does not fit",
        WRONG,
        "the arguments are not the function's",
        functions.call_mismatch,
        whole=True,
    ),
    Check("missing self", WRONG, "a method cannot be called on its object", functions.missing_self),
    Check("value from a constructor", WRONG, "a TypeError on creation", functions.value_from_init),
    Check("coroutine not awaited", WRONG, "it never runs", functions.not_awaited, whole=True),
    Check("assert on a tuple", WRONG, "always true", comparing.assert_tuple),
    Check("condition always true", WRONG, "the second half is not a comparison", comparing.always_true),
    Check("comparison with itself", WRONG, "always the same answer", comparing.with_itself),
    Check("identity with a literal", WRONG, "`is` does not compare values", comparing.is_literal),
    Check("loop that cannot end", WRONG, "its condition never changes", flow.endless_loop),
    Check("changed while iterating", WRONG, "items are skipped, or it raises", loops.changed_while_iterating),
    Check("late-binding closure", WRONG, "all see the loop's last value", loops.late_binding),
    Check("index past the end", WRONG, "an IndexError", loops.past_the_end),
    Check("format mismatch", WRONG, "placeholders and values differ in number", texts.percent_mismatch),
    Check("format mismatch", WRONG, "placeholders and values differ in number", texts.format_mismatch),
    Check("log message mismatch", WRONG, "logging prints an error instead", texts.log_mismatch),
    Check(
        "None kept from a method", WRONG, "methods that work in place return None", functions.none_from_method
    ),
    Check("shared class attribute", WRONG, "all instances change one object", functions.shared_attribute),
    Check("raise of no exception", WRONG, "a TypeError", handlers.not_an_exception),
    Check("or in except", WRONG, "only one of them is caught", handlers.or_in_except),
    Check("handler never reached", WRONG, "a wider one stands before it", handlers.never_reached),
    Check("shell command from text", WRONG, "commands can be slipped in", safety.shell_text),
    Check("query from text", WRONG, "SQL can be slipped in", safety.sql_text),
    Check("eval of input", WRONG, "runs what a stranger wrote", safety.eval_input),
    Check("unsafe loading", WRONG, "builds what a stranger wrote", safety.unsafe_load),
    Check("result thrown away", WRONG, "nothing is changed in place", texts.thrown_away),
    Check("duplicate key", WRONG, "the first value is lost", comparing.duplicate_key),
    Check("duplicate condition", WRONG, "the second branch never runs", comparing.duplicate_condition),
    Check("duplicate definition", WRONG, "the first is lost", names.duplicate_definition),
    Check("return in finally", WRONG, "it swallows exceptions", flow.return_in_finally),
    Check("mutable default argument", RISK, "one object serves every call", functions.mutable_default),
    Check("missing return", RISK, "some path gives None", flow.missing_return),
    Check("bare except", RISK, "it catches Ctrl-C too", handlers.bare_except),
    Check("swallowed exception", RISK, "failures leave no trace", handlers.swallowed),
    Check("file opened without with", RISK, "it may stay open", resources.open_without_with),
    Check("lock not released", RISK, "everyone else waits forever", resources.lock_not_released),
    Check("wall clock for a duration", RISK, "it can jump", resources.wall_clock),
    Check("unreachable code", RISK, "it never runs", flow.unreachable),
    Check("forgotten f", RISK, "braces are shown as they stand", texts.forgotten_f),
    Check("comparison with None", RISK, "`==` can be redefined", comparing.with_none),
    Check("shadowed builtin", TIDY, "Python's own is hidden", names.shadowed_builtin),
    Check("unused local", TIDY, "assigned and never read", names.unused_local, whole=True),
    Check("unused import", TIDY, "imported and never used", names.unused_import, whole=True),
    Check("f-string without placeholders", TIDY, "the f does nothing", texts.no_placeholders),
    Check("duplicate element", TIDY, "a set keeps one", comparing.set_duplicate),
)
ENOUGH = 100  # hits of one check in one file: who has that many needs no list
KINDS = tuple(dict.fromkeys(check.kind for check in CHECKS))


@dataclass(frozen=True, slots=True)
class Review:
    """What a review of one source gave. `notes` are sentences about what was not reviewed."""

    source: Source
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


def review(source: Source, budget: int = BUDGET) -> Review:
    """All checks over one source; a source that does not parse gives one finding that says where and why."""
    try:
        module = Module(source, budget)
    except Unreadable as error:
        return Review(source, (_unreadable(source, error),))
    hits = [(check, hit) for check, hit in _hits(module) if _counts(source, hit)]
    kept = [(check, hit) for check, hit in hits if "# noqa" not in module.line(hit.line)]
    notes = []
    if len(kept) < len(hits):
        notes.append(f"{source.name}: {len(hits) - len(kept)} on lines marked `# noqa` left out.")
    if module.stopped:
        notes.append(
            f"{source.name}: read up to line {module.stopped - 1}; the rest was more than I take at once."
        )
    return Review(source, tuple(_finding(source, *pair) for pair in kept), tuple(notes))


def _hits(module: Module) -> list[tuple[Check, Hit]]:
    """What the checks find, in the table's order; one hit of a kind a line."""
    found: dict[tuple[str, int], tuple[Check, Hit]] = {}
    for check in CHECKS:
        if module.source.whole or not check.whole:
            hits = itertools.islice(check.find(module), ENOUGH)
            for hit in sorted(hits, key=lambda hit: hit.line):
                found.setdefault((check.kind, hit.line), (check, hit))
    return list(found.values())


def _counts(source: Source, hit: Hit) -> bool:
    return source.changed is None or not source.changed.isdisjoint((hit.line, *hit.also))


def _finding(source: Source, check: Check, hit: Hit) -> Finding:
    return Finding(source.name, hit.line, check.kind, CHECKS.index(check), hit.said, hit.fix)


def _unreadable(source: Source, error: Unreadable) -> Finding:
    kind = "syntax error" if "too" not in error.why and "longer" not in error.why else "not readable"
    said = f"this does not parse as Python {'at this line' if kind == 'syntax error' else ''}: {error.why}."
    return Finding(
        source.name,
        error.line,
        kind,
        -1,
        said.replace(" :", ":"),
        "Nothing else in it was reviewed.",
    )
