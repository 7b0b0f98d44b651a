"""/login and /logout: who shows the admin token or an invitation gets a session, as a cookie or for `bench
login` in words.

The page is a plain form; a script sends it, because a page of another site can send a form and no JSON.
"""

import time
from functools import partial

from metrics.bench import changes, fields
from metrics.dashboard import frame
from metrics.records import Problem
from metrics.store.stamps import stamp
from metrics.web import sessions
from metrics.web.door import Door
from metrics.web.table import Call, Handler, Response, Route

FORM: dict[str, fields.Check] = {
    "token": fields.maybe(fields.text(4096)),
    "invitation": fields.maybe(fields.line(200)),
    "bearer": fields.flag,
}


def sign_in(door: Door, call: Call) -> Response:
    """`POST /login` {token or invitation, bearer?} -> {ok, name, role, expires, session?} and the cookie;
    with `bearer` the session's secret is in the reply instead, to be sent as Authorization: Bearer. Problem
    401, or 429 with the seconds until the address may try again."""
    form = fields.take(call.json(), FORM)
    token, invitation = form.get("token"), form.get("invitation")
    if (token is None) == (invitation is None):
        raise Problem(400, 'show a "token" or an "invitation"', param="token")
    if door.token is None:
        return frame.ok(expires=None, note="this server asks nobody to sign in: it has no admin token")
    person = door.sign_in(call, token) if invitation is None else door.accept(call, invitation)
    now = time.time()
    secret = sessions.begin(person, door.token, door.address(call), now)
    changes.note(person.name, f"session of {person.name}", "session", None, "begun")
    about = {"name": person.name, "role": person.role, "expires": stamp(now + sessions.LASTS)}
    if form.get("bearer"):
        return frame.ok(**about, session=secret)
    if before := door.secret(call):
        sessions.end(before)  # a browser holds one session: the one before ends where the next begins
    response = frame.ok(**about)
    response.headers += (_cookie(door, call, secret, sessions.LASTS),)
    return response


def sign_out(door: Door, call: Call) -> Response:
    """`POST /logout`: end the session that the call shows; {ok, ended: whether there was one}."""
    response = frame.ok(ended=sessions.end(door.secret(call)))
    response.headers += (_cookie(door, call, "", 0),)
    return response


def _cookie(door: Door, call: Call, value: str, seconds: int) -> tuple[str, str]:
    parts = [f"{sessions.COOKIE}={value}", "Path=/", f"Max-Age={seconds}", "HttpOnly", "SameSite=Strict"]
    return ("Set-Cookie", "; ".join([*parts, *(["Secure"] if door.encrypted(call) else [])]))


def routes(door: Door, page: Handler) -> tuple[Route, ...]:
    """What signs in through `door`; `page` shows the form."""
    return (
        Route("GET", "/login", page, frame.refused, "login", says="the form"),
        Route(
            "POST",
            "/login",
            partial(sign_in, door),
            frame.refused,
            "login",
            says="`{token or invitation, bearer?}` → `{name, role, expires}` and a session",
        ),
        Route(
            "POST", "/logout", partial(sign_out, door), frame.refused, "login", says="the end of the session"
        ),
    )
