"""/api/backup: a copy of the data folder, streamed as it is made. Secrets leave the folder's computer by no
route: `bench backup --with-secrets` adds them there."""

import time

from metrics.dashboard import frame
from metrics.store import backup
from metrics.store.stamps import stamp
from metrics.web import roles
from metrics.web.table import Call, Response


def take(call: Call) -> Response:
    now = time.time()
    name = f"benchwarmers-{stamp(now)[:19].replace(':', '')}.zip"
    headers = (
        ("Content-Type", "application/zip"),
        ("Content-Disposition", f'attachment; filename="{name}"'),
    )
    return Response(200, headers, backup.packed(backup.cut(now)))


HANDLERS = (
    frame.get(
        "/api/backup",
        take,
        roles.ADMIN,
        says="a copy of the data folder as a zip file, without secrets, made while the server works",
    ),
)
