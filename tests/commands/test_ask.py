import json
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from metrics.commands import prompt
from metrics.commands.server import Server
from tests.commands.stage import Played, Reply, Stage


def started(reply: str = "all", *aliases: str) -> dict[str, Any]:
    seats = [
        {"call": f"p1.member{n}", "seat": "member", "alias": alias, "builtin": alias.startswith("practice")}
        for n, alias in enumerate(aliases or ("kimi", "practice-lint"), 1)
    ]
    return {
        "event": "panel.started",
        "panel": "p1",
        "collection": "core",
        "reply": reply,
        "seats": seats,
        "skipped": [],
    }


def done(n: int, answer: str = "fine", status: str = "ok", **more: Any) -> dict[str, Any]:
    tokens = {"in": 1200, "out": 45, "estimated": False}
    told = {"call": f"p1.member{n}", "seat": "member", "status": status, "seconds": 0.0, "answer": answer}
    return {"event": "seat.done", **told, "tokens": tokens, "cost": 0.0123, **more}


def merged(answer: str, status: str = "ok") -> dict[str, Any]:
    told = {
        "call": "p1.merger",
        "seat": "merger",
        "alias": "glm",
        "status": status,
        "seconds": 2.0,
        "answer": answer,
    }
    return {"event": "merge.done", **told}


END = {"event": "panel.done", "bench": {}, "usage": {}}
FAILED = {
    "event": "failed",
    "status": 401,
    "error": {"message": "no seat answered: keys refused", "type": "auth"},
}
TICK = {"event": "tick"}


def delta(text: str, event: str = "merge.delta") -> dict[str, Any]:
    return {"event": event, "call": "p1.merger" if event == "merge.delta" else "p1.member1", "text": text}


def ask(events: list[dict[str, Any]], *argv: str, **options: Any) -> Played:
    with Stage({"POST /bench/ask": Reply(events)}) as stage:
        return stage.bench("ask", "core", "why?", *argv, **options)


class Sections(unittest.TestCase):
    def test_answers_on_stdout_the_rest_on_stderr(self) -> None:
        played = ask([started(), TICK, done(2, "line 1"), done(1, "# yes\n"), END])
        self.assertEqual(played.code, 0)
        wanted = "## practice-lint (member, practice program, 0.0 s)\n\nline 1\n\n"
        wanted += "## kimi (member, 0.0 s)\n\n# yes\n\n"
        self.assertEqual(played.out, wanted)
        lines = played.err.splitlines()
        self.assertEqual(lines[0], "core: asking kimi, practice-lint (practice program)")
        self.assertEqual(lines[1:3], ["practice-lint: ok after 0.0 s", "kimi: ok after 0.0 s"])
        self.assertIn("p1.member1  member  kimi           ok          0.0  1,200 in, 45 out  $0.0123", lines)
        self.assertIn("judge it: bench verdict p1.member1 --useful", played.err)

    def test_an_unknown_cost_is_unknown(self) -> None:
        self.assertIn("unknown", ask([started(), done(1, cost=None), done(2), END]).err)

    def test_a_seat_that_failed_says_why_in_its_place(self) -> None:
        failed = done(1, "", "timeout", message="no answer within 300 s", cost=None)
        played = ask([started(), failed, done(2), END])
        self.assertEqual(played.code, 0)
        self.assertIn("## kimi (member, timeout, 0.0 s)\n\n_timeout: no answer within 300 s_\n", played.out)
        self.assertIn("judge it: bench verdict p1.member2", played.err)

    def test_skipped_seats_are_named(self) -> None:
        opening = started() | {
            "skipped": [{"seat": "explorer", "alias": "tiny", "why": "its window is too small"}]
        }
        self.assertIn("skipped tiny: its window is too small", ask([opening, done(1), done(2), END]).err)

    def test_stragglers_are_pending(self) -> None:
        played = ask([started(), done(1), END], "--quorum", "1", "--strict")
        self.assertEqual(played.code, 0)
        self.assertIn("pending", played.err)

    def test_quiet_leaves_only_answers(self) -> None:
        played = ask([started(), done(1), done(2), END], "-q")
        self.assertEqual(played.err, "")
        self.assertIn("## kimi", played.out)


