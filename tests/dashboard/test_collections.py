import json
import threading
import unittest
from typing import Any

from metrics.dashboard import collections
from tests.dashboard.api import ApiCase


class Collections(ApiCase):
    routes = collections.HANDLERS

    def setUp(self) -> None:
        super().setUp()
        self.seat_models("m1", "m2")

    def test_save_show_and_remove(self) -> None:
        saved = self.post("/api/collection", {"name": "core", "members": ["m1", "m2"], "deadline": 60})[
            "collection"
        ]
        self.assertEqual(
            saved,
            {
                "name": "core",
                "members": [
                    {"alias": "m1", "present": True, "builtin": False},
                    {"alias": "m2", "present": True, "builtin": False},
                ],
                "explorers": 1,
                "reply": "all",
                "merger": None,
                "shape": None,
                "deadline": 60,
                "description": "",
                "tags": [],
                "drop_hosted_tools": False,
                "shadow": 0.0,
                "shadow_daily": 50,
            },
        )
        self.assertEqual(self.get("/api/collections")["collections"], [saved])
        self.assertEqual(
            self.post("/api/collection", {"name": "core", "deadline": None})["collection"]["deadline"], None
        )
        self.assertEqual(self.post("/api/collection/remove", {"name": "core"})["removed"], "core")
        self.assertIn("There are none yet", self.refused("/api/collection/remove", {"name": "core"}, 404))

    def test_nonsense(self) -> None:
        self.refuses_nonsense("/api/collection", "/api/collection/remove")
        fields: dict[str, Any] = {
            "members": [5, "m1", {}, [5], [["m1"]], [None]],
            "add": [{}, "m1", [True]],
            "remove": [7],
            "explorers": ["1", True, 1.5, [], -1, 10**30],
            "reply": [1, [], "ALL"],
            "merger": [1, [], {}],
            "shape": [1, []],
            "deadline": ["60", True, [], 1e9, -1],
            "description": [1, [], {}],
            "tags": ["a", [1], {}, 5],
        }
        for field, values in fields.items():
            for value in values:
                with self.subTest(field=field, value=value):
                    body = {"name": "core", "members": ["m1"], field: value}
                    self.assertIn(f'"{field}"', self.refused("/api/collection", body))
        self.assertEqual(self.get("/api/collections")["collections"], [])

    def test_parallel_posts_keep_all(self) -> None:
        replies: list[int] = []

        def post(n: int) -> None:
            replies.append(self.ask("POST", "/api/collection", {"name": f"c{n}", "members": ["m1"]})[0])

        threads = [threading.Thread(target=post, args=(n,)) for n in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(replies, [200] * 24)
        saved = json.loads(self.text("collections.json"))
        self.assertEqual({f"c{n}" for n in range(24)} - set(saved), set())

    def test_a_broken_file_is_no_empty_list(self) -> None:
        self.write("collections.json", '{\n"core": [}')
        status, reply = self.ask("GET", "/api/collections")
        self.assertEqual((status, reply["ok"]), (503, False))
        self.assertIn("collections.json, line 2", reply["errors"][0])

    def test_a_broken_entry_is_told(self) -> None:
        self.write("collections.json", '{"core": {"members": ["m1"]}, "bad": {}}')
        reply = self.get("/api/collections")
        self.assertEqual([one["name"] for one in reply["collections"]], ["core"])
        self.assertIn('"bad"', reply["problems"][0])


if __name__ == "__main__":
    unittest.main()
