import gzip
import json
import unittest
import zlib

from metrics import http1
from metrics.records import Problem
from metrics.web.connection import Connection, Limits
from metrics.web.table import problem_json
from tests.lines import Played, every_cut
from tests.web.stage import HOST, Reply, Stage, get, post, replies


class OneRequest(unittest.TestCase):
    def test_cut_anywhere(self) -> None:
        whole = post(b'{"a": 1}', "X-Request-Id: r1")
        chunked = post(
            b"3\r\nabc\r\n1;x\r\nd\r\n0\r\nT: u\r\n\r\n", "Transfer-Encoding: chunked", length=False
        )
        for sent, body in ((whole, b'{"a": 1}'), (chunked, b"abcd")):
            for pieces in [[sent], *every_cut(sent)]:
                stage = Stage()
                line = stage.play([*pieces, get("/a")])
                self.assertEqual([(r.status, r.body) for r in replies(line)], [(200, body), (200, b"/a")])
                self.assertEqual((stage.calls[0].body, stage.calls[0].peer), (body, "127.0.0.1"))

    def test_a_small_reply_is_one_send(self) -> None:
        self.assertEqual(len(Stage().play([get()]).sent), 1)

    def test_what_is_private_is_kept_by_nobody(self) -> None:
        private, missing = replies(Stage().play([get("/a"), get("/none")]))
        self.assertEqual(private.headers["cache-control"], "no-store")
        self.assertEqual(private.headers["cross-origin-resource-policy"], "same-origin")
        self.assertNotIn("cache-control", missing.headers)

    def test_request_id_is_echoed_or_made(self) -> None:
        line = Stage().play([get("/a", "X-Request-Id: mine-1"), get("/a", "X-Request-Id: a b"), get("/none")])
        ids = [reply.headers["x-request-id"] for reply in replies(line)]
        self.assertEqual(ids[0], "mine-1")
        self.assertEqual(len(set(ids)), 3)
        self.assertNotIn(" ", ids[1])

    def test_head(self) -> None:
        line = Stage().play(
            [b"HEAD /a HTTP/1.1\r\n" + HOST + b"\r\n", b"HEAD /stream HTTP/1.1\r\n" + HOST + b"\r\n", get()]
        )
        found = replies(line, ["HEAD", "HEAD", "GET"])
        self.assertEqual([(r.status, r.body) for r in found], [(200, b""), (200, b""), (200, b"/a")])
        self.assertEqual(found[0].headers["content-length"], "2")

    def test_http_1_0(self) -> None:
        stage = Stage()
        old = b"GET /stream HTTP/1.0\r\n" + HOST + b"\r\n"
        reply = replies(stage.play([old + get()]))
        self.assertEqual([(r.body, r.headers["connection"]) for r in reply], [(b"onetwo", "close")])
        keeping = b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n" + HOST + b"\r\n"
        self.assertEqual(len(replies(stage.play([keeping, keeping]))), 2)

    def test_crash(self) -> None:
        for path in ("/crash", "/bad-header"):
            with self.subTest(path=path):
                stage = Stage()
                first, second = replies(stage.play([get(path), get()]))
                self.assertEqual((first.status, second.status), (500, 200))
                self.assertIn(first.headers["x-request-id"], first.error)
                self.assertIn(first.headers["x-request-id"], stage.log[0])
                self.assertIn("Traceback", stage.log[0])

    def test_errors_in_the_shape_of_the_route(self) -> None:
        big = Limits(body=10)
        cases = [
            (get("/refused"), 418),
            (post(b"{}", "Content-Type: text/plain", path="/shaped"), 415),
            (post(b"{}", "Origin: null", path="/shaped"), 403),
            (post(b"x" * 11, path="/shaped"), 413),
            (post(b"x" * 5, "Content-Encoding: br", path="/shaped"), 415),
            (post(b"{}", "Expect: tea", path="/shaped"), 417),
        ]
        for sent, status in cases:
            with self.subTest(status=status):
                stage = Stage(big)
                reply = replies(stage.play([sent]))[0]
                self.assertEqual(reply.status, status)
                self.assertIn("shaped", json.loads(reply.body))
                self.assertEqual(stage.calls, [])

    def test_a_crash_in_the_error_shape_falls_back(self) -> None:
        stage = Stage()
        reply = replies(stage.play([get("/crash-in-error")]))[0]
        self.assertEqual((reply.status, reply.error), (418, "no coffee"))
        self.assertEqual(len(stage.log), 1)

    def test_unknown_paths_and_methods(self) -> None:
        line = Stage().play([get("/healthz"), b"DELETE /a HTTP/1.1\r\n" + HOST + b"\r\n", get()])
        missing, wrong, fine = replies(line)
        self.assertEqual((missing.status, wrong.status, fine.status), (404, 405, 200))
        self.assertEqual(wrong.headers["allow"], "GET, HEAD, OPTIONS")
        self.assertEqual(missing.headers["content-type"], "application/json")

    def test_a_stranger_does_not_learn_which_paths_there_are(self) -> None:
        for path in ("/a", "/nowhere"):
            reply = replies(Stage().play([f"GET {path} HTTP/1.1\r\nHost: evil.example\r\n\r\n".encode()]))[0]
            self.assertEqual(reply.status, 403)

    def test_options(self) -> None:
        def options(path: str, *more: str) -> Reply:
            return replies(Stage().play([get(path, *more).replace(b"GET", b"OPTIONS", 1)]))[0]

        self.assertEqual(options("/echo").headers["allow"], "OPTIONS, POST")
        self.assertEqual(options("/none").status, 404)
        self.assertEqual(options("/echo", "Origin: https://evil.example").status, 403)
        allowed = options("/echo", "Origin: https://app.example", "Access-Control-Request-Method: POST")
        self.assertEqual(allowed.status, 204)
        self.assertEqual(allowed.headers["access-control-allow-origin"], "https://app.example")

    def test_cors_on_replies_and_on_errors(self) -> None:
        stage = Stage()
        line = stage.play(
            [get("/a", "Origin: https://app.example"), get("/refused", "Origin: https://app.example")]
        )
        for reply in replies(line):
            self.assertEqual(reply.headers["access-control-allow-origin"], "https://app.example")
        line = stage.play([get("/a", "Origin: https://evil.example"), get()])
        for reply in replies(line):
            self.assertNotIn("access-control-allow-origin", reply.headers)