class Merged(unittest.TestCase):
    def test_tokens_as_they_come_and_nothing_else(self) -> None:
        events = [
            started("merged"),
            done(1),
            done(2),
            delta("Both "),
            delta("agree."),
            merged("Both agree."),
            END,
        ]
        played = ask(events, "--merged")
        self.assertEqual(played.out, "Both agree.\n\n")
        self.assertIn("p1.merger", played.err)
        self.assertIn("judge it: bench verdict p1.member1", played.err)

    def test_merged_in_one_piece(self) -> None:
        events = [started("merged"), done(1), done(2), merged("Both agree."), END]
        self.assertEqual(ask(events, "--merged").out, "Both agree.\n\n")

    def test_without_a_merger_everybody_is_heard(self) -> None:
        noted = END | {"bench": {"note": "merging failed"}}
        for name, trouble in (
            ("failed", [merged("", "error")]),
            ("cut", [delta("Bo"), merged("Bo", "timeout")]),
            ("none", []),
        ):
            with self.subTest(name):
                played = ask([started("merged"), done(1, "one"), done(2, "two"), *trouble, noted], "--merged")
                self.assertIn("## kimi (member, 0.0 s)\n\none\n\n## practice-lint", played.out)
                self.assertIn("merging failed", played.err)


class Ends(unittest.TestCase):
    def test_exit_codes(self) -> None:
        dead = done(1, "", "error", message="refused")
        cases = [
            ("all well", [started(), done(1), done(2), END], (), 0, ""),
            ("some failed", [started(), dead, done(2), END], (), 0, ""),
            ("some failed, strictly", [started(), dead, done(2), END], ("--strict",), 5, "1 seat of 2"),
            ("all failed", [started("all", "kimi"), dead, END], (), 1, "no seat answered"),
            ("refused as a whole", [started(), dead, FAILED], (), 1, "keys refused"),
            ("broken off", [started(), done(1)], (), 1, "went away"),
            ("nothing came", [], (), 1, "went away"),
        ]
        for name, events, options, code, words in cases:
            with self.subTest(name):
                played = ask(events, *options)
                self.assertEqual(played.code, code)
                self.assertIn(words, played.err)
                events_out = ask(events, "--json", "--stream", *options)
                self.assertEqual(events_out.code, code)

    def test_the_first_seat_in_order_is_to_be_judged_whoever_was_faster(self) -> None:
        played = ask([started(), done(2), done(1), END])
        self.assertIn("judge it: bench verdict p1.member1 --useful", played.err)

    def test_events_as_received(self) -> None:
        events = [started(), TICK, done(1), done(2), END]
        played = ask(events, "--json", "--stream")
        self.assertEqual([json.loads(line) for line in played.out.splitlines()], events)
        self.assertEqual(played.err, "")

    def test_a_refusal_before_the_stream(self) -> None:
        reply = Reply({"error": {"message": 'there is no collection "cor". There are: core'}}, 404)
        with Stage({"POST /bench/ask": reply, "POST /v1/chat/completions": reply}) as stage:
            self.assertIn("There are: core", stage.bench("ask", "cor", "q").err)
            for options in (("--json",), ("--json", "--stream")):
                with self.subTest(options):
                    played = stage.bench("ask", "cor", "q", *options)
                    self.assertEqual((played.code, played.document["error"]["kind"]), (1, "not_found"))

    def test_a_collection_that_is_not_there(self) -> None:
        reply = Reply({"error": {"message": 'there is no collection "cor". There are: …'}}, 404)
        listed = {"data": [{"id": "bench/core"}, {"id": "bench/core:merged"}, {"id": "claude-bench-core"}]}
        replies: dict[str, Any] = {"POST /bench/ask": reply, "GET /v1/models": listed}
        more: dict[str, Any] = {"POST /v1/chat/completions": reply}
        with Stage({**replies, **more}) as stage:
            played = stage.bench("ask", "cor", "q")
            words = "error: there is no collection cor\ndid you mean core? see: bench collections\n"
            self.assertEqual((played.code, played.err), (1, words))
            error = stage.bench("ask", "bench/cor:merged", "q", "--json").document["error"]
            self.assertIn("did you mean core?", error["hint"])
            self.assertIn("There are", stage.bench("ask", "core", "q").err)  # a 404 of another reason

    def test_ctrl_c_leaves_the_panel_alone(self) -> None:
        def interrupted(*args: Any) -> Iterator[dict[str, Any]]:
            yield started()
            raise KeyboardInterrupt

        with mock.patch.object(Server, "stream", side_effect=interrupted):
            played = ask([])
        self.assertEqual(played.code, 130)
        self.assertIn("panel p1 goes on in the server", played.err)
        self.assertIn("bench log --collection core", played.err)

    def test_ctrl_c_before_the_panel_is_known(self) -> None:
        with mock.patch.object(Server, "post", side_effect=KeyboardInterrupt):
            played = ask([], "--json")
        self.assertEqual(played.code, 130)
        self.assertIn("a panel that has begun goes on", played.document["error"]["message"])

    def test_a_server_that_went_away(self) -> None:
        whole = Reply([started(), done(1)])
        cut = Reply(whole.encoded(), headers={"Content-Length": str(len(whole.encoded()) + 9)})
        cut.headers = {**cut.headers, "Connection": "close"}
        for reply in (whole, cut):
            with self.subTest(reply.headers), Stage({"POST /bench/ask": reply}) as stage:
                played = stage.bench("ask", "core", "q")
                self.assertEqual(played.code, 1)
                self.assertIn("went away", played.err)
                self.assertIn("bench status", played.err)
                self.assertNotIn("goes on", played.err)


