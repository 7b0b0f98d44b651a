"""The mould against the plain reader: streams put together at random, cut at every position, say the same by
both, in the same chunks."""

import itertools
import json
import random
import unittest
from unittest import mock

from metrics.client import anthropic, chat
from metrics.client.mould import Mould
from metrics.events import Burst, Chunk, Reasoning, Text, Tick, ToolArguments, singly
from metrics.records import Problem
from tests.client.arrivals import DONE, TARGET, Arrived, chunk, ids, splits
from tests.effort import effort

SAID = Text("a")


def event(text, **more):
    choices = [{"index": 0, "delta": {"content": text}, "finish_reason": None}]
    return (
        b"data: "
        + json.dumps({"id": "c1", "choices": choices, **more}, ensure_ascii=False).encode()
        + b"\n\n"
    )


def data(written):
    return written.removeprefix(b"data: ").rstrip(b"\n")


def learned(first, piece=SAID, relay=False):
    """A mould that was told what its first event means."""
    mould = Mould(lambda burst: True, relay)
    list(mould.events(iter([first])))
    mould.learn(piece)
    return mould


def texts(block, at=0, first=None):
    """(the texts that go together, the place that is told)."""
    burst, stop = learned(event("a") if first is None else first).burst(block, at)
    return (list(burst.texts) if burst else None), stop


