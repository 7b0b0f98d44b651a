from metrics.evidence import routes
from metrics.play import routing, turns
from metrics.records import Answer, Seat, Skipped, Usage
from tests.play.house import NOW, House, request


class TurnTest(House):
    def setUp(self):
        super().setUp()
        self.add("no-eyes", vision=False)
        self.add("mm", vision=True)
        self.seat("core", "no-eyes", "mm")
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
        asked = [{"role": "user", "content": [{"type": "text", "text": "what is it?"}, picture]}]
        self.turn = routing.begin(request(messages=asked, reply="route"), NOW, "0a1b2c3d", 1)
        seat = Seat(self.turn.call_of(self.turn.ranking.members[0]), "member", self.turn.ranking.members[0])
        self.answer = Answer(seat, "ok", text="a cat", usage=Usage(uncached_in=3, out=2), changed=("x",))

    def failed(self):
        return Answer(self.answer.seat, "error", error="upstream", message="it said: what is it?")

    def test_what_the_caller_is_told(self):
        told = turns.bench(self.turn, self.answer)
        self.assertEqual(
            (told["collection"], told["reply"], told["alias"], told["turn"]), ("core", "route", "mm", 1)
        )
        self.assertEqual(told["call"], f"{told['conversation']}.1")
        self.assertEqual([skip["alias"] for skip in told["skipped"]], ["no-eyes"])
        self.assertEqual((told["changed"], told["tokens"]["out"]), (["x"], 2))
        self.assertNotIn("failed_over", told)
        self.turn.failed.append(self.failed())
        self.assertEqual(turns.bench(self.turn, self.answer)["failed_over"][0]["error"], "upstream")

    def test_the_model_is_named_once_it_is_decided(self):
        self.assertEqual([name for name, _ in turns.headers(self.turn)], ["X-Bench-Conversation"])
        self.turn.seat = self.answer.seat
        self.assertEqual(dict(turns.headers(self.turn))["X-Bench-Model"], "mm")

    def test_a_row_holds_no_words_where_bodies_are_not_kept(self):
        for bodies, kept in [("all", True), ("none", False)]:
            with self.subTest(bodies):
                self.settings(bodies=bodies)
                self.turn.failed = [self.failed()]
                turns.record(self.turn, self.answer, 1.5)
                row = routes.turns(self.turn.place.conversation)[0]
                self.assertEqual("what is it?" in str(row), kept)
                self.assertEqual((row["status"], row["seconds"], row["model_id"]), ("ok", 1.5, "fake:mm"))
                self.assertEqual(
                    row["skipped"], [{"seat": "member", "alias": "no-eyes", "why": row["skipped"][0]["why"]}]
                )
                self.assertIsInstance(self.turn.ranking.skipped[0], Skipped)
