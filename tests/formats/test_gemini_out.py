import json
import unittest

from metrics.events import Closed, Failed, Reasoning, Text, Tick, gather
from metrics.formats import gemini, gemini_out
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Reply, Request, Usage
from tests.formats.gemini_asked import SAID
from tests.formats.streams import STREAMS, call

STAMP = Stamp("ab12", 1_796_000_000)


def request(framing="sse"):
    return Request("bench/core", "core", "all", SAID, framing=framing, stream=True)


def pieces(events, framing="sse"):
    return list(gemini.stream(request(framing), iter(events), STAMP))


def read_sse(chunks):
    """A strict reader: each event is one line that begins with "data: ", and a blank one."""
    buffer, told = b"", []
    for chunk in chunks:
        buffer += chunk
        while (end := buffer.find(b"\n\n")) >= 0:
            frame, buffer = buffer[:end].decode("utf-8"), buffer[end + 2 :]
            if frame.startswith('{"error":'):
                continue  # for Google's own SDKs, which look for it outside of events
            assert frame.startswith("data: ") and len(frame.splitlines()) == 1, frame[:80]
            told.append(json.loads(frame[6:]))
    assert not buffer, buffer[:80]
    return told


def read_array(chunks):
    """A strict reader of a JSON array that comes in pieces: every object as soon as it is whole."""
    buffer, told = b"".join(chunks).decode("utf-8"), []
    decoder, at = json.JSONDecoder(), 1
    assert buffer[0] == "["
    while buffer[at] != "]":
        value, at = decoder.raw_decode(buffer, at)
        told.append(value)
        assert buffer[at : at + 2] == ",\n" or buffer[at:] == "]", buffer[at : at + 20]
        at += 2 if buffer[at] == "," else 0
    return told


READERS = (("sse", read_sse), ("array", read_array))


def parts(told):
    return [part for chunk in told for part in chunk["candidates"][0]["content"]["parts"]]


def said(told):
    """(text, thoughts, calls) as an SDK gathers them."""
    text = "".join(part["text"] for part in parts(told) if "text" in part and not part.get("thought"))
    thoughts = "".join(part["text"] for part in parts(told) if part.get("thought"))
    calls = [part["functionCall"] for part in parts(told) if "functionCall" in part]
    return text, thoughts, [(call["id"], call["name"], call["args"]) for call in calls]


