from unittest import mock

from metrics.bench import endpoints, moves, roster
from metrics.bench.endpoints import Endpoint
from metrics.bench.roster import Model
from metrics.evidence import reliability
from metrics.limits import ledger
from metrics.play import candidates
from metrics.records import Problem
from metrics.store import files
from tests.play.house import BY, NOW, House, request

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
PICTURE = [
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}}]}
]


class CandidatesCase(House):
    def setUp(self):
        super().setUp()
        ledger.LOG.open()  # outcomes are kept among its counters, in this test's own folder

    def fails(self, alias, kind, after=0, retry_after=None):
        reliability.note(f"fake:{alias}", "error", NOW - 5 + after, kind, retry_after)

    def of(self, **asked):
        return candidates.candidates(request(reply="route", **asked), NOW)

    def fit(self, **asked):
        return [candidate.alias for candidate in self.of(**asked)[0]]

    def skipped(self, **asked):
        return {skip.alias: skip.why for skip in self.of(**asked)[1]}


class WhoCan(CandidatesCase):
    def test_every_reason(self):
        cases = [
            ("removed", {}, {}, "is not on the bench (removed)"),
            ("retired", {}, {}, "`bench model restore retired`"),
            ("ad-hoc", {"ad_hoc": True}, {}, "ad hoc"),
            ("painter", {"role": "image"}, {}, "has the role image"),
            ("no-tools", {"tools": False}, {"tools": TOOLS}, "calls no tools"),
            ("unsure", {}, {"tools": TOOLS}, "is not known to call tools"),
            ("blind", {"vision": False}, {"messages": PICTURE}, "cannot read images"),
            ("dim", {}, {"messages": PICTURE}, "is not known to read images"),
            ("small", {"context": 50}, {"text": "x" * 4000}, "reads only 50 tokens, this needs about 1,"),
            ("tools-fill-it", {"tools": True, "context": 20}, {"tools": TOOLS}, "reads only 20 tokens"),
        ]
        self.add("able", tools=True, vision=True, context=100_000)
        for alias, facts, asked, words in cases:
            with self.subTest(alias):
                self.add(alias)
                self.seat("core", "able", alias)
                with roster.FILE.edit() as saved:  # as a hand may write it: no move would leave this
                    entry = saved["models"].pop(alias)
                    shelf = {"removed": {}, "retired": saved.setdefault("retired", {})}
                    shelf.get(alias, saved["models"])[alias] = entry | facts
                self.assertEqual(self.fit(**asked), ["able"])
                self.assertIn(words, self.skipped(**asked)[alias])

    def test_a_program_of_ours_plays_where_a_collection_names_it(self):
        """practice-agent is ad hoc, and there for nothing else: so that a client's tools can be tried."""
        squad = [Model("practice-agent", "practice", "practice-agent", tools=True, ad_hoc=True)]
        roster.seat_builtin(Endpoint("practice", self.provider.base, builtin=True), squad)
        self.seat("core", "practice-agent")
        self.assertEqual(self.fit(tools=TOOLS), ["practice-agent"])

    def test_what_only_one_apis_servers_hold(self):
        self.seat("core", "mm")
        held = {"native": {"cachedContent": "cachedContents/1"}}
        self.assertEqual(self.fit(native={"safetySettings": []}), ["mm"])
        self.assertIn("cached at Google", self.skipped(**held)["mm"])
        with endpoints.FILE.edit() as saved:
            saved["fake"] = saved["fake"] | {"api": "gemini"}
        self.assertEqual(self.fit(**held), ["mm"])

    def test_an_endpoint_that_speaks_what_we_do_not_or_is_gone(self):
        self.seat("core", "mm")
        with endpoints.FILE.edit() as saved:
            kept = dict(saved["fake"])
            saved["fake"] = kept | {"api": "chat"}
        self.assertEqual(self.fit(), ["mm"])
        with mock.patch.object(candidates, "DIALECTS", {}):
            self.assertIn("speaks chat, which this version does not", self.skipped()["mm"])
        with endpoints.FILE.edit() as saved:
            del saved["fake"]
        self.assertIn("endpoint fake, which is gone", self.skipped()["mm"])

    def test_in_the_collections_order(self):
        self.seat("core", "mb", "ma", "mc")
        self.assertEqual(self.fit(), ["mb", "ma", "mc"])

    def test_an_unknown_collection(self):
        with self.assertRaises(Problem) as caught:
            self.of(collection="none")
        self.assertEqual(caught.exception.status, 404)


