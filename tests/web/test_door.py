import unittest

from metrics.bench import keys
from metrics.records import Problem
from metrics.web import door, invitations, roles, sessions
from metrics.web.door import Door
from metrics.web.table import Call
from tests.bench.bench import BY, BenchCase

TOKEN = "a token of some length"
NOW = 1_796_000_000.0


def call(peer="9.9.9.9", target="/x", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Call("GET", target, named, peer=peer)


def refusal(act, *given):
    """(status, the word in WWW-Authenticate or the sentence) of a Problem; None when there is none."""
    try:
        act(*given)
    except Problem as problem:
        said = dict(problem.headers).get("WWW-Authenticate", "")
        return problem.status, said.partition('error="')[2].rstrip('"').removesuffix("_key")
    return None


class CallerTest(BenchCase):
    def setUp(self):
        super().setUp()
        self.secret = keys.create("app", {}, BY)
        off = keys.create("off", {}, BY)
        keys.enable("off", False, BY)
        bearer, wrong = f"Bearer {self.secret}", "bwk_wrong"
        # headers, query allowed, what is said when keys are required, and when they are not (None: let in)
        self.cases = [
            ({}, "/x", False, "missing", None),
            ({"authorization": "  "}, "/x", False, "missing", None),
            ({"authorization": "Basic YTpi"}, "/x", False, "scheme", None),
            ({"authorization": "Bearer"}, "/x", False, "scheme", None),
            ({"authorization": self.secret}, "/x", False, "scheme", None),
            ({"authorization": "Bearer sk-x"}, "/x", False, "form", None),
            ({"x_api_key": "sk-x"}, "/x", False, "form", None),
            ({"authorization": f"Bearer {wrong}"}, "/x", False, "unknown", "unknown"),
            ({"x_api_key": off}, "/x", False, "disabled", "disabled"),
            ({"authorization": bearer}, "/x", False, None, None),
            ({"authorization": f"bEARER  {self.secret} "}, "/x", False, None, None),
            ({"x_api_key": self.secret}, "/x", False, None, None),
            ({"x_goog_api_key": self.secret}, "/x", False, None, None),
            ({"x_api_key": self.secret, "authorization": "Bearer sk-x"}, "/x", False, None, None),
            ({}, f"/x?key={self.secret}", True, None, None),
            ({}, f"/x?key={self.secret}", False, "missing", None),
            ({}, "/x?key=AIza", True, "form", None),
        ]

    def test_what_is_shown_is_a_key_or_told_apart(self):
        for headers, target, query, said, unkeyed in self.cases:
            for required, wanted in ((True, said), (False, unkeyed)):
                with self.subTest(headers, target=target, required=required):
                    got = refusal(Door(required).caller, call(target=target, **headers), query)
                    self.assertEqual(got, None if wanted is None else (401, wanted))

    def test_a_key_is_honoured_where_none_is_wanted(self):
        self.assertEqual(Door().caller(call(x_api_key=self.secret), False).name, "app")
        self.assertIsNone(Door().caller(call(x_api_key="sk-x"), False))

    def test_wrong_keys_wait_by_address_and_right_ones_never(self):
        place = Door(True)
        for _ in range(9):
            refusal(place.caller, call(x_api_key="bwk_no"), False)
        self.assertEqual(refusal(place.caller, call(x_api_key="bwk_no"), False)[0], 429)
        self.assertEqual(refusal(place.caller, call(x_api_key="bwk_no", peer="8.8.8.8"), False)[0], 401)
        self.assertIsNone(refusal(place.caller, call(x_api_key=self.secret), False))
        self.assertEqual(refusal(place.caller, call(), False)[0], 401)


class AdminTest(BenchCase):
    def setUp(self):
        super().setUp()
        self.door = Door(token=TOKEN, now=lambda: NOW)
        self.session = sessions.begin(roles.OWNER, TOKEN, "", NOW)

    def test_who_is_signed_in(self):
        key = keys.create("app", {}, BY)
        cases = [
            ({}, False),
            ({"authorization": f"Bearer {TOKEN}"}, True),
            ({"authorization": f"bearer  {TOKEN} "}, True),
            ({"authorization": f"Basic {TOKEN}"}, False),
            ({"authorization": TOKEN}, False),
            ({"authorization": f"Bearer {TOKEN}x"}, False),
            ({"authorization": f"Bearer {key}"}, False),
            ({"authorization": f"Bearer {self.session}"}, True),
            ({"authorization": "Bearer bws_other"}, False),
            ({"cookie": f"a=b; bw_session={self.session}"}, True),
            ({"cookie": f"bw_session=x; bw_session={self.session}; bw_session=y"}, True),
            ({"cookie": f"xbw_session={self.session}"}, False),
            ({"authorization": "Bearer bwi_invited"}, False),
            ({"cookie": "bw_session=x"}, False),
            ({"cookie": "bw_session"}, False),
            ({"cookie": ';;="'}, False),
            ({"x_api_key": TOKEN}, False),
        ]
        for headers, enters in cases:
            with self.subTest(headers):
                got = refusal(self.door.person, call(**headers))
                self.assertEqual(got is None, enters)
                self.assertIn(got and got[0], (None, 401))

    def test_without_a_token_nobody_has_to(self):
        self.assertIsNone(refusal(Door().person, call()))

    def test_a_session_ends_with_the_time_and_with_the_token(self):
        cookie = call(cookie=f"bw_session={self.session}")
        later = Door(token=TOKEN, now=lambda: NOW + sessions.LASTS + 1)
        self.assertEqual(
            [self.door.signed_in(cookie), later.signed_in(cookie), Door(token=TOKEN + "x").signed_in(cookie)],
            [roles.Person("admin", roles.ADMIN, self.session_id()), None, None],
        )

    def session_id(self):
        return sessions.all(TOKEN, NOW)[0].person.session

    def test_an_invitation_lets_in_once(self):
        secret = invitations.invite("anna", roles.JUDGE, NOW + 60, TOKEN, BY, NOW)
        self.assertEqual(refusal(self.door.accept, call(), secret + "x")[0], 401)
        self.assertEqual(self.door.accept(call(), secret), roles.Person("anna", roles.JUDGE))
        self.assertEqual(refusal(self.door.accept, call(), secret)[0], 401)

    def test_wrong_invitations_wait_as_wrong_tokens_do_and_say_for_how_long(self):
        for _ in range(4):
            self.assertEqual(refusal(self.door.accept, call(), "bwi_no")[0], 401)
        with self.assertRaises(Problem) as told:
            self.door.accept(call(), "bwi_no")
        self.assertEqual(told.exception.status, 401)
        self.assertGreater(told.exception.retry_after, 0)
        self.assertRegex(told.exception.message, r"looked at in \d+ s")
        self.assertEqual(refusal(self.door.sign_in, call(), TOKEN)[0], 429)

    def test_a_wait_holds_for_the_right_token_too_and_not_for_a_session(self):
        for _ in range(9):
            refusal(self.door.sign_in, call(), "wrong")
        self.assertEqual(refusal(self.door.sign_in, call(), TOKEN)[0], 429)
        self.assertEqual(refusal(self.door.person, call(authorization=f"Bearer {TOKEN}"))[0], 429)
        self.assertIsNone(refusal(self.door.person, call(cookie=f"bw_session={self.session}")))
        self.assertIsNone(refusal(self.door.sign_in, call(peer="8.8.8.8"), TOKEN))

    def test_a_token_is_words(self):
        for token in (None, 5, [], "", "\ud800"):
            with self.subTest(token):
                self.assertEqual(refusal(self.door.sign_in, call(peer=str(token)), token)[0], 401)


class AddressTest(unittest.TestCase):
    # trusted, peer, X-Forwarded-For, address
    CASES = [
        ("", "1.1.1.1", "2.2.2.2", "1.1.1.1"),
        ("1.1.1.1", "1.1.1.1", "2.2.2.2", "2.2.2.2"),
        ("1.1.1.1", "3.3.3.3", "2.2.2.2", "3.3.3.3"),
        ("1.1.1.1", "1.1.1.1", "", "1.1.1.1"),
        ("1.1.1.1", "1.1.1.1", "6.6.6.6, 2.2.2.2", "2.2.2.2"),
        ("1.1.1.1, 10.0.0.0/8", "1.1.1.1", "6.6.6.6, 2.2.2.2, 10.1.1.1", "2.2.2.2"),
        ("10.0.0.0/8", "10.1.1.1", "[2001:db8::1]:55", "2001:db8::1"),
        ("::1", "::1", "2.2.2.2", "2.2.2.2"),
        ("1.1.1.1", "1.1.1.1", "2.2.2.2:4711", "2.2.2.2"),
        ("1.1.1.1", "1.1.1.1", "2001:db8::1", "2001:db8::1"),
        ("10.0.0.0/8", "10.1.1.1", "6.6.6.6, ::ffff:2.2.2.2, [::FFFF:10.2.2.2]:55", "2.2.2.2"),
    ]

    def test_an_ipv4_address_is_one_however_it_is_written(self):
        for written, address in (
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("::FFFF:192.0.2.1", "192.0.2.1"),
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:c000:201", "::ffff:c000:201"),  # no system writes it so
            ("64:ff9b::192.0.2.1", "64:ff9b::192.0.2.1"),
            ("::1", "::1"),
            ("", ""),
        ):
            with self.subTest(written):
                self.assertEqual(door.unmapped(written), address)

    def test_only_a_trusted_proxy_names_another(self):
        for trusted, peer, forwarded, address in self.CASES:
            with self.subTest(trusted, peer=peer, forwarded=forwarded):
                place = door.from_environment({"BENCH_TRUSTED_PROXIES": trusted})
                self.assertEqual(place.address(call(peer, x_forwarded_for=forwarded)), address)

    def test_https_is_believed_of_a_trusted_proxy(self):
        place = door.from_environment({"BENCH_TRUSTED_PROXIES": "1.1.1.1"})
        told = [place.encrypted(call(peer, x_forwarded_proto="https")) for peer in ("1.1.1.1", "2.2.2.2")]
        self.assertEqual(told, [True, False])
        self.assertTrue(
            door.from_environment({"BENCHWARMERS_PUBLIC_URL": "https://b.example"}).encrypted(call())
        )


class EnvironmentTest(unittest.TestCase):
    LONG = {"BENCHWARMERS_ADMIN_TOKEN": TOKEN}
    # environment, (required, token) or what is said
    CASES = [
        ({}, (False, None)),
        ({"BENCH_BIND": "127.0.0.1"}, (False, None)),
        ({"BENCH_BIND": ""}, (False, None)),
        ({"BENCHWARMERS_REQUIRE_KEYS": "1"}, (True, None)),
        ({"BENCHWARMERS_REQUIRE_KEYS": " True "}, (True, None)),
        ({"BENCHWARMERS_REQUIRE_KEYS": "0"}, (False, None)),
        (LONG, (False, TOKEN)),
        ({"BENCH_BIND": "0.0.0.0", **LONG}, (True, TOKEN)),
        ({"BENCH_BIND": "::", "BENCHWARMERS_REQUIRE_KEYS": "1", **LONG}, (True, TOKEN)),
        ({"BENCH_BIND": "0.0.0.0"}, "set BENCHWARMERS_ADMIN_TOKEN"),
        ({"BENCH_BIND": "0.0.0.0", "BENCHWARMERS_REQUIRE_KEYS": "1"}, "set BENCHWARMERS_ADMIN_TOKEN"),
        ({"BENCH_BIND": "0.0.0.0", "BENCHWARMERS_REQUIRE_KEYS": "0", **LONG}, "keys are required"),
        ({"BENCHWARMERS_ADMIN_TOKEN": "fifteen letters"}, "has 15 characters"),
        ({"BENCHWARMERS_REQUIRE_KEYS": "perhaps"}, "must be 1 or 0"),
        ({"BENCH_TRUSTED_PROXIES": "nginx"}, "BENCH_TRUSTED_PROXIES"),
    ]

    def test_what_cannot_be_guarded_is_not_opened(self):
        for env, wanted in self.CASES:
            with self.subTest(env):
                try:
                    place = door.from_environment(env)
                    got = place.required, place.token
                except Problem as problem:
                    got = problem.message
                    self.assertNotIn(env.get("BENCHWARMERS_ADMIN_TOKEN", "-"), got)
                if isinstance(wanted, str):
                    self.assertIn(wanted, got)
                else:
                    self.assertEqual(got, wanted)


if __name__ == "__main__":
    unittest.main()