class Document(unittest.TestCase):
    def whole(self, seats: list[dict[str, Any]], *argv: str) -> Played:
        reply = {"id": "x", "choices": [], "bench": {"seats": seats}}
        with Stage({"POST /v1/chat/completions": reply}) as stage:
            played = stage.bench("ask", "core", "why?", "--json", *argv)
        self.assertEqual((played.document, played.err), (reply, ""))
        return played

    def test_strict_under_json(self) -> None:
        cases = [
            ([{"status": "ok"}], 0),
            ([{"status": "ok"}, {"status": "pending"}], 0),
            ([{"status": "ok"}, {"status": "error"}], 5),
        ]
        for seats, code in cases:
            with self.subTest(seats):
                self.assertEqual(self.whole(seats, "--strict").code, code)
                self.assertEqual(self.whole(seats).code, 0)


class Sent(unittest.TestCase):
    def sent(self, *argv: str, stdin: bytes = b"") -> dict[str, Any]:
        with Stage({"POST /bench/ask": Reply([started(), done(1), done(2), END])}) as stage:
            played = stage.bench("ask", *argv, stdin=stdin)
            self.assertEqual(played.code, 0, played.err)
            body = stage.last.body
        assert isinstance(body, dict)
        return body

    def test_the_whole_request(self) -> None:
        line = (
            "core why? --system brief --merged --with a --with b --deadline 2.5 --quorum 2 --temperature 0.5"
        )
        wanted = {
            "model": "core",
            "messages": [{"role": "system", "content": "brief"}, {"role": "user", "content": "why?"}],
            "with": ["a", "b"],
            "bench": {"reply": "merged", "deadline": 2.5, "quorum": 2},
            "temperature": 0.5,
            "top_p": 0.9,
            "max_tokens": 32000,
            "seed": 7,
        }
        self.assertEqual(
            self.sent(*line.split(), "--top-p", "0.9", "--max-tokens", "32k", "--seed", "7"), wanted
        )

    def test_what_is_not_said_is_not_sent(self) -> None:
        self.assertEqual(set(self.sent("core", "why?")), {"model", "messages", "bench"})
        self.assertEqual(self.sent("core", "--all", "why?")["bench"], {"reply": "all"})

    def test_who_sits_and_who_does_not(self) -> None:
        sent = self.sent("core", "why?", "--only", "a", "--only", "b", "--without", "c")
        self.assertEqual(sent["bench"], {"only": ["a", "b"], "without": ["c"]})

    def test_argument_pipe_and_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.py"
            path.write_text("x = 1\n", encoding="utf-8")
            block = f"File: {path}\n```python\nx = 1\n```"
            pipe = "File: stdin\n```\ndiff\n```"
            cases = [
                (["core", "-"], b"from a pipe", "from a pipe"),
                (["core"], b"from a pipe", "from a pipe"),
                (["core", "q"], b"diff\n", f"q\n\n{pipe}"),
                (["core", "-f", str(path)], b"", block),
                (["core", "-f", str(path), "q"], b"diff\n", f"q\n\n{pipe}\n\n{block}"),
                (["core", "q", "-f", "-"], b"diff\n", f"q\n\n{pipe}"),
            ]
            for argv, stdin, wanted in cases:
                with self.subTest(argv):
                    self.assertEqual(self.sent(*argv, stdin=stdin)["messages"][0]["content"], wanted)

    def test_an_empty_pipe_is_told_and_asked_without(self) -> None:
        warned = "nothing came through the pipe"
        for argv, pipe, wanted in (
            (["core", "q", "-q"], True, True),
            (["core", "q", "-q"], False, False),
            (["core", "q", "-q", "-f", "-"], False, True),
        ):
            with (
                self.subTest(argv=argv, pipe=pipe),
                mock.patch.object(prompt, "promised", return_value=pipe),
                Stage({"POST /bench/ask": Reply([started(), done(1), done(2), END])}) as stage,
            ):
                played = stage.bench("ask", *argv)
                self.assertEqual((played.code, warned in played.err), (0, wanted))
                self.assertEqual(stage.last.body["messages"][0]["content"], "q")

    def test_stream_wants_json(self) -> None:
        with Stage() as stage:
            played = stage.bench("ask", "core", "q", "--stream")
        self.assertEqual((played.code, stage.sent), (2, []))
        self.assertIn("--stream is for --json", played.err)

    def test_no_question_is_a_usage_error_and_no_hang(self) -> None:
        cases = [
            (["core"], b"", True),
            (["core"], b"", False),
            (["core", " "], b"\n", False),
            (["core", ""], b"", True),
        ]
        for argv, stdin, tty in cases:
            with self.subTest(argv=argv, tty=tty), Stage() as stage:
                played = stage.bench("ask", *argv, stdin=stdin, tty=tty)
                self.assertEqual(played.code, 2)
                self.assertIn('bench ask core "your question"', played.err)
                self.assertEqual(stage.sent, [])


