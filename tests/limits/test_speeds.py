import unittest
from typing import Any

from metrics.limits import speeds
from metrics.limits.speeds import Typical

ROW: dict[str, Any] = {"model_id": "e:m", "status": "ok", "purpose": "panel", "seconds": 2.0, "out": 100}

# rows -> what is typical of the model
CASES = (
    ("one", [ROW], Typical(2.0, (100, 100), 1)),
    (
        "the middle counts",
        [ROW, ROW | {"seconds": 60.0}, ROW | {"seconds": 3.0}],
        Typical(3.0, (100, 100), 3),
    ),
    (
        "the middle half of the sizes",
        [ROW | {"out": out} for out in (10, 20, 30, 40, 9000)],
        Typical(2.0, (20, 40), 5),
    ),
    ("sizes that nobody said", [ROW | {"out": None}], Typical(2.0, None, 1)),
    ("failures teach nothing", [ROW | {"status": status} for status in ("error", "timeout", "empty")], None),
    ("nor do probes", [ROW | {"purpose": "probe"}], None),
    ("nor rows without a time", [ROW | {"seconds": None}], None),
    ("the latest only", [ROW | {"seconds": 90.0}] * 9 + [ROW] * speeds.KEPT, Typical(2.0, (100, 100), 15)),
)


class SpeedsTest(unittest.TestCase):
    def test_cases(self) -> None:
        for name, rows, wanted in CASES:
            with self.subTest(name):
                kept: speeds.Speeds = {}
                for row in rows:
                    speeds.fold(kept, row)
                self.assertEqual(speeds.typical(kept.get("e:m", ())), wanted)


if __name__ == "__main__":
    unittest.main()
