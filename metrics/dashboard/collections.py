"""/api/collections: list, make, change and remove them."""

from metrics.bench import collections, fields
from metrics.dashboard import frame
from metrics.web.table import Call, Response


def show(call: Call) -> Response:
    listed = [collections.shown(collection) for collection in collections.all().values()]
    return frame.ok(collections=listed, problems=list(collections.SHELF.bad().values()))


def save(call: Call) -> Response:
    edits = call.json()
    name = fields.name("name", edits.pop("name", None))
    saved = collections.save(name, edits, frame.by(call))
    return frame.ok(collection=collections.shown(saved))


def remove(call: Call) -> Response:
    name = fields.take(call.json(), {"name": fields.line(100)}, required=("name",))["name"]
    collections.remove(name, frame.by(call))
    return frame.ok(removed=name)


HANDLERS = (
    frame.get(
        "/api/collections",
        show,
        says="every collection with its members",
    ),
    frame.post(
        "/api/collection",
        save,
        says="""`{name, members? or add?/remove?, explorers?, reply?, merger?, shape?, deadline?,
            description?, tags?, drop_hosted_tools?, shadow?, shadow_daily?}`: `shadow` is a rate
            from 0 to 1""",
    ),
    frame.post(
        "/api/collection/remove",
        remove,
        says="`{name}`",
    ),
)