class BurstTest(unittest.TestCase):
    def test_nothing_fits_before_the_first_chunk(self):
        self.assertEqual(Mould(lambda burst: True).burst(event("a"), 0), (None, 1))

    FITS = [
        ["b"],
        ["b", " c", "d "],
        ["a longer piece, with {braces} and: colons", "é 👩‍🚀", "\u2028"],
        ['say "x"', "a\nb", "\t", "c:\\dir\\x", "data: {}\n\n"],
    ]

    def test_what_fits_goes_together(self):
        for said in self.FITS:
            block = b"".join(map(event, said))
            for behind in (b"", event("x", created=5), DONE, b": ping\n\n"):
                with self.subTest(said, behind=behind):
                    self.assertEqual(texts(block + behind), (said, len(block)))

    def test_it_is_kept_as_it_was_spelled(self):
        mould = learned(event("a"), relay=True)
        block = event("b\\/é").replace(b"\\\\/", b"\\/") + event("c")
        burst, _ = mould.burst(block, 0)
        self.assertEqual((burst.texts, burst.spelled), (["b/é", "c"], ["b\\/é".encode(), b"c"]))
        self.assertEqual(
            [one.raw for one in singly((burst,))], [data(one) for one in block.split(b"\n\n")[:2]]
        )

    def test_at_any_place_of_a_block(self):
        block = event("first") + event("b") + event("c")
        self.assertEqual(texts(block, len(event("first"))), (["b", "c"], len(block)))

    FRAMES = [
        ("no space behind the colon", b"data:%b\n\n"),
        ("a name", b"event: x_y.z\ndata: %b\n\n"),
        ("a name without a space", b"event:x\ndata:%b\n\n"),
        ("a blank at the end", b"data: %b \n\n"),
    ]

    def test_however_its_events_are_framed(self):
        for name, frame in self.FRAMES:
            with self.subTest(name):
                first, *more = (frame % data(event(text)) for text in ("a", "b", "c"))
                block = b"".join(more)
                self.assertEqual(texts(block, first=first), (["b", "c"], len(block)))
                self.assertIsNone(texts(event("b"), first=first)[0])

    ODD = [
        ("a comment", b": ping\n\n"),
        ("another id", event("x").replace(b"c1", b"c2")),
        ("one field more behind", event("x", usage=None)),
        ("a finish", event("x").replace(b"null", b'"stop"')),
        ("nothing said", event("")),
        ("an event with a name", b"event: x\n" + event("x")),
        ("lines of data", b"data: {\ndata: }\n\n"),
        ("the end", DONE),
    ]

    def test_what_stands_before_something_else_still_goes_together(self):
        for name, odd in self.ODD:
            with self.subTest(name):
                before = event("b") + event("c")
                self.assertEqual(texts(before + odd + event("d")), (["b", "c"], len(before)))
                self.assertIsNone(texts(odd + event("d"))[0])

    ALONE = [
        ("half of a pair", event("x").replace(b"x", b"\\ud83d")),
        ("no UTF-8", event("é").replace(b"\xa9", b"")),
        ("a bare quote", event("x").replace(b'"x"', b'"x","y"')),
        ("a control character", event("x").replace(b"x", b"\x01")),
        ("a backslash at the end", event("x\\")),
        ("a quote that ends nothing", event("x").replace(b'x"', b'x\\"')),
        ("no escape", event("x").replace(b"x", b"\\x")),
    ]

    def test_what_has_to_be_decoded_is_left(self):
        for name, odd in self.ALONE:
            with self.subTest(name):
                self.assertIsNone(texts(odd)[0])
                self.assertIn(texts(event("b") + odd + event("d"))[0], (None, ["b"]))

    def test_a_quote_for_a_backslash(self):
        """Two wrongs: a string that takes the next one's quote, and one that makes two of itself."""
        block = event("x").replace(b"x", b"x\\") + event("y").replace(b'"y"', b'"y","z"')
        self.assertIsNone(texts(block)[0])

    NO_MOULD = [
        ("the text is not what stands there", event("b")),
        ("no content", b'data: {"choices": []}\n\n'),
        ("no string", b'data: {"content": 5}\n\n'),
        ("not JSON", b'data: {"content": "a\n\n'),
        ("content twice", b'data: {"content": "a", "x": {"content": "b"}}\n\n'),
        ("over several lines", b'data: {"content":\ndata: "a"}\n\n'),
        ("with an id, which is another each time", b'id: 1\ndata: {"content": "a"}\n\n'),
        ("no end", b'data: {"content": "a"}'),
        ("nothing", b""),
    ]

    def test_what_is_no_mould(self):
        for name, first in self.NO_MOULD:
            with self.subTest(name):
                self.assertIsNone(texts(first or event("a"), first=first)[0])

    def test_the_newest_mould_counts(self):
        mould = learned(event("a"))
        list(mould.events(iter([event("a", created=2)])))
        mould.learn(Text("a"))
        self.assertIsNone(mould.burst(event("b"), 0)[0])
        self.assertEqual(mould.burst(event("b", created=2), 0)[0].texts, ["b"])

    KINDS = [
        ("thoughts", {"reasoning_content": "%"}, Reasoning("a")),
        ("thoughts, as others write them", {"content": None, "reasoning": "%"}, Reasoning("a")),
        ("arguments", {"tool_calls": [{"index": 1, "function": {"arguments": "%"}}]}, ToolArguments(1, "a")),
        ("a custom tool's", {"tool_calls": [{"index": 1, "custom": {"input": "%"}}]}, ToolArguments(1, "a")),
    ]

    def test_every_kind_of_piece(self):
        for name, delta, like in self.KINDS:
            with self.subTest(name):
                mould = learned(chunk(delta).replace(b"%", b"a"), like)
                burst, _ = mould.burst(chunk(delta) + chunk(delta).replace(b"%", b"{\\n"), 0)
                self.assertEqual((burst.like, burst.texts), (like, ["%", "{\n"]))

    def test_whoever_reads_may_want_them_one_by_one(self):
        asked = []
        mould = Mould(asked.append)
        telling = mould.events(iter([event("a") + event("b") + event("c")]))
        next(telling)
        mould.learn(Text("a"))
        self.assertEqual([one.data for one in telling], [data(event("b")), data(event("c"))])
        self.assertEqual([len(one.texts) for one in asked], [2])


def content(text):
    return {"content": text}


def thought(text):
    return {"reasoning_content": text}


def arguments(text, index=0):
    return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}


def begin(index):
    function = {"name": "f", "arguments": ""}
    return {"tool_calls": [{"index": index, "id": f"c{index}", "type": "function", "function": function}]}


