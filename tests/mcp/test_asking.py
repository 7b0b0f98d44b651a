"""The tool `ask`: what it takes, whom it asks, its progress and what it gives back."""

import json
import threading
import unittest

from metrics.bench import scope
from metrics.mcp import asking, waits
from metrics.records import Problem
from tests.mcp.stage import McpCase, a_key, called
from tests.provider import error, gated, text

PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk"


class RequestTest(McpCase):
    def setUp(self):
        super().setUp()
        self.seat("core", "one", "two")
        self.seat("routed", "one", reply="route")

    def wanted(self, **arguments):
        return asking.request({"collection": "core", "prompt": "hello", **arguments})

    def test_how_it_is_asked(self):
        cases = (
            ({}, ("core", "all")),
            ({"merged": True}, ("core", "merged")),
            ({"merged": False}, ("core", "all")),
            ({"merged": None, "system": None, "files": None}, ("core", "all")),
            ({"collection": "bench/core:merged"}, ("core", "merged")),
            ({"collection": "routed"}, ("routed", "all")),
            ({"collection": "routed", "merged": True}, ("routed", "merged")),
        )
        for arguments, address in cases:
            with self.subTest(arguments):
                request = self.wanted(**arguments)
                self.assertEqual((request.collection, request.reply), address)
                self.assertEqual(request.messages, [{"role": "user", "content": "hello"}])

    def test_all_that_it_takes(self):
        request = self.wanted(
            system="be brief", **{"with": ["two"]}, quorum=1, budget=0.5, deadline=20, prompt=" spaced \n"
        )
        self.assertEqual(request.messages[0], {"role": "system", "content": "be brief"})
        self.assertEqual(request.messages[1]["content"], " spaced \n")
        self.assertEqual((request.invited, request.quorum, request.deadline), (("two",), 1, 20))
        self.assertEqual((request.budget, request.format), (5 * 10**11, "mcp"))

    def test_files_stand_under_their_names(self):
        files = [{"name": "a.py", "text": "x = 1"}, {"name": "b.md", "text": "```\nfence\n```\n"}]
        said = self.wanted(files=files).messages[0]["content"]
        self.assertEqual(
            said, "hello\n\nFile: a.py\n```\nx = 1\n```\n\nFile: b.md\n````\n```\nfence\n```\n````"
        )
        parts = self.wanted(files=[{"name": "p.png", "image": PNG}]).messages[0]["content"]
        self.assertEqual([part["type"] for part in parts], ["text", "image_url"])

    def test_what_is_refused(self):
        cases = (
            ({"collection": "nowhere"}, 'no collection "nowhere"'),
            ({"prompt": ""}, "user message with content"),
            ({"prompt": 5}, '"prompt" must be a text'),
            ({"collection": None}, '"collection" is missing'),
            ({"promt": "x"}, '"promt" is not a field'),
            ({"merged": "yes"}, '"merged" must be true or false'),
            ({"collection": "core:merged", "merged": False}, "say one of them"),
            ({"quorum": 0}, '"quorum" must be a whole number'),
            ({"files": "app.py"}, '"files" must be a list'),
            ({"files": ["app.py"]}, "a list of objects"),
            ({"files": [{"name": "a"}]}, 'needs either "text" or "image"'),
            ({"files": [{"name": "a", "text": "x", "image": PNG}]}, 'needs either "text" or "image"'),
            ({"files": [{"text": "x"}]}, '"name" is missing'),
        )
        for arguments, sentence in cases:
            with self.subTest(arguments), self.assertRaises(Problem) as refused:
                self.wanted(**arguments)
            self.assertIn(sentence, refused.exception.message)

    def test_a_key_asks_within_its_scope(self):
        cases = (
            (a_key(collections=("other",)), {}),
            (a_key(modes=("merged",)), {}),
            (a_key(modes=("all",)), {"merged": True}),
            (a_key(models=("one",)), {"with": ["two"]}),
        )
        for key, arguments in cases:
            with self.subTest(key.scope), scope.of(key.scope), self.assertRaises(Problem) as refused:
                self.wanted(**arguments)
            self.assertEqual(refused.exception.status, 403)