class OnATerminal(unittest.TestCase):
    def test_the_block_is_taken_away_before_anything_is_written(self) -> None:
        events = [started(), delta("abc", "seat.delta"), done(1), done(2), END]
        with mock.patch("metrics.commands.progress.REDRAW", 0.0):
            played = ask(events, tty=True, env={"TERM": "xterm"})
        self.assertEqual(played.code, 0)
        self.assertIn("kimi  0 s, 3 characters", played.err)
        self.assertEqual(played.err.count("\x1b[2A\x1b[J"), 2)
        self.assertEqual(played.err.count("\x1b[1A\x1b[J"), 1)
        self.assertNotIn("after 0.0 s", played.err)

    def test_a_dumb_terminal_gets_lines(self) -> None:
        played = ask([started(), done(1), done(2), END], tty=True, env={"TERM": "dumb"})
        self.assertNotIn("\x1b", played.err)
        self.assertIn("kimi: ok after 0.0 s", played.err)

    def test_an_answer_cannot_steer_the_terminal(self) -> None:
        events = [started("all", "kimi"), done(1, "a\x1b]0;owned\x07\x9b2Jb\r\n\tc"), END]
        self.assertIn("a]0;owned2Jb\n\tc", ask(events, tty=True, env={"TERM": "xterm"}).out)
        self.assertIn("\x1b]0;owned", ask(events).out)


if __name__ == "__main__":
    unittest.main()