TEXTS = ("a", " b", "é", "\n", '"', "\\", "🧰", "", "\u2028", '"},"finish_reason":null}]}', "null", "x" * 40)
BETWEEN = ([],) * 12 + ([b": ping\n\n"], [chunk(content("t"), usage=None)], [chunk({})], [b"data: ping\n\n"])
ENDS = ([chunk({}, "stop")], [chunk(content("e"), "length")], [chunk({}, "tool_calls")], [])


def stream(chance):
    """A stream of pieces of several kinds, and what comes between them in real ones."""
    made = [chunk({"role": "assistant", "content": ""}, id="c1")]
    for _ in range(chance.randrange(1, 4)):
        kind = chance.choice((content, content, thought, arguments))
        if kind is arguments:
            made.append(chunk(begin(chance.choice((0, 0, 1)))))
            made.append(chunk(arguments(chance.choice(("{", '{"a":', "{}")), chance.choice((0, 0, 1)))))
        for _ in range(chance.randrange(1, 9)):
            said = chunk(kind(chance.choice(TEXTS)), id="c2" if chance.random() < 0.1 else "c1")
            made += (_escaped(said) if chance.random() < 0.1 else said, *chance.choice(BETWEEN))
    return b"".join((*made, *chance.choice(ENDS), DONE))


def _escaped(written):
    """The same chunk in ASCII, characters beyond U+FFFF in two halves."""
    return b"data: " + json.dumps(json.loads(data(written)), separators=(",", ":")).encode() + b"\n\n"


PADDINGS = ("", "a", "x7Kz", "abcdefghijklmnop0123456789") * 4 + ("a b", 'q"', "\\", "é", "}", "\n", 5, None)


def padded(chance, whole):
    """The same stream from a provider that pads its events."""
    field, blank = chance.choice((("obfuscation", ""), ("p", ""), ("p", " "), ("q", "")))
    made = []
    for one in whole.split(b"\n\n"):
        if one.startswith(b"data: {") and chance.random() < 0.95:
            padding = json.dumps(chance.choice(PADDINGS), ensure_ascii=chance.random() < 0.5)
            one = one[:-1] + f',{blank}"{field}":{blank}{padding}}}'.encode()
        made.append(one)
    return b"\n\n".join(made)


def told_as(kind, **more):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more}, ensure_ascii=False)}\n\n".encode()