class Nobody(CandidatesCase):
    def refused(self, **asked):
        return candidates.nobody(request(**asked), self.of(**asked)[1])

    def test_only_size_is_a_413(self):
        self.add("small", "tiny", context=10)
        self.seat("core", "small", "tiny")
        problem = self.refused(text="x" * 400)
        self.assertEqual(
            (problem.status, problem.code, problem.retryable), (413, "context_length_exceeded", False)
        )
        self.add("dull", tools=False)
        self.seat("core", "small", "dull")
        problem = self.refused(text="x" * 400, tools=TOOLS)
        self.assertEqual((problem.status, problem.code), (400, None))
        for words in ("small is not known to call tools", "dull calls no tools"):
            self.assertIn(words, problem.message)


class WhoShouldWait(CandidatesCase):
    def hindered(self):
        return {one.alias: (one.hindrance, one.until) for one in self.of()[0]}

    def test_resting_and_failing_members_stay(self):
        self.seat("core", "ok", "rests", "fails")
        self.fails("rests", "rate_limited", retry_after=30.0)
        for number in range(reliability.FAILING):
            self.fails("fails", "upstream", after=number)
        found = self.hindered()
        self.assertEqual(found["ok"], (None, None))
        self.assertEqual(found["rests"], ("rests for another 25 s (rate_limited)", NOW + 25))
        self.assertIn("is failing: 3 failures in a row", found["fails"][0])
        self.assertIsNone(found["fails"][1])

    def test_programs_let_models_go_first(self):
        squad = [Model("lint", "practice", "lint"), Model("terse", "practice", "terse")]
        roster.seat_builtin(Endpoint("practice", self.provider.base, builtin=True), squad)
        self.addCleanup(roster.clear_builtin)
        self.seat("core", "lint", "terse")
        self.assertEqual(self.hindered(), {"lint": (None, None), "terse": (None, None)})
        self.seat("core", "lint", "mm")
        found = self.hindered()
        self.assertIn("is a program", found["lint"][0])
        self.assertEqual(found["mm"], (None, None))

    def test_what_costs_nothing_more(self):
        self.seat("core", "mm")
        self.assertFalse(self.of()[0][0].paid)
        endpoints.save(Endpoint("fake", self.provider.base, kind="local"), BY)
        self.assertTrue(self.of()[0][0].paid)

    def test_when_it_last_answered(self):
        self.seat("core", "ma", "mb")
        reliability.note("fake:mb", "ok", NOW - 60)
        self.assertEqual([one.last for one in self.of()[0]], [None, NOW - 60])


class Kind(CandidatesCase):
    def test_the_shape_of_a_turn(self):
        self.seat("core", "mm")
        self.assertEqual(candidates.kind(request()), ("general", "default"))
        self.assertEqual(candidates.kind(request(messages=PICTURE)), ("vision", "images"))
        self.seat("core", "mm", shape="code")
        self.assertEqual(candidates.kind(request(messages=PICTURE)), ("code", "collection"))


class WithinAMoment(CandidatesCase):
    """Requests at about the same time share what follows from the files, and nothing else."""

    def setUp(self):
        super().setUp()
        self.seat("core", "ma", "mb")
        self.add("mc")
        self.enterContext(files.moment())
        self.assertEqual(self.fit(), ["ma", "mb"])

    def field(self, **asked):
        return candidates.field(request(reply="route", **asked))[0]

    def test_what_asks_the_same_is_looked_at_once(self):
        self.assertIs(self.field(), self.field(text="something else"))
        for asked in ({"tools": TOOLS}, {"messages": PICTURE}, {"models": frozenset(["ma"])}, {"budget": 5}):
            self.assertIsNot(self.field(), self.field(**asked))

    def test_a_failure_shows_at_once(self):
        self.fails("ma", "rate_limited", retry_after=30.0)
        self.assertEqual([bool(one.hindrance) for one in self.of()[0]], [True, False])
        reliability.note("fake:ma", "ok", NOW)
        self.assertEqual([one.last for one in self.of()[0]], [NOW, None])

    def test_an_edit_shows_at_once(self):
        self.seat("core", "mb", "mc")
        self.assertEqual(self.fit(), ["mb", "mc"])
        moves.retire("mb", "old", BY)
        self.assertEqual(self.fit(), ["mc"])
        moves.change("mc", BY, context=50)
        self.assertEqual(self.fit(text="x" * 4000), [])
        self.assertEqual(self.fit(), ["mc"])
