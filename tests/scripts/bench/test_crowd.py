import json
import tempfile
import unittest
from pathlib import Path

from metrics.evidence import panels, verdicts
from metrics.limits import ledger
from metrics.store import home
from metrics.store.log import close_all
from scripts.bench import crowd, product

NOW = 1_795_964_183.0  # 2026-11-29
PANEL = "p20261129-145623-5eec7de7"


class Like(unittest.TestCase):
    def test_deeds_take_turns_each_whole_with_an_id_and_a_time_of_its_own(self) -> None:
        pattern = [
            [{"at": "x", "panel": PANEL, "call": f"{PANEL}.member{seat}"} for seat in (1, 2)],
            [{"at": "x", "panel": None, "conversation": "r20261129-145623-aaaaaaaa", "turn": 1}],
        ]
        made = list(crowd.like(pattern, 10, NOW))
        self.assertEqual([len(deed) for deed in made], [2, 1] * 5)
        times = [deed[0]["at"] for deed in made]
        self.assertEqual(times, sorted(set(times)))
        names = {deed[0]["panel"] or deed[0]["conversation"] for deed in made}
        self.assertEqual(len(names), 10)
        for deed in made[::2]:
            self.assertEqual([row["call"] for row in deed], [f"{deed[0]['panel']}.member{n}" for n in (1, 2)])
            self.assertEqual(panels.month(deed[0]["panel"]), deed[0]["at"][:7])
        self.assertTrue(all(deed[0]["conversation"].startswith("r20") for deed in made[1::2]))
        young = list(crowd.like(pattern, 10, NOW, since=NOW - 100 * 86_400))
        self.assertEqual(young, made[-len(young) :])
        self.assertLess(len(young), 5)


class SlowCrowd(unittest.TestCase):
    def test_a_small_house_is_filled_and_answers(self) -> None:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()), "home")
        self.addCleanup(close_all)
        with product.mock() as provider, product.server(folder) as server:
            crowd.furnish(server, provider, 12)
            with product.mock("voices.py") as voices:
                crowd.voices(server, voices)
            with product.mock("voices.py") as elsewhere:
                crowd.voices(server, elsewhere)
                led = {each["name"]: each["base"] for each in server.get("/api/endpoints")["endpoints"]}
            self.assertEqual(led["voices"], f"http://127.0.0.1:{elsewhere.port}/v1")
        crowd.fill(folder, 1000, 200, NOW)
        home.use(folder)
        with home.own():
            rows = [row for _, row in panels.back() if row]
            self.assertEqual(len(rows), 200 + crowd.COLLECTIONS * crowd.ROUNDS)
            self.assertEqual(len({row["panel"] for row in rows}), len(rows))
            judged = [row for row in rows if verdicts.of(row["seats"][0]["call"])]
            self.assertEqual(len(judged), 100 + crowd.COLLECTIONS * crowd.ROUNDS)
            self.assertGreater(ledger.used("model", None)["total"]["calls"], 1000)
            close_all()
        self.assertEqual(
            len(json.loads((folder / "models.json").read_text(encoding="utf-8"))["models"]), 12 + crowd.VOICES
        )


if __name__ == "__main__":
    unittest.main()