BLOCKS = [
    ({"type": "text", "text": ""}, "text_delta", "text"),
    ({"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking"),
    ({"type": "tool_use", "id": "c1", "name": "f", "input": {}}, "input_json_delta", "partial_json"),
]
AMONG = ([],) * 12 + ([told_as("ping")], [b": x\n\n"], [told_as("content_block_delta", index=0, delta={})])


def messages(chance):
    """A stream of Messages, its blocks in order or mixed up."""
    message = {"id": "m1", "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 3}}
    made = [told_as("message_start", message=message)]
    for index in range(chance.randrange(1, 4)):
        block, delta, field = chance.choice(BLOCKS)
        made.append(told_as("content_block_start", index=index, content_block=block))
        for _ in range(chance.randrange(1, 9)):
            place = index if chance.random() < 0.9 else 0
            said = {"type": delta, field: chance.choice(TEXTS)}
            made += (told_as("content_block_delta", index=place, delta=said), *chance.choice(AMONG))
        made += [told_as("content_block_stop", index=index)] if chance.random() < 0.8 else []
    made.append(told_as("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 2}))
    return b"".join((*made, *([told_as("message_stop")] if chance.random() < 0.9 else [])))


def spoilt(chance, whole):
    at = chance.randrange(len(whole))
    return whole[:at] + chance.choice((b'"', b"\\", b"\n", b"\xff", b"\x01", b"", b"}")) + whole[at + 1 :]


def cuts(chance, whole):
    """A few pieces with a quiet tick somewhere."""
    places = sorted(chance.sample(range(len(whole)), chance.randrange(1, 5)))
    pieces = [whole[a:b] for a, b in itertools.pairwise([0, *places, len(whole)]) if a < b]
    pieces.insert(chance.randrange(len(pieces)), b"")
    return pieces


class Blind(Mould):
    """A mould that nothing fits: every chunk is decoded by itself."""

    def burst(self, block, at):
        return None, len(block)


def told(dialect, pieces, relay, mould):
    """The message of a stream one by one, and the kind of the Problem that ended it."""
    said = []
    with mock.patch.object(dialect, "Mould", mould):
        try:
            reading = dialect.read(Arrived(pieces), TARGET, now=lambda: 0.0, new_id=ids(), relay=relay)
            for one in singly(reading):
                if isinstance(one, Chunk):
                    said.append((json.loads(one.raw), one.events))
                elif not isinstance(one, Tick):
                    said.append(one)
        except Problem as problem:
            said.append(problem.kind)
    return said


class SameTest(unittest.TestCase):
    def same(self, whole, splits, relay=False, dialect=chat):
        expected = told(dialect, [whole], relay, Blind)
        for pieces in splits:
            with self.subTest(pieces=pieces, relay=relay):
                self.assertEqual(told(dialect, pieces, relay, Mould), expected)

    def test_with_the_mould_and_without(self):
        chance = random.Random(4)
        for number in range(effort(40, 300)):
            for dialect, whole in ((chat, stream(chance)), (anthropic, messages(chance))):
                whole = padded(chance, whole) if number % 3 == 2 else whole
                whole = spoilt(chance, whole) if number % 4 == 3 else whole
                splits = [[whole], *(cuts(chance, whole) for _ in range(4))]
                self.same(whole, splits, number % 2 == 0, dialect)

    def test_padded_and_cut_at_every_position(self):
        said = [chunk(content(text), obfuscation="ab1"[: len(text) % 4]) for text in TEXTS[:9]]
        whole = b"".join((*said, chunk({}, "stop", obfuscation="c"), DONE))
        for relay in (False, True):
            self.same(whole, splits(whole), relay)

    def test_a_padding_without_its_end_is_no_padding(self):
        said = [chunk(content(text), obfuscation="") for text in "abcd"]
        said[2] = said[2].replace(b'""}', b'"}')
        whole = b"".join((*said, chunk({}, "stop"), DONE))
        for relay in (False, True):
            self.same(whole, splits(whole), relay)

    def test_cut_at_every_position(self):
        said = [*map(content, TEXTS[:4]), arguments("{"), *map(arguments, TEXTS[4:7])]
        made = [*map(chunk, said[:4]), chunk(begin(0)), *map(chunk, said[4:]), chunk({}, "tool_calls"), DONE]
        whole = b"".join(made)
        for relay in (False, True):
            self.same(whole, splits(whole), relay)

    def test_messages_cut_at_every_position(self):
        self.same(whole := messages(random.Random(2)), splits(whole), dialect=anthropic)

    def test_most_of_a_stream_goes_together(self):
        whole = b"".join(chunk(content(f"word {number}\n")) for number in range(100)) + chunk({}, "stop")
        events = list(chat.read(Arrived([whole]), TARGET))
        self.assertEqual([len(one.texts) for one in events if isinstance(one, Burst)], [98])
        for field in ("p", "obfuscation"):
            whole = b"".join(chunk(content(f"word {n}\n"), **{field: "x" * (n % 9)}) for n in range(100))
            events = list(chat.read(Arrived([whole + chunk({}, "stop")]), TARGET))
            self.assertEqual(sum(isinstance(one, Burst) for one in events), 98)
        said = (told_as("content_block_delta", index=0, delta={"type": "text_delta", "text": "é"}),) * 100
        whole = b"".join((*said, told_as("message_delta", delta={"stop_reason": "end_turn"})))
        events = list(anthropic.read(Arrived([whole]), TARGET))
        self.assertEqual([len(one.texts) for one in events if isinstance(one, Burst)], [99])


if __name__ == "__main__":
    unittest.main()
