from typing import Any
from unittest import mock

from metrics.bench import endpoints, moves
from metrics.bench.catalog import kept, refresh
from metrics.bench.endpoints import Endpoint
from metrics.bench.roster import Model
from metrics.dashboard import catalog
from metrics.records import Price
from tests.bench.bench import BY
from tests.dashboard.api import ApiCase

PROVIDERS = {"openai": {"models": {"gpt": {"context": 9, "tools": True, "price": {"input": 2}}}}}


class Catalog(ApiCase):
    routes = catalog.HANDLERS

    def setUp(self) -> None:
        super().setUp()
        kept.save(kept.MODELS_DEV, PROVIDERS, 0.0)
        endpoints.save(Endpoint("oai", "https://api.openai.com/v1"), BY)

    def test_a_model_of_the_bench_with_who_says_what(self) -> None:
        moves.add(Model("mine", "oai", "gpt", tools=False, price=Price(3, 4)), BY)
        reply = self.get("/api/catalog?model=mine")
        facts: dict[str, Any] = {
            "context": {"value": 9, "source": "models.dev"},
            "tools": {"value": False, "source": "user"},
            "price": {"value": {"input": 3, "output": 4}, "source": "user"},
        }
        self.assertEqual(reply["model"]["facts"], facts)
        self.assertEqual((reply["model"]["provider"], reply["model"]["model_id"]), ("openai", "oai:gpt"))
        self.assertEqual(reply["model"]["said"]["models.dev"]["price"], {"input": 2})
        self.assertEqual(self.get("/api/catalog?model=oai:gpt")["model"]["alias"], "mine")

    def test_one_that_is_only_offered(self) -> None:
        reply = self.get("/api/catalog?model=gpt")
        self.assertIsNone(reply["model"])
        self.assertEqual([one["provider"] for one in reply["offers"]], ["openai"])
        self.assertEqual(reply["catalogs"]["models.dev"], "1970-01-01T00:00:00.000Z")

    def test_what_cannot_be_shown(self) -> None:
        for target, status in (("/api/catalog", 400), ("/api/catalog?model=nobody", 404)):
            with self.subTest(target):
                self.assertEqual(self.ask("GET", target)[0], status)

    def test_refresh(self) -> None:
        told = [{"feed": "x", "ok": True, "models": 5, "note": ""}, {"feed": "y", "ok": False}]
        with mock.patch.object(refresh, "refresh", return_value=told) as asked:
            reply = self.post("/api/catalog/refresh", {"feeds": ["listings"]})
            self.post("/api/catalog/refresh", {})
        self.assertEqual((reply["feeds"], reply["read"]), (told, 1))
        self.assertEqual([call.args for call in asked.call_args_list], [(["listings"],), (refresh.FEEDS,)])
        self.refused("/api/catalog/refresh", {"feeds": ["elsewhere"]})
        self.refused("/api/catalog/refresh", {"feed": "listings"})
