"""The dashboard: one module a page, each with the handlers it needs."""

from metrics.dashboard import collections, endpoints, models, panels, route, settings, status

HANDLERS = (
    *status.HANDLERS,
    *endpoints.HANDLERS,
    *models.HANDLERS,
    *collections.HANDLERS,
    *panels.HANDLERS,
    *route.HANDLERS,
    *settings.HANDLERS,
)