class Bodies(unittest.TestCase):
    def test_codings(self) -> None:
        body = b'{"model": "x"}'
        cases = [
            ("gzip", gzip.compress(body), 200),
            ("deflate", zlib.compress(body), 200),
            ("identity", body, 200),
            ("gzip", gzip.compress(body)[:-12], 400),
            ("gzip", body, 400),
            ("zstd", body, 415),
            ("br", body, 415),
            ("gzip", gzip.compress(bytes(1_000)), 413),
        ]
        for coding, sent, status in cases:
            with self.subTest(coding=coding, status=status):
                stage = Stage(Limits(body=500))
                first, second = replies(stage.play([post(sent, f"Content-Encoding: {coding}"), get()]))
                self.assertEqual((first.status, second.status), (status, 200))
                if status == 200:
                    self.assertEqual(stage.calls[0].body, body)

    def test_expectation(self) -> None:
        stage = Stage()
        sent = post(b"abc", "Expect: 100-continue")
        line = stage.play([sent[:-3], b"abc", get()])
        self.assertEqual([r.status for r in replies(line)], [100, 200, 200])
        self.assertEqual(line.sent[0], http1.CONTINUE)
        # Already under way: no need to ask for it.
        self.assertEqual([r.status for r in replies(stage.play([sent]))], [200])

    def test_nothing_is_asked_for_that_will_be_refused(self) -> None:
        cases = [
            ("too large", post(b"", "Expect: 100-continue", "Content-Length: 99", length=False), 413),
            (
                "no such path",
                post(b"", "Expect: 100-continue", "Content-Length: 9", path="/x", length=False),
                404,
            ),
            ("other expectation", post(b"", "Expect: 200-ok", "Content-Length: 9", length=False), 417),
        ]
        for name, sent, status in cases:
            with self.subTest(name):
                line = Stage(Limits(body=50)).play([sent])
                self.assertEqual([r.status for r in replies(line)], [status])
                self.assertEqual(replies(line)[0].headers["connection"], "close")

    def test_refused_small_bodies_are_read_away(self) -> None:
        chunked = post(b"3\r\nabc\r\n0\r\n\r\n", "Transfer-Encoding: chunked", path="/none", length=False)
        for sent in (post(b'{"x": 1}GET', path="/none"), chunked, post(b"{}", "Content-Type: text/plain")):
            for pieces in [[sent + get()], *every_cut(sent + get())[::7]]:
                line = Stage().play(pieces)
                first, second = replies(line)
                self.assertIn(first.status, (404, 415))
                self.assertEqual((second.status, second.body), (200, b"/a"))

    def test_refused_large_bodies_end_the_connection(self) -> None:
        limits = Limits(body=1_000, skip=100)
        chunk = b"40\r\n" + b"x" * 64 + b"\r\n"
        cases = [
            ("length over the cap", post(b"x" * 2_000), 413),
            ("chunks over the cap", post(chunk * 20, "Transfer-Encoding: chunked", length=False), 413),
            ("no such path", post(b"x" * 500, path="/none"), 404),
            (
                "no such path, chunks",
                post(chunk * 3, "Transfer-Encoding: chunked", path="/none", length=False),
                404,
            ),
        ]
        for name, sent, status in cases:
            with self.subTest(name):
                stage = Stage(limits)
                line = stage.play([sent[:150], sent[150:], get()])
                (reply,) = replies(line)
                self.assertEqual((reply.status, reply.headers["connection"]), (status, "close"))
                self.assertTrue(line.finished)
                self.assertEqual((stage.calls, line.coming), ([], []))

    def test_bad_framing_ends_the_connection(self) -> None:
        cases = [
            ("both", post(b"0\r\n\r\n", "Transfer-Encoding: chunked"), 400),
            ("two lengths", post(b"{}", "Content-Length: 7"), 400),
            ("+5", post(b"hello", "Content-Length: +5", length=False), 400),
            ("0x5", post(b"hello", "Content-Length: 0x5", length=False), 400),
            ("gzip, chunked", post(b"0\r\n\r\n", "Transfer-Encoding: gzip, chunked", length=False), 501),
            ("chunk -5", post(b"-5\r\nhello\r\n0\r\n\r\n", "Transfer-Encoding: chunked", length=False), 400),
            (
                "long chunk",
                post(b'5\r\n{"a":1}\r\n0\r\n\r\n', "Transfer-Encoding: chunked", length=False),
                400,
            ),
            ("bare LF", b"GET /a HTTP/1.1\nHost: localhost\n\n", 400),
            ("head", b"GET /a HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 66_000, 431),
            ("headers", b"GET /a HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 100 + b"\r\n", 431),
            ("no host", b"GET /a HTTP/1.1\r\n\r\n", 400),
            ("version", b"GET /a HTTP/3.0\r\n\r\n", 505),
            ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        ]
        for name, sent, status in cases:
            with self.subTest(name):
                stage = Stage()
                line = stage.play([sent + get()])
                (reply,) = replies(line)
                self.assertEqual((reply.status, reply.headers["connection"]), (status, "close"))
                self.assertTrue(reply.headers["x-request-id"])
                self.assertEqual(stage.calls, [])
                self.assertTrue(line.finished)


class Several(unittest.TestCase):
    def test_pipelined_cut_anywhere(self) -> None:
        sent = (
            post(b"ab")
            + get("/stream")
            + b"\r\n"
            + post(b"1\r\nc\r\n0\r\n\r\n", "Transfer-Encoding: chunked", length=False)
        )
        for pieces in [[sent], *every_cut(sent)]:
            bodies = [reply.body for reply in replies(Stage().play(pieces))]
            self.assertEqual(bodies, [b"ab", b"onetwo", b"c"])

    def test_any_number_of_blank_lines(self) -> None:
        line = Stage().play([*[b"\r\n"] * 3_000, b"\r\n" + get()])
        self.assertEqual([reply.status for reply in replies(line)], [200])

    def test_close_is_kept_to(self) -> None:
        line = Stage().play([get("/a", "Connection: close") + get()])
        (reply,) = replies(line)
        self.assertEqual(reply.headers["connection"], "close")

    def test_leaving_in_the_middle_is_no_call(self) -> None:
        for sent in (
            post(b"abcdef"),
            post(b"3\r\nabc\r\n0\r\n\r\n", "Transfer-Encoding: chunked", length=False),
        ):
            for at in range(len(sent)):
                stage = Stage()
                line = stage.play([sent[:at]] if at else [])
                self.assertEqual((stage.calls, line.sent, stage.log), ([], [], []))

    def test_draining(self) -> None:
        stage = Stage()
        stage.service.stopping = True
        self.assertEqual(stage.play([get()]).sent, [])


class Slowness(unittest.TestCase):
    def test_silence_between_requests_is_no_error(self) -> None:
        line = Stage().play([get(), TimeoutError(), get()])
        self.assertEqual(len(replies(line)), 1)
        self.assertEqual(line.limits[:2], [20.0, 75.0])

    def test_a_slow_head_or_body(self) -> None:
        for sent, at in ((get(), 9), (post(b"abc"), len(post(b"abc")) - 1)):
            stage = Stage()
            line = stage.play([sent[:at], TimeoutError(), sent[at:]])
            (reply,) = replies(line)
            self.assertEqual((reply.status, reply.headers["connection"]), (408, "close"))
            self.assertEqual(stage.calls, [])

    def test_a_head_in_time_counts_from_its_first_byte(self) -> None:
        (reply,) = replies(Stage(Limits(head=0.0)).play([b"GET", b" /a"]))
        self.assertEqual(reply.status, 408)

    def test_a_body_must_keep_its_rate(self) -> None:
        sent = post(b"x" * 100)
        slow = Stage(Limits(head=0.0, rate=1e12)).play([sent[:-90], *(b"x" for _ in range(90))])
        self.assertEqual(replies(slow)[0].status, 408)
        steady = Stage(Limits(head=20.0, rate=1.0)).play([sent[:-90], *(b"x" for _ in range(90))])
        self.assertEqual(replies(steady)[0].status, 200)


class Streams(unittest.TestCase):
    def test_each_piece_is_one_send_and_the_head_goes_with_the_first(self) -> None:
        stage = Stage()
        line = stage.play([get("/stream")])
        self.assertEqual([sent[-8:] for sent in line.sent], [b"3\r\none\r\n", b"3\r\ntwo\r\n", b"0\r\n\r\n"])
        self.assertEqual(stage.closed, [""])

    def test_a_refusal_before_the_first_piece_keeps_its_status(self) -> None:
        reply, after = replies(Stage().play([get("/stream/refuse-first"), get()]))
        self.assertEqual((reply.status, reply.error, after.status), (429, "not now", 200))

    def test_broken_off(self) -> None:
        for how, part in (("refuse", "upstream gone"), ("crash", "RuntimeError"), ("disk", "OSError")):
            with self.subTest(how=how):
                stage = Stage()
                (reply,) = replies(stage.play([get(f"/stream/{how}"), get()]))
                self.assertEqual((reply.body, reply.headers["x-whole"]), (b"one", "False"))
                self.assertIn(part, stage.log[0])
                self.assertIn(reply.headers["x-request-id"], stage.log[0])
                self.assertEqual(stage.closed, [how])

    def test_hanging_up_closes_the_stream(self) -> None:
        stage = Stage()
        line = Played([get("/stream"), get()])
        line.closed = True
        Connection(line, "127.0.0.1", stage.service).serve()
        self.assertEqual((stage.closed, stage.log, stage.calls), ([""], [], []))

    def test_a_quiet_piece_notices_a_caller_that_has_left(self) -> None:
        stage = Stage()
        line = stage.play([get("/stream/quiet")])
        self.assertEqual((stage.closed, stage.log), (["quiet"], []))
        self.assertFalse(b"".join(line.sent).endswith(http1.LAST_CHUNK))
        stage.play([get("/stream/quiet"), get()])
        self.assertEqual((stage.closed, stage.log), (["quiet"] * 2, ["still there"]))

    def test_headers_arrive_as_they_were_given(self) -> None:
        stage = Stage()
        reply = replies(stage.play([get("/headers")]))[0]
        self.assertEqual((reply.headers["x-bench-model"], reply.headers["x-bench-seats"]), ("m", "a, b"))
        self.assertNotIn("set-cookie", reply.headers)


class Defaults(unittest.TestCase):
    def test_errors_without_a_route_have_the_default_shape(self) -> None:
        (reply,) = replies(Stage().play([b"GET x HTTP/1.1\r\n\r\n"]))
        default = problem_json(Problem(400, reply.error), None).body
        self.assertEqual(reply.body, default)
