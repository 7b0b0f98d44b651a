"""Ready-made questions, a row each: what the client shows, and the words that its model gets.

They make the model ask a panel and work through what it says; nothing is asked by `prompts/get` itself.
"""

from collections.abc import Mapping
from typing import Any

from metrics.mcp.wire import INVALID_PARAMS, Refused

Row = dict[str, Any]

COLLECTION = {
    "name": "collection",
    "description": "Which collection to ask; left out, the best fitting one of list_collections",
    "required": False,
}
AFTER = (
    "\n\nThen work through the answers seat by seat, each by its name. Check every claim against the "
    "material itself before you repeat it, and say which you checked and how. Where seats contradict each "
    "other, find out who is right. At the end send a verdict for every seat that you could check: useful or "
    "not, a short note, and as real and false the sentences of its answer that turned out so."
)

PROMPTS: dict[str, Row] = {
    "review_diff": {
        "title": "Review a diff",
        "description": "Has a panel look for defects in a change, then checks what it found",
        "arguments": [
            {"name": "diff", "description": "The change, as git diff prints it", "required": True},
            {"name": "focus", "description": "What to look at most", "required": False},
            COLLECTION,
        ],
        "words": "Have {collection} review the change below: call the tool ask with the diff as a file, and "
        "as prompt ask for defects that this change brings in, each with its file, its line and the way it "
        "fails, and nothing about style.{focus}\n\n```diff\n{diff}\n```",
    },
    "everything_that_could_break": {
        "title": "List everything that could break",
        "description": "Collects the ways in which something can fail from all seats, and merges them",
        "arguments": [
            {"name": "subject", "description": "The plan, the code or the change", "required": True},
            COLLECTION,
        ],
        "words": "Have {collection} list everything that could break in what follows: call the tool ask, and "
        "as prompt ask for a numbered list, as long as it has to be, one way to fail on each line, with what "
        "triggers it and what would be seen. Different seats find different things: merge their lists into "
        "one without dropping a line that only one of them has, and name who found it.\n\n{subject}",
    },
    "verify_claims": {
        "title": "Verify claims",
        "description": "Has a panel say of each claim whether it holds, and by what it can be checked",
        "arguments": [
            {"name": "claims", "description": "The claims, one on a line", "required": True},
            {"name": "material", "description": "What they are about", "required": False},
            COLLECTION,
        ],
        "words": "Have {collection} verify the claims below: call the tool ask, and as prompt ask of every "
        "claim whether it is true, false or cannot be told from the material, with the passage or the test "
        "that shows it.\n\n{claims}{material}",
    },
}
FRAMES = {"focus": " Look above all at: {}.", "material": "\n\nMaterial:\n\n{}"}


def listed() -> list[Row]:
    return [{"name": name, **_shown(row)} for name, row in PROMPTS.items()]


def _shown(row: Row) -> Row:
    return {name: row[name] for name in ("title", "description", "arguments")}


def get(name: object, arguments: object) -> Row:
    """The messages of a prompt. Refused for an unknown one, and for arguments that are missing or no text."""
    row = PROMPTS.get(name) if isinstance(name, str) else None
    if row is None:
        raise Refused(
            INVALID_PARAMS, f"there is no prompt {str(name)[:80]!r}; there are {', '.join(PROMPTS)}"
        )
    given = _checked(arguments if arguments is not None else {}, row)
    collection = given.get("collection")
    said = {one["name"]: given.get(one["name"], "") for one in row["arguments"]}
    said |= {part: frame.format(said[part]) for part, frame in FRAMES.items() if said.get(part)}
    said["collection"] = f"the collection {collection}" if collection else "a fitting collection of the bench"
    text = row["words"].format(**said) + AFTER
    return {
        "description": row["description"],
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }


def _checked(arguments: object, row: Row) -> Mapping[str, str]:
    known = {one["name"]: one["required"] for one in row["arguments"]}
    if not isinstance(arguments, dict) or not all(isinstance(value, str) for value in arguments.values()):
        raise Refused(INVALID_PARAMS, '"arguments" must be an object of texts')
    if unknown := [name for name in arguments if name not in known]:
        raise Refused(
            INVALID_PARAMS, f'"{unknown[0][:40]}" is not an argument; these are: {", ".join(known)}'
        )
    if missing := [name for name, required in known.items() if required and not arguments.get(name)]:
        raise Refused(INVALID_PARAMS, f'the argument "{missing[0]}" is missing')
    return arguments
