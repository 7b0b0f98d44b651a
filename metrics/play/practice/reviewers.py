"""The players that read code: lint, paranoid, terse and counter. What they say is Markdown, one claim an
item.

An answer is: what was read; the findings, numbered; what was left out. The squad adds the line that says
who speaks.
"""

from collections.abc import Sequence

from metrics.play.practice import counter, paranoid, source
from metrics.play.practice.ask import Ask, Said
from metrics.play.practice.lint.checks import KINDS, Review, review
from metrics.play.practice.lint.finding import Finding
from metrics.play.practice.lint.tree import BUDGET
from metrics.play.practice.parsing import Source
from metrics.play.practice.source import Found

MOST = 40  # findings in one answer
NO_CODE = (
    "I found no Python in what you sent{other}. Attach a file (`bench ask core -f pricing.py`),"
    " paste it into a ```python fence, or"
    " send a unified diff. For anything else, seat a real model: `bench status` lists what is within reach."
)


def lint(ask: Ask) -> Said:
    found = source.find(ask.messages)
    if not found.sources:
        return Said(f"{_no_code(ask, found)}\n\nI look for {len(KINDS)} kinds of defect: {', '.join(KINDS)}.")
    reviews = _reviews(found)
    findings = _ranked(reviews)
    notes = [note for one in reviews for note in one.notes] + _left_out(ask, found)
    if not findings:
        verdict = f"none of my {len(KINDS)} checks found anything. That does not prove it right."
        return Said(_page(f"Read {_read(found.sources)}: {verdict}", [], notes))
    return Said(_page(f"Read {_read(found.sources)}: {_count(len(findings))}.", findings, notes))


def suspicious(ask: Ask) -> Said:
    found = source.find(ask.messages)
    if not found.sources:
        return Said(_no_code(ask, found))
    share = _share(found)
    each = [paranoid.suspicions(one, share) for one in found.sources]
    findings = sorted((finding for some in each for finding in some), key=lambda finding: finding.severity)
    places = "1 suspicious place" if len(findings) == 1 else f"{len(findings)} suspicious places"
    count = f"{places}, false alarms among them. Judge each." if findings else "nothing suspicious."
    return Said(
        _page(f"Read {_read(found.sources)}: {count}", findings, _left_out(ask, found), paranoid.MOST)
    )


def terse(ask: Ask) -> Said:
    found = source.find(ask.messages)
    if not found.sources:
        return Said(_no_code(ask, found))
    findings = _ranked(_reviews(found))
    return Said(findings[0].item if findings else f"Nothing found in {_read(found.sources)}.")


def count(ask: Ask) -> Said:
    found = source.find(ask.messages)
    pages = [counter.report(one) for one in found.sources]
    pages += [counter.report_text(one.name, one.text) for one in found.other]
    if not pages:
        pages = [counter.report_text("your text", found.text)]
    if len(found.sources) > 1:
        total = sum(counter.lines_of(one).all for one in found.sources)
        pages.append(f"**Together**: {total:,} lines in {len(found.sources)} pieces.")
    notes = [] if found.other else _left_out(ask, found)
    return Said("\n\n".join([*pages, *notes]))


def _reviews(found: Found) -> list[Review]:
    share = _share(found)
    return [review(one, share) for one in found.sources]


def _share(found: Found) -> int:
    """Nodes that each source may have, so that fifty large files cost little more than one."""
    return max(BUDGET // len(found.sources), 5_000)


def _ranked(reviews: Sequence[Review]) -> list[Finding]:
    return sorted(
        (finding for one in reviews for finding in one.findings), key=lambda finding: finding.severity
    )


def _page(head: str, findings: Sequence[Finding], notes: Sequence[str], most: int = MOST) -> str:
    items = [f"{number}. {finding.item}" for number, finding in enumerate(findings[:most], start=1)]
    if len(findings) > most:
        notes = [f"{len(findings) - most} more of the same kinds or lighter are not shown.", *notes]
    return "\n\n".join(part for part in (head, "\n".join(items), "\n".join(notes)) if part)


def _no_code(ask: Ask, found: Found) -> str:
    other = f" (only {', '.join(found.left_out[:5])})" if found.left_out else ""
    return "\n\n".join([NO_CODE.format(other=other), *_images(ask)])


def _left_out(ask: Ask, found: Found) -> list[str]:
    left_out = [f"Not read: {', '.join(found.left_out[:10])}."] if found.left_out else []
    return left_out + _images(ask)


def _images(ask: Ask) -> list[str]:
    if not ask.images:
        return []
    return [
        "The image was not looked at: I read text only."
        if ask.images == 1
        else "The images were not looked at: I read text only."
    ]


def _read(sources: Sequence[Source]) -> str:
    """What was read, in words: `pricing.py` (52 lines)."""
    listed = [f"`{one.name}` ({counter.size(one)})" for one in sources[:6]]
    more = [f"{len(sources) - 6} more"] if len(sources) > 6 else []
    return ", ".join([*listed, *more])


def _count(number: int) -> str:
    return "1 finding" if number == 1 else f"{number} findings"
