"""Panels, seats and answers for tests, with everything that does not matter filled in."""

from metrics.records import Answer, Panel, Request, Seat, Target, Usage

AT = 1_796_000_000.25
ID = "p20261129-142645-0a1b2c3d"


def target(alias, builtin=False):
    return Target(alias, f"e:{alias}", "e", "e", alias, "http://127.0.0.1:9/v1", builtin=builtin)


def seat(alias, name="member1", builtin=False):
    return Seat(f"{ID}.{name}", name.rstrip("0123456789"), target(alias, builtin))


def answer(alias, text="fine", name="member1", status="ok", **more):
    return Answer(seat(alias, name), status, text, usage=more.pop("usage", Usage(10, 0, 0, 5, 0)), **more)


def failed(alias, http_status=502, name="member1", status="error", **more):
    return answer(
        alias, "", name, status, http_status=http_status, message=f"{alias} failed", usage=Usage(), **more
    )


def panel(*aliases, reply="all", skipped=(), messages=None, **request):
    asked = Request("bench/core", "core", reply, messages or [{"role": "user", "content": "why?"}], **request)
    seats = tuple(seat(alias, f"member{number}") for number, alias in enumerate(aliases, start=1))
    return Panel(ID, asked, "general", "default", seats, tuple(skipped), None, 300.0, {"seed": 7}, AT)
