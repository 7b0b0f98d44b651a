"""Who is at the dashboard, and what each role may: an admin everything, a judge read and give verdicts.

A route says who may use it (`Route.who`); the guard asks here. Callers of the gateway are no persons: they
have keys.
"""

from dataclasses import dataclass

from metrics.records import Problem

ADMIN, JUDGE = "admin", "judge"
ROLES = (ADMIN, JUDGE)


@dataclass(frozen=True, slots=True)
class Person:
    """`name` stands beside what this person changes and judges. `session` is the id of the session that let
    them in, empty without one."""

    name: str
    role: str = ADMIN
    session: str = ""


LOCAL = Person("local")  # where nobody signs in, everybody on this computer is the same person
OWNER = Person("admin")  # whoever shows the admin token
RESERVED = (LOCAL.name, OWNER.name)  # no invitation is for them


def check(person: Person, who: str) -> None:
    """Problem 403 unless the person may use a route that is for `who`: a role. An admin may use all."""
    if person.role == ADMIN or (who == JUDGE and person.role == JUDGE):
        return
    raise Problem(
        403,
        f"you are signed in as {person.name}, a judge: a judge reads, and gives verdicts and claims. Ask an "
        "admin of this server for the rest",
        code="role",
        retryable=False,
    )
