"""/login and /logout: who shows the admin token gets a session, as a cookie or for `bench login` in words.

The page is a plain form; a script sends it, because a page of another site can send a form and no JSON.
"""

import time
from functools import partial

from metrics.bench import fields
from metrics.dashboard import frame
from metrics.store.stamps import stamp
from metrics.web import sessions
from metrics.web.door import Door
from metrics.web.table import Call, Handler, Response, Route

FORM: dict[str, fields.Check] = {"token": fields.text(4096), "bearer": fields.flag}


def sign_in(door: Door, call: Call) -> Response:
    """`POST /login` {token, bearer?} -> {ok, expires, session?} and the cookie; with `bearer` the session's
    secret is in the reply instead, to be sent as Authorization: Bearer. Problem 401, or 429 with the seconds
    until the address may try again."""
    form = fields.take(call.json(), FORM, required=("token",))
    if door.token is None:
        return frame.ok(expires=None, note="this server asks nobody to sign in: it has no admin token")
    door.sign_in(call, form["token"])
    now = time.time()
    secret = sessions.begin(door.token, door.address(call), now)
    expires = stamp(now + sessions.LASTS)
    if form.get("bearer"):
        return frame.ok(expires=expires, session=secret)
    response = frame.ok(expires=expires)
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
        Route("GET", "/login", page, frame.refused, "login"),
        Route("POST", "/login", partial(sign_in, door), frame.refused, "login"),
        Route("POST", "/logout", partial(sign_out, door), frame.refused, "login"),
    )
