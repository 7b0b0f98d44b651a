"""The dashboard: one module a page, each with the handlers it needs."""

from metrics.dashboard import (
    backup,
    catalog,
    collections,
    disk,
    endpoints,
    export,
    keys,
    models,
    panels,
    quotas,
    route,
    settings,
    status,
    stop,
    usage,
    why,
)

HANDLERS = (
    *status.HANDLERS,
    *endpoints.HANDLERS,
    *models.HANDLERS,
    *collections.HANDLERS,
    *panels.HANDLERS,
    *export.HANDLERS,
    *stop.HANDLERS,
    *why.HANDLERS,
    *route.HANDLERS,
    *keys.HANDLERS,
    *quotas.HANDLERS,
    *usage.HANDLERS,
    *catalog.HANDLERS,
    *settings.HANDLERS,
    *disk.HANDLERS,
    *backup.HANDLERS,
)
