"""What is asked on the stage, and what each model answers: enough to read, so that pages look as in use."""

HOSTILE = """<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">

[press](javascript:window.hacked=1) ![seen](https://example.com/pixel.png) \u202egnp.exe\u202c"""

RETRY = {
    "kimi-k3": """**No.** A resumed upload can be counted twice.

1. `fetch.py:88` sends the retry with a new `Idempotency-Key`: the key is built inside the loop, so the server
   cannot tell the second try from a new upload. Build it once, before line 81.
2. `fetch.py:94` resumes from `sent`, but `sent` is set before the write returns.
3. The 409 branch treats "already exists" as an error. For a resume it is the success case.

I did not see the server side. If it hashes the body, point 1 is harmless.""",
    "glm-5.2": "Mostly yes. The key is built inside the loop, so two tries are two uploads. Line 94 is fine.",
    "qwen3.5-coder": """Yes, the retry is safe: the server ignores a second upload of the same name.

Nothing to change.""",
    "nemotron-ultra": "The loop builds a new key for each try.\n\n" + HOSTILE,
}
LAYOUTS = {
    "kimi-k3": """The second one. Its records have a fixed size, so a torn write is a remainder of
`size % 16` that the next start cuts off. The first layout has no way to tell a short key from a cut one.""",
    "glm-5.2": """| layout | torn in a record | torn between two |
|---|---|---|
| length, then bytes | reads past the end | survives |
| fixed records | survives | survives |
| text lines | loses one line | survives |

So: fixed records, or lines whose last one is allowed to be missing.""",
    "qwen3.5-coder": "Fixed records. Add a checksum if the disk may also return old blocks.",
    "nemotron-ultra": "All three survive if you write to a new file and rename it over the old one.",
}
IMPORTER = {
    "kimi-k3": """Refuse, and say the line and the column:

- a quote that is never closed
- a row with more cells than the head has
- two columns of one name
- NUL, and text that is not UTF-8 after a byte order mark said it is

Take, and say so: CRLF in the midst of LF, a trailing comma on every row, an empty last line.""",
    "glm-5.2": "Unclosed quotes, rows of the wrong length, duplicate heads, and numbers such as `1,5` that "
    "depend on where the reader lives. Formulas (`=cmd…`) are harmless to import and not to export again.",
    "qwen3.5-coder": "Bad quotes, wrong column counts, wrong encoding.",
    "nemotron-ultra": "A CSV importer should refuse nothing; it should read what it can and list the rest.",
}
REGEX = {
    "kimi-k3": """Yes. `^(\\s+)*$` tries every way to split the spaces: on 10,000 of them it does not end.
Use `^\\s*$`.

```python
SPACES = re.compile(r"\\s*")
blank = SPACES.fullmatch(line) is not None
```""",
    "glm-5.2": "Yes, exponentially: a group that can match nothing is repeated. Without it it is linear.",
    "qwen3.5-coder": "No, Python's engine caches what it has tried.",
    "nemotron-ultra": "It does if the line ends in what is no space. A line of spaces matches at once.",
}
LOCKS = {
    "kimi-k3": """**There is one, between `append` and `retain`.**

1. `ledger.py:141` takes `_files`, and inside it calls `fold`, which takes `_memory` (line 203).
2. `ledger.py:266` does it the other way round: `retain` holds `_memory` while it waits for `_files`.

Two threads stand still as soon as a month ends during a write. Take `_files` first in both:

```python
def retain(self, oldest):
    with self._files, self._memory:
        gone = self._older(oldest)
```

The third lock, `_open`, is always alone.""",
    "glm-5.2": """`retain` (266) against `append` (141): the one holds `_memory` and wants `_files`, the
other holds `_files` and wants `_memory`.

I would not reverse the order but shorten the hold: `retain` needs `_memory` only to copy the list of names.

```python
with self._memory:
    names = [*self._names]
for name in names:
    self._drop(name)
```

Not a fault: `close` takes all three, in the order of `append`.""",
    "qwen3.5-coder": """I see two candidates.

1. `append` and `retain`, lines 141 and 266.
2. `close` waits for the writer thread while it holds `_files`; the writer needs `_files` to end. That stops
   the process at every exit with rows still queued.

The first needs a rare moment, the second happens each time.""",
    "nemotron-ultra": """Lines 141 and 266 take the same two locks in opposite order: the classic inversion.

A test that shows it: start `retain` with a hook that waits inside `_memory`, then append from a second
thread, with a time limit of one second. Before the change it fails, after it passes.""",
}

# Oldest first; the answers of the latest are the picture of Ask.
ASKED = {
    "Is the retry in fetch.py idempotent when the upload is resumed?": RETRY,
    "Which of these three index layouts survives a torn write?": LAYOUTS,
    "Name the edge cases a CSV importer should refuse": IMPORTER,
    "Does this regex backtrack on a line of 10,000 spaces?": REGEX,
    "Find the lock-order inversion in ledger.py": LOCKS,
}

# Passages of the latest answers that somebody has decided: model -> [(passage, decision)]
DECIDED = {
    "kimi-k3": [("`retain` holds `_memory` while it waits for `_files`", "real")],
    "qwen3.5-coder": [("That stops\n   the process at every exit with rows still queued", "false")],
}
