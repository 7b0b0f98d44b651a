"""/api/access, /api/sessions, /api/invitations: who can reach this server, is signed in, is asked in.

The secret of an invitation is in one reply, that of its making, as the link to hand on.
"""

import os
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from metrics.bench import changes, fields, keys
from metrics.dashboard import frame
from metrics.dashboard.status import exposure
from metrics.records import Problem
from metrics.store.stamps import epoch, stamp
from metrics.web import invitations, public, roles, sessions
from metrics.web.door import LOOPBACK, Door
from metrics.web.table import Call, Response, Route

INVITATION: dict[str, fields.Check] = {
    "name": fields.alias,
    "role": fields.maybe(fields.one_of(*roles.ROLES)),
    "expires": fields.maybe(keys.moment),
}
NAMED: dict[str, fields.Check] = {"name": fields.line(64)}
OPEN = (
    "this server asks nobody to sign in, so there is nobody to invite: start it with "
    "BENCHWARMERS_ADMIN_TOKEN set"
)


def show(door: Door, call: Call) -> Response:
    """Who asks, and who can reach this server by which doors."""
    return frame.ok(
        you={"name": call.who.name, "role": call.who.role},
        exposure=exposure(os.environ),
        **reach(os.environ),
        keys_required=door.required,
        login=door.token is not None,
        https=door.encrypted(call),
    )


def reach(env: Mapping[str, str]) -> dict[str, Any]:
    """Where the server listens, and the names by which it lets itself be called."""
    bind = env.get("BENCH_BIND") or LOOPBACK[0]
    return {
        "bind": bind,
        "beyond": bind not in LOOPBACK,
        "public_url": public.address(env),
        "hosts": _listed(env.get("BENCH_ALLOWED_HOSTS", "")),
        "origins": _listed(env.get("BENCH_ALLOWED_ORIGINS", "")),
        "proxies": _listed(env.get("BENCH_TRUSTED_PROXIES", "")),
    }


def _listed(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]


# --- sessions


def show_sessions(door: Door, call: Call) -> Response:
    """Everybody who is signed in, and the addresses that were refused since the server began."""
    return frame.ok(sessions=_sessions(door, call), refused=_refused(door))


def _sessions(door: Door, call: Call) -> list[dict[str, Any]]:
    listed = sessions.all(door.token, time.time()) if door.token is not None else []
    return [
        {
            "id": one.person.session,
            "name": one.person.name,
            "role": one.person.role,
            "begun": one.begun,
            "seen": one.seen,
            "expires": one.expires,
            "address": one.address,
            "yours": one.person.session == call.who.session,
        }
        for one in listed
    ]


def _refused(door: Door) -> list[dict[str, Any]]:
    """Both kinds of what may be tried: `what` is a sign-in or a key."""
    now = time.time()
    told = [
        {"what": what, "address": address, "times": count, "at": stamp(now - ago), "wait_s": round(wait, 1)}
        for what, tries in (("sign-in", door.logins), ("key", door.keys))
        for address, count, ago, wait in tries.all()
    ]
    return sorted(told, key=lambda one: str(one["at"]), reverse=True)


def end_session(door: Door, call: Call) -> Response:
    """{id}: sign somebody out, or oneself. Their next request is a 401, their streams end."""
    form = fields.take(call.json(), {"id": fields.line(64)}, required=("id",))
    whose = sessions.revoke(form["id"])
    changes.note(frame.by(call), f"session of {whose.name}", "session", "open", "ended")
    return frame.ok(ended=whose.name, sessions=_sessions(door, call))


# --- invitations


def show_invitations(door: Door, call: Call) -> Response:
    return frame.ok(invitations=_invitations(door))


def _invitations(door: Door) -> list[dict[str, Any]]:
    listed = invitations.all(door.token, time.time()) if door.token is not None else []
    return [
        {
            "name": one.person.name,
            "role": one.person.role,
            "made": one.made,
            "expires": one.expires,
            "by": one.by,
        }
        for one in listed
    ]


def invite(door: Door, call: Call) -> Response:
    """{name, role?, expires?} -> {link, name, role, expires}: the only reply with the link."""
    form = fields.take(call.json(), INVITATION, required=("name",))
    if door.token is None:
        raise Problem(409, OPEN, kind="conflict")
    now, role = time.time(), form.get("role") or roles.JUDGE
    expires = epoch(form["expires"]) if form.get("expires") else now + invitations.LASTS
    secret = invitations.invite(form["name"], role, expires, door.token, frame.by(call), now)
    return frame.ok(
        link=f"{_base(door, call)}/login#invitation={secret}",
        name=form["name"],
        role=role,
        expires=stamp(expires),
        invitations=_invitations(door),
    )


def withdraw(door: Door, call: Call) -> Response:
    name = fields.take(call.json(), NAMED, required=("name",))["name"]
    invitations.withdraw(name, frame.by(call))
    return frame.ok(withdrawn=name, invitations=_invitations(door))


def _base(door: Door, call: Call) -> str:
    """The server's address as others know it, else as this caller does."""
    scheme = "https" if door.encrypted(call) else "http"
    return public.address(os.environ) or f"{scheme}://{call.headers.get('host', '')}"


def routes(door: Door) -> tuple[Route, ...]:
    """The handlers of a server with this door."""
    admin = roles.ADMIN
    return (
        frame.get(
            "/api/access",
            partial(show, door),
            says="""`{you: {name, role}, exposure, bind, beyond, keys_required, login, https,
                public_url, hosts, origins, proxies}`: who asks, who can reach this server and by
                which names""",
        ),
        frame.get(
            "/api/sessions",
            partial(show_sessions, door),
            admin,
            says="""`{sessions: [{id, name, role, begun, seen, expires, address, yours}], refused:
                [{what, address, times, at, wait_s}]}`; an `id` opens nothing. `refused` are
                addresses that tried wrong tokens or keys of late, since the server began""",
        ),
        frame.post(
            "/api/session/end",
            partial(end_session, door),
            says="`{id}` → `{ended, sessions}`",
        ),
        frame.get(
            "/api/invitations",
            partial(show_invitations, door),
            admin,
            says="`{invitations: [{name, role, made, expires, by}]}`: those that nobody has used yet",
        ),
        frame.post(
            "/api/invitation",
            partial(invite, door),
            says="""`{name, role?, expires?}` → `{link, name, role, expires, invitations}`: the only
                reply with the link. `role` is `judge` (default) or `admin`, `expires` a span (`3d`,
                at most `30d`) or a date""",
        ),
        frame.post(
            "/api/invitation/withdraw",
            partial(withdraw, door),
            says="`{name}` → `{withdrawn, invitations}`",
        ),
    )