class PanelTest(McpCase):
    def test_every_seat_is_in_the_result_by_name(self):
        self.provider.script("one", text("said one"))
        self.provider.script("two", error(400, "not for me"))
        self.seat("core", "one", "two")
        result = self.result(
            "tools/call", {"name": "ask", "arguments": {"collection": "core", "prompt": "x"}}
        )
        told, parts = result["structuredContent"], [part["text"] for part in result["content"]]
        seats = {seat["alias"]: seat for seat in told["seats"]}
        self.assertEqual((seats["one"]["status"], seats["one"]["answer"]), ("ok", "said one"))
        self.assertNotEqual(seats["two"]["status"], "ok")
        self.assertEqual(told["to_judge"], [seats["one"]["call"]])
        self.assertIsNone(told["answer"])
        self.assertIn("said one", parts[0])
        self.assertIn("two", parts[0])
        rest = json.loads(parts[1])
        self.assertEqual([seat["alias"] for seat in rest["seats"]], ["one", "two"])
        self.assertNotIn("said one", parts[1])

    def test_one_answer_from_all(self):
        self.provider.script("one", text("said one"))
        self.provider.script("boss", text("all in one"))
        self.seat("core", "one", "boss", merger="boss")
        told = self.tool("ask", {"collection": "core", "prompt": "x", "merged": True})
        self.assertEqual((told["answer"], told["merger"]["alias"]), ("all in one", "boss"))
        self.assertNotIn(told["merger"]["call"], told["to_judge"])

    def test_a_panel_in_which_nobody_answers_is_an_error_with_its_id(self):
        self.provider.script("one", error(400, "never"))
        self.seat("core", "one")
        sentence = self.fails("ask", {"collection": "core", "prompt": "x"})
        self.assertIn("never", sentence)
        self.assertRegex(sentence, r"panel p\d{8}-\d{6}-[0-9a-f]{8}")

    def test_a_refusal_is_a_result_that_a_model_can_read(self):
        self.seat("core", "one")
        self.assertIn('no collection "none"', self.fails("ask", {"collection": "none", "prompt": "x"}))
        self.assertIn('"prompt" is missing', self.fails("ask", {"collection": "core"}))


class ProgressTest(McpCase):
    def test_it_grows_with_every_seat_and_in_quiet_times(self):
        gate = threading.Event()
        self.provider.script("one", text("quick"))
        self.provider.script("two", gated(["slow"], [gate]))
        self.seat("core", "one", "two")
        begun = asking.begin({"collection": "core", "prompt": "x"}, called({}), None, 0.001)
        heard = asking.heard(begun, threading.Event())
        news = []
        while True:
            try:
                one = next(heard)
            except StopIteration as end:
                result = end.value
                break
            news += [one] if one else []
            if len(news) > 4:
                gate.set()
        done = [one.done for one in news]
        self.assertEqual(done, sorted(set(done)))
        self.assertEqual((news[0].done, news[0].total, news[-1].done), (0, 2, 2))
        self.assertIn("waiting for one, two", news[0].words)
        self.assertIn("waiting for two", [one.words for one in news])
        self.assertIn("two: ok after", news[-1].words)
        self.assertEqual([seat["status"] for seat in result["structuredContent"]["seats"]], ["ok", "ok"])

    def test_whoever_stops_waiting_stops_no_panel(self):
        for how in ("cancelled", "left"):
            with self.subTest(how):
                gate, stopped = threading.Event(), threading.Event()
                self.provider.script("one", gated(["after all"], [gate]))
                self.seat("core", "one")
                begun = asking.begin({"collection": "core", "prompt": "x"}, called({}), "s", 0.001)
                heard = asking.heard(begun, stopped)
                next(heard)
                if how == "cancelled":
                    stopped.set()
                    with self.assertRaises(StopIteration) as end:
                        next(heard)
                    self.assertIsNone(end.exception.value)
                else:
                    heard.close()
                gate.set()
                said = [item for item in begun.relay if item is not None]
                self.assertEqual(said[-1].answers[0].text, "after all")
                self.assertIn(begun.panel.id, waits.panels("local", "s"))


if __name__ == "__main__":
    unittest.main()
