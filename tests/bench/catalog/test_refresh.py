import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from metrics.bench import endpoints
from metrics.bench.catalog import book, kept, refresh
from metrics.bench.endpoints import Endpoint
from metrics.records import Problem
from tests.bench.bench import BY, BenchCase

PROVIDERS = {"openai": {"name": "OpenAI", "models": {"gpt": {"limit": {"context": 9}}, "o": {}}}}
ROUTED = {"data": [{"id": "openai/gpt", "context_length": 7}]}
LISTED = {"data": [{"id": "mine", "max_model_len": 4096}]}


class Feeds(ThreadingHTTPServer):
    """What stands at which path; anything else is a 503."""

    daemon_threads = True

    def __init__(self, **replies: Any) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = {f"/{path}": reply for path, reply in replies.items()}
        self.base = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def urls(self) -> dict[str, str]:
        return {kept.MODELS_DEV: f"{self.base}/api.json", kept.OPENROUTER: f"{self.base}/routed"}


class _Handler(BaseHTTPRequestHandler):
    server: Feeds

    def do_GET(self) -> None:
        path = self.path.removeprefix("/v1").replace("api.json", "providers")
        reply = self.server.replies.get(path)
        body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(503 if reply is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Refresh(BenchCase):
    def serve(self, **replies: Any) -> Feeds:
        feeds = Feeds(**replies)
        self.addCleanup(feeds.server_close)
        self.addCleanup(feeds.shutdown)
        endpoints.save(Endpoint("box", f"{feeds.base}/v1"), BY)
        return feeds

    def told(self, feeds: Feeds, *wanted: str) -> dict[str, tuple[bool, int]]:
        told = refresh.refresh(wanted or refresh.FEEDS, feeds.urls, lambda: 0.0)
        self.notes = {one["feed"]: one["note"] for one in told}
        return {one["feed"]: (one["ok"], one["models"]) for one in told}

    def test_all_of_them(self) -> None:
        feeds = self.serve(providers=PROVIDERS, routed=ROUTED, models=LISTED)
        expected = {"models.dev": (True, 2), "openrouter": (True, 1), "listing:box": (True, 1)}
        self.assertEqual(self.told(feeds), expected)
        known = book.book().of(endpoints.get("box"), "mine")
        self.assertEqual((known.facts["context"], known.sources["context"]), (4096, "listing"))
        self.assertEqual(
            book.book().of(Endpoint("o", "https://api.openai.com/v1"), "gpt").facts["context"], 9
        )

    def test_one_that_is_down_takes_nothing_from_the_others(self) -> None:
        whole = {"providers": PROVIDERS, "routed": ROUTED, "models": LISTED}
        names = {"providers": "models.dev", "routed": "openrouter", "models": "listing:box"}
        for down, name in names.items():
            for instead in (None, b"<html>", b"{}"):
                with self.subTest(down=down, instead=instead):
                    feeds = self.serve(**{**whole, down: instead})
                    told = self.told(feeds)
                    self.assertEqual([feed for feed, (ok, _) in told.items() if not ok], [name])
                    self.assertTrue(self.notes[name])

    def test_what_fails_leaves_what_was_kept(self) -> None:
        self.told(self.serve(providers=PROVIDERS, routed=ROUTED, models=LISTED))
        before = [kept.feed(name) for name in kept.FILES], kept.listings()
        self.assertEqual({ok for ok, _ in self.told(self.serve()).values()}, {False})
        self.assertEqual(([kept.feed(name) for name in kept.FILES], kept.listings()), before)

    def test_an_empty_list_of_a_feed_is_not_kept(self) -> None:
        self.assertEqual(self.told(self.serve(routed={"data": []}), "openrouter"), {"openrouter": (False, 0)})

    def test_only_the_one_that_is_wanted(self) -> None:
        feeds = self.serve(providers=PROVIDERS)
        self.assertEqual(self.told(feeds, "models.dev"), {"models.dev": (True, 2)})

    def test_which_feeds_there_are(self) -> None:
        self.assertEqual(refresh.feeds("feeds", ["listings"]), ["listings"])
        for wrong in ("listings", ["other"], [5], ["listings", "listings"], 5):
            with self.subTest(wrong), self.assertRaises(Problem):
                refresh.feeds("feeds", wrong)
