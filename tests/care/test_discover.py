import threading
import unittest
from collections.abc import Callable

from metrics.bench import endpoints
from metrics.bench.endpoints import Endpoint
from metrics.care import discover
from metrics.client.quirks import LOCAL, PROVIDERS
from tests.bench.bench import BY, BenchCase
from tests.provider import Answer, Provider

OLLAMA = LOCAL["ollama"]


def none(base: str) -> bool:
    return False


class Discover(BenchCase):
    def setUp(self) -> None:
        super().setUp()
        discover.forget()
        self.addCleanup(discover.forget)

    def look(
        self, env: dict[str, str], probe: Callable[[str], bool] = none, **more: int
    ) -> dict[str, dict[str, str]]:
        return {find["name"]: find for find in discover.found(env, probe, **more)}

    def test_a_key_in_the_environment(self) -> None:
        found = discover.found({"GROQ_API_KEY": "the-value-stays-there"}, none)
        self.assertEqual(
            found,
            [
                {
                    "name": "groq",
                    "what": "key in GROQ_API_KEY",
                    "base": "https://api.groq.com/openai/v1",
                    "command": "bench endpoint add groq --base https://api.groq.com/openai/v1"
                    " --key-env GROQ_API_KEY",
                }
            ],
        )

    def test_a_provider_whose_own_api_is_better(self) -> None:
        found = self.look({"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k", "OPENAI_API_KEY": "k"})
        apis = {name: " --api " + name in find["command"] for name, find in found.items()}
        self.assertEqual(apis, {"openai": False, "anthropic": True, "gemini": True})

    def test_every_provider_of_the_table(self) -> None:
        env = {provider.env: "k" for provider in PROVIDERS.values()}
        self.assertEqual(set(self.look(env)), set(PROVIDERS))
        self.assertEqual(self.look({"OPENAI_API_KEY": "  ", "OTHER_API_KEY": "k"}), {})

    def test_what_is_an_endpoint_already_is_not_offered(self) -> None:
        endpoints.save(Endpoint("fast", "https://api.groq.com/openai/v1"), BY)
        endpoints.save(Endpoint("mine", "http://127.0.0.1:9/v1", profile="api.openai.com"), BY)
        self.assertEqual(self.look({"GROQ_API_KEY": "k", "OPENAI_API_KEY": "k"}), {})
        endpoints.save(Endpoint("llama", "http://localhost:11434/v1"), BY)
        self.assertEqual(self.look({}, lambda base: base == OLLAMA), {})

    def test_a_taken_name_is_not_proposed(self) -> None:
        endpoints.save(Endpoint("groq", "http://127.0.0.1:9/v1"), BY)
        self.assertIn("bench endpoint add groq-2 ", self.look({"GROQ_API_KEY": "k"})["groq-2"]["command"])

    def test_runtimes_that_answer(self) -> None:
        found = self.look({}, lambda base: base in (OLLAMA, LOCAL["llama.cpp"]))
        self.assertEqual(found["ollama"]["what"], "Ollama answering on 127.0.0.1:11434")
        self.assertEqual(
            found["ollama"]["command"], f"bench endpoint add ollama --base {OLLAMA} --kind local"
        )
        self.assertEqual(set(found), {"ollama", "llama-cpp"})
        for name, find in found.items():
            with self.subTest(name):
                endpoints.checked(Endpoint(name, find["base"], kind="local"))

    def test_this_server_is_no_runtime(self) -> None:
        self.assertEqual(
            set(self.look({}, lambda base: True, own_port=8000)), {"ollama", "llama-cpp", "lmstudio"}
        )

    def test_a_look_holds_for_a_while(self) -> None:
        asked: list[str] = []
        time = [100.0]
        for at, count in ((100.0, 4), (129.9, 4), (130.1, 8)):
            time[0] = at
            discover.found({}, lambda base: asked.append(base) is None, now=lambda: time[0])
            self.assertEqual(len(asked), count, at)

    def test_a_probe_that_hangs_is_not_waited_for_and_not_asked_twice(self) -> None:
        release, asked, ended = threading.Event(), [], threading.Event()
        ticks = iter(range(10_000))

        def hang(base: str) -> bool:
            if base != OLLAMA:
                return False
            asked.append(base)
            release.wait(10.0)
            ended.set()
            return True

        # Each look at this clock is a second later, so that no caller's patience lasts.
        def find() -> list[str]:
            return [find["name"] for find in discover.found({}, hang, now=lambda: float(next(ticks)))]

        self.assertNotIn("ollama", find())
        self.assertNotIn("ollama", find())
        self.assertEqual(len(asked), 1)
        release.set()
        self.assertTrue(ended.wait(10.0))

    def test_a_probe_that_fails_is_asked_again_later(self) -> None:
        def fail(base: str) -> bool:
            raise ZeroDivisionError

        hook, threading.excepthook = threading.excepthook, lambda args: None
        try:
            self.assertEqual(discover.found({}, fail, now=lambda: 0.0), [])
        finally:
            threading.excepthook = hook
        self.assertIn(
            "ollama", [find["name"] for find in discover.found({}, lambda base: True, now=lambda: 60.0)]
        )


class Answers(unittest.TestCase):
    def test_who_is_a_runtime(self) -> None:
        cases = [
            ("a list of models", {"/v1/models": (200, '{"object":"list","data":[]}')}, True),
            ("an old Ollama", {"/v1/models": (404, "no"), "/api/version": (200, '{"version":"0.1"}')}, True),
            ("one that wants a key", {"/v1/models": (401, '{"error":{"message":"key"}}')}, True),
            ("a web page", {"/v1/models": (200, "<html>"), "/api/version": (200, "<html>")}, False),
            ("another API", {"/v1/models": (200, '{"hello":1}'), "/api/version": (404, "{}")}, False),
            ("a list", {"/v1/models": (200, "[1]"), "/api/version": (500, "")}, False),
        ]
        for case, paths, expected in cases:
            with self.subTest(case), Provider() as provider:
                for path, (status, body) in paths.items():
                    provider.script(path, Answer([body.encode()], status))
                self.assertIs(discover.answers(f"{provider.base}"), expected)

    def test_nobody(self) -> None:
        with Provider() as provider:
            base = provider.base
        self.assertFalse(discover.answers(base))


if __name__ == "__main__":
    unittest.main()
