import unittest
from dataclasses import field, replace

from metrics.values import dataclass


@dataclass(frozen=True, slots=True)
class Named:
    name: str
    more: tuple[str, ...] = ()
    kept: list[str] = field(default_factory=list, compare=False)


class TestValues(unittest.TestCase):
    def test_values_are_compared_and_hashed_by_their_fields(self):
        self.assertEqual({Named("a"), Named("a"), Named("b")}, {Named("a"), Named("b")})
        self.assertNotEqual(Named("a"), Named("a", ("x",)))

    def test_another_is_made_of_one(self):
        one = Named("a", ("x",))
        self.assertEqual(replace(one, name="b"), Named("b", ("x",)))
        self.assertIsNot(Named("a").kept, Named("a").kept)

    def test_a_value_has_its_fields_and_no_others(self):
        self.assertFalse(hasattr(Named("a"), "__dict__"))
        self.assertEqual(Named.__match_args__, ("name", "more", "kept"))


if __name__ == "__main__":
    unittest.main()
