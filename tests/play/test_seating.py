from metrics.bench import moves
from metrics.evidence import reliability
from metrics.play import seating
from metrics.records import Problem
from tests.play.house import BY, NOW, House, draw, request

PNG = "data:image/png;base64,iVBORw0KGgo="
PICTURE = [
    {
        "role": "user",
        "content": [{"type": "text", "text": "?"}, {"type": "image_url", "image_url": {"url": PNG}}],
    }
]


def seats(panel):
    return [(seat.seat, seat.target.alias) for seat in panel.seats]


def skipped(panel):
    return {skip.alias: skip.why for skip in panel.skipped}


class SeatingTest(House):
    def convene(self, **asked):
        return seating.convene(request(**asked), draw())

    def refused(self, **asked):
        with self.assertRaises(Problem) as caught:
            self.convene(**asked)
        return caught.exception

    def test_members_sit_in_order_and_are_named_by_call_ids(self):
        self.seat("core", "m1", "m2")
        panel = self.convene()
        self.assertEqual(seats(panel), [("member", "m1"), ("member", "m2")])
        self.assertRegex(panel.id, r"^p\d{8}-\d{6}-[0-9a-f]{8}$")
        self.assertEqual([seat.call.removeprefix(panel.id) for seat in panel.seats], [".member1", ".member2"])
        self.assertEqual((panel.shape, panel.shape_by, panel.deadline), ("general", "default", 300))

    def test_where_deadline_and_shape_come_from(self):
        self.seat("core", "m1", deadline=20, shape="review")
        panel = self.convene()
        self.assertEqual((panel.shape, panel.shape_by, panel.deadline), ("review", "collection", 20))
        self.assertEqual(self.convene(deadline=3).deadline, 3)

    def test_explorers_are_recorded_with_all_that_was_known(self):
        self.seat("core", "m1", explorers=1)
        self.add("x1", "x2", "x3")
        self.add("hoc", ad_hoc=True)
        self.add("light", role="light")
        reliability.note("fake:x1", "ok", NOW - 100)
        reliability.note("fake:x2", "ok", NOW - 200)
        reliability.note("fake:x3", "error", NOW - 1, "rate_limited", 60)
        panel = self.convene()
        self.assertEqual(seats(panel)[1:], [("explorer", "x2")])
        decision = panel.decision
        self.assertEqual((decision["policy"], decision["seed"], decision["k"]), ("rotation/1", 7, 1))
        self.assertEqual({c["alias"] for c in decision["candidates"]}, {"x1", "x2"})
        self.assertEqual(
            decision["candidates"][0].keys(), {"alias", "model_id", "wait", "last", "E", "n", "cost"}
        )
        reasons = {row["alias"]: row["reason"] for row in decision["excluded"]}
        self.assertIn("rests", reasons["x3"])
        self.assertIn("role is light", reasons["light"])
        self.assertNotIn("hoc", reasons, "ad hoc models are not in the pool at all")
        self.assertEqual((decision["seats"][0]["how"], decision["seats"][0]["p"]), ("rotation", 1))
        self.assertEqual((panel.seats[1].how, panel.seats[1].p), ("rotation", 1))

    def test_a_retired_model_never_sits(self):
        self.seat("core", "m1", explorers=1)
        self.add("x1")
        moves.retire("x1", "gone", BY, NOW)
        self.assertEqual(seats(self.convene()), [("member", "m1")])

    def test_guests(self):
        self.seat("core", "m1", explorers=1)
        self.add("g1", "g2", "g3")
        self.add("hoc", ad_hoc=True)
        self.assertEqual(seats(self.convene(invited=("g1",)))[1:], [("explorer", "g1")])
        self.assertEqual(seats(self.convene(invited=("hoc",)))[1:], [("explorer", "hoc")])
        panel = self.convene(invited=("g1", "g2", "g3", "m1"))
        self.assertEqual(seats(panel)[1:], [("explorer", "g1"), ("explorer", "g2")])
        self.assertIn("no chair is left", skipped(panel)["g3"])
        self.assertIn("sits already", skipped(panel)["m1"])
        self.assertEqual([seat.how for seat in panel.seats[1:]], ["asked", "asked"])
        self.assertEqual(panel.seats[1].p, None)
        self.assertEqual(self.refused(invited=("typo",)).status, 400)

    def test_only_and_without(self):
        self.seat("core", "m1", "m2", explorers=1)
        self.add("x1")
        cases = (
            ({"only": ("m2",)}, [("member", "m2")], {"m1"}),
            ({"only": ("x1",)}, [("explorer", "x1")], {"m1", "m2"}),
            ({"only": ("m1", "x1")}, [("member", "m1"), ("explorer", "x1")], {"m2"}),
            ({"only": ("m1",), "invited": ("x1",)}, [("member", "m1"), ("explorer", "x1")], {"m2"}),
            ({"without": ("m1",)}, [("member", "m2"), ("explorer", "x1")], {"m1"}),
            ({"without": ("x1",)}, [("member", "m1"), ("member", "m2")], {"x1"}),
            ({"without": ("x1",), "invited": ("x1",)}, [("member", "m1"), ("member", "m2")], {"x1"}),
        )
        for asked, sat, off in cases:
            with self.subTest(asked):
                panel = self.convene(**asked)
                self.assertEqual(seats(panel), sat)
                told = [skip.alias for skip in panel.skipped if "left out" in skip.why]
                self.assertEqual((set(told), len(told)), (off, len(off)), "each is told once")

    def test_only_and_without_name_who_is_there(self):
        self.seat("core", "m1")
        for field in ("only", "without"):
            problem = self.refused(**{field: ("typo",)})
            self.assertEqual((problem.status, problem.param), (400, f"bench.{field}"))
        self.assertIn("left out by the request", self.refused(without=("m1",)).message)

    def test_pictures_seat_only_who_is_known_to_see(self):
        self.add("blind", vision=False)
        self.add("seer", vision=True)
        self.add("unknown")
        self.seat("core", "blind", "seer", "unknown")
        panel = self.convene(messages=PICTURE)
        self.assertEqual(seats(panel), [("member", "seer")])
        self.assertEqual(set(skipped(panel)), {"blind", "unknown"})
        self.assertEqual((panel.shape, panel.shape_by), ("vision", "images"))

    def test_nobody_can_see(self):
        self.seat("core", "m1")
        problem = self.refused(messages=PICTURE)
        self.assertEqual(problem.status, 400)
        self.assertIn("m1", problem.message)

    def test_a_member_whose_window_is_too_small_refuses_the_request(self):
        self.add("small", context=100)
        self.add("large", context=100_000)
        self.seat("core", "large", "small")
        problem = self.refused(text="x" * 4000)
        self.assertEqual((problem.status, problem.code), (413, "context_length_exceeded"))
        self.assertIn("small reads 100", problem.message)
        self.assertNotIn("large reads", problem.message)

    def test_an_explorer_whose_window_is_too_small_stays_off(self):
        self.seat("core", "m1", explorers=1)
        self.add("small", context=100)
        panel = self.convene(text="x" * 4000)
        self.assertEqual(seats(panel), [("member", "m1")])
        self.assertIn("reads 100", skipped(panel)["small"])

    def test_same_draw_same_panel(self):
        self.seat("core", "m1", explorers=2)
        self.add(*(f"x{n}" for n in range(9)))
        self.assertEqual(seats(self.convene()), seats(self.convene()))
