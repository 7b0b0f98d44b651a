"""/api/settings: what holds for the whole bench."""

from metrics.bench import settings
from metrics.dashboard import frame
from metrics.web.table import Call, Response


def show(call: Call) -> Response:
    return _all()


def save(call: Call) -> Response:
    settings.save(call.json(), frame.by(call))
    return _all()


def _all() -> Response:
    about = {name: setting.about for name, setting in settings.SETTINGS.items()}
    usual = {name: setting.default for name, setting in settings.SETTINGS.items()}
    return frame.ok(settings=settings.all(), about=about, defaults=usual)


HANDLERS = (
    frame.get(
        "/api/settings",
        show,
        says="`{settings, about, defaults}`: those below, what each is for, and what it is unless set",
    ),
    frame.post(
        "/api/settings",
        save,
        says="any of the settings below → the same",
    ),
)
