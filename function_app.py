"""The Azure edge: every route as a function, the timer, and what lives as long as the process.

No logic. Importing this module reads no setting but two, which the platform wants to know by then:
AUTH_MODE, whether it asks for function keys, and RECONCILE_SCHEDULE, when its timer fires. Neither
can fail. Nothing is opened; the SDKs load with the first request.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import azure.functions as func
from azurefunctions.extensions.http.fastapi import Request, Response

from drift.http import at_import
from drift.http.auth import Authentication
from drift.http.dispatcher import Dispatcher
from drift.http.provider import ServiceProvider
from drift.http.route import Route
from drift.http.timer import NodeTimer
from drift.routes import ROUTES
from drift.telemetry import otel

# Its lines hold the whole URL, and with it a function key that is given as `?code=`.
logging.getLogger("uvicorn.access").addFilter(lambda _record: False)

try:
    # This runtime never forgets an invocation by itself. Another runtime has nothing to repair.
    from azure_functions_runtime.http_v2 import http_coordinator

    _INVOCATIONS = getattr(http_coordinator, "_context_references", None)
except ImportError:
    _INVOCATIONS = None

PLATFORM_ASKS = at_import.platform_asks_for_keys()
SCHEDULE = at_import.schedule()

app = func.FunctionApp(
    http_auth_level=func.AuthLevel.FUNCTION if PLATFORM_ASKS else func.AuthLevel.ANONYMOUS
)
dispatcher = Dispatcher(Authentication(platform_asks_for_keys=PLATFORM_ASKS), ServiceProvider())
node_timer = NodeTimer(dispatcher.provider)


def endpoint(route: Route) -> Callable[[Request, func.Context], Awaitable[Response]]:
    """Return what the platform calls for a route, under the route's name; nothing of it stays.

    The runtime reads the parameters and annotations of `run`.
    """

    async def run(req: Request, context: func.Context) -> Response:
        def forget() -> None:
            if _INVOCATIONS is not None:
                _INVOCATIONS.pop(context.invocation_id, None)

        return await dispatcher.answer(route, req, context, forget)

    run.__name__, run.__doc__ = route.name, route.handler.__doc__
    return run


# One by one, as the platform compares routes without case and counts calls by a function's name.
for one in ROUTES:
    level = func.AuthLevel.ANONYMOUS if one.is_open else None
    app.route(route=one.path, methods=one.methods.split(), auth_level=level)(endpoint(one))


async def reconcile(timer: func.TimerRequest, context: func.Context) -> None:
    """Name and mend what differs between people's nodes and their vectors."""
    with otel.invocation(context, {}):
        await node_timer.fire(is_late=timer.past_due)


if SCHEDULE is not None:  # without one the platform knows of no timer, and wants no storage for it
    app.timer_trigger(arg_name="timer", schedule=SCHEDULE)(reconcile)