class StreamTest(unittest.TestCase):
    def test_what_is_said_is_read_back(self):
        for name, events, *wanted in STREAMS:
            for framing, read in READERS:
                with self.subTest(name, framing=framing):
                    told = read(pieces(events, framing))
                    self.assertEqual(list(said(told)), wanted)
                    reasons = [chunk["candidates"][0].get("finishReason") for chunk in told]
                    self.assertEqual(reasons[:-1], [None] * (len(told) - 1))
                    ends = {"length": "MAX_TOKENS", "content_filter": "SAFETY"}
                    self.assertEqual(reasons[-1], ends.get(events[-1].finish, "STOP"))
                    self.assertEqual(
                        {(chunk["modelVersion"], chunk["responseId"]) for chunk in told},
                        {("bench/core", "ab12")},
                    )
                    self.assertTrue(all("usageMetadata" in chunk for chunk in told))
                    self.assertEqual(told[-1].get("bench"), events[-1].extra.get("bench"))

    def test_cut_anywhere_it_reads_the_same(self):
        for name, events, *_ in STREAMS:
            if name == "a megabyte":
                continue
            whole = b"".join(pieces(events))
            with self.subTest(name):
                told = read_sse([whole])
                for at in range(len(whole)):
                    self.assertEqual(read_sse([whole[:at], whole[at:]]), told)

    def test_each_piece_is_a_whole_object(self):
        for framing, _ in READERS:
            with self.subTest(framing):
                written = pieces([Text("a"), Tick(), *call(0, "c", "f", "{}"), Closed("stop")], framing)
                self.assertEqual(len(written), 3)
                for piece in written:
                    json.loads(piece.strip(b"data: [\n,]"))

    def test_the_whole_reply_says_the_same(self):
        for name, events, *wanted in STREAMS:
            if any(not hasattr(event, "choice") and hasattr(event, "raw") for event in events):
                continue  # only chat is given chunks, and gathers none
            with self.subTest(name):
                reply = gemini.reply(request(), gather(events), STAMP)
                self.assertEqual(list(said([reply])), wanted)
                last = read_sse(pieces(events))[-1]
                self.assertEqual(reply["usageMetadata"], last["usageMetadata"])
                self.assertEqual(
                    reply["candidates"][0]["finishReason"], last["candidates"][0]["finishReason"]
                )
                self.assertEqual(reply.get("bench"), last.get("bench"))

    def test_usage(self):
        spent = Usage(uncached_in=7, cache_read=3, cache_write=0, out=5, reasoning=2)
        self.assertEqual(
            gemini_out.usage(spent),
            {
                "promptTokenCount": 10,
                "candidatesTokenCount": 3,
                "totalTokenCount": 15,
                "thoughtsTokenCount": 2,
                "cachedContentTokenCount": 3,
            },
        )
        nothing = {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0}
        self.assertEqual(gemini_out.usage(Usage()), nothing)
        first, last = read_sse(pieces([Text("a"), Closed("stop", spent)]))
        self.assertEqual(first["usageMetadata"], nothing)
        self.assertEqual(last["usageMetadata"]["totalTokenCount"], 15)

    def test_a_tick_is_an_empty_piece_of_text(self):
        for framing, read in READERS:
            with self.subTest(framing):
                told = read(pieces([Tick(), Closed()], framing))
                self.assertEqual(parts(told[:1]), [{"text": ""}])

    def test_a_late_error(self):
        """python-genai raises only if `error` is the first key and its code a number."""
        for framing, read in READERS:
            for events in ([Text("a"), Failed(Problem(529, "gone"))], [Failed(Problem(529, "gone"))]):
                with self.subTest(framing, events=len(events)):
                    written = pieces(events, framing)
                    told = read(written)
                    self.assertEqual(len(told), len(events))
                    self.assertEqual(list(told[-1]), ["error"])
                    self.assertEqual(told[-1]["error"]["code"], 503)
                    self.assertIn(b'{"error":{"code":503,', b"".join(written))

    def test_a_late_error_stands_alone_too(self):
        """js-genai 2.32 takes it only as a piece of the stream that is JSON from end to end."""
        written = pieces([Text("a"), Failed(Problem(502, "gone"))], "sse")
        alone = [piece for piece in written if not piece.startswith(b"data: ")]
        self.assertEqual([json.loads(piece)["error"]["code"] for piece in alone], [502])
        self.assertEqual(written.index(alone[0]), len(written) - 2, "before its event: clients stop there")
        self.assertTrue(alone[0].endswith(b"}\n\n"))

    def test_half_a_call_is_not_shown(self):
        events = [*call(0, "a", "f", "{}"), *call(1, "b", "g", '{"x":'), Closed("length")]
        for told in (read_sse(pieces(events)), [gemini.reply(request(), gather(events), STAMP)]):
            self.assertEqual(said(told)[2], [("a", "f", {})])
            self.assertEqual(told[-1]["candidates"][0]["finishReason"], "MAX_TOKENS")

    def test_a_malformed_call(self):
        events = [Text("x"), *call(0, "a", "f", "no json"), Closed("tool_calls")]
        for told in (read_sse(pieces(events)), [gemini.reply(request(), gather(events), STAMP)]):
            candidate = told[-1]["candidates"][0]
            self.assertEqual(candidate["finishReason"], "MALFORMED_FUNCTION_CALL")
            self.assertIn("f", candidate["finishMessage"])
            self.assertEqual(said(told), ("x", "", []))

    def test_a_signature_goes_with_its_call(self):
        start = call(0, "a", "f", "{}")
        start[0] = type(start[0])(0, "a", "f", signature="c2ln")
        told = read_sse(pieces([*start, Closed("tool_calls")]))
        self.assertEqual(parts(told)[0]["thoughtSignature"], "c2ln")
        one = {"id": "a", "name": "f", "arguments": "{}", "signature": "c2ln"}
        reply = gemini.reply(request(), Reply(tool_calls=(one,), finish="tool_calls"), STAMP)
        self.assertEqual(parts([reply])[0]["thoughtSignature"], "c2ln")

    def test_headers(self):
        self.assertIn("text/event-stream", dict(gemini.stream_headers(request()))["Content-Type"])
        self.assertIn("application/json", dict(gemini.stream_headers(request("array")))["Content-Type"])

    def test_reasoning_and_text_in_one_reply(self):
        reply = gemini.reply(request(), gather([Reasoning("hm"), Text("x"), Closed()]), STAMP)
        self.assertEqual(parts([reply]), [{"text": "hm", "thought": True}, {"text": "x"}])
