import unittest

from metrics.records import Problem
from metrics.web import roles
from metrics.web.roles import ADMIN, JUDGE, Person


class RolesTest(unittest.TestCase):
    # whose role, for whom the route is, enters
    CASES = [
        (ADMIN, ADMIN, True),
        (ADMIN, JUDGE, True),
        (JUDGE, JUDGE, True),
        (JUDGE, ADMIN, False),
        (JUDGE, "", False),
        ("", JUDGE, False),
        ("owner", JUDGE, False),
        ("owner", ADMIN, False),
    ]

    def test_who_may(self) -> None:
        for role, who, enters in self.CASES:
            with self.subTest(role, who=who):
                try:
                    roles.check(Person("anna", role), who)
                    self.assertTrue(enters)
                except Problem as problem:
                    self.assertFalse(enters)
                    self.assertEqual(problem.status, 403)
                    self.assertIn("anna", problem.message)


if __name__ == "__main__":
    unittest.main()
