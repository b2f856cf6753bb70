"""The routes by which a platform and its operators see how the function stands."""

from __future__ import annotations

import asyncio
import json

from starlette.responses import Response

from drift.core.errors import NotFoundError
from drift.http import http
from drift.http.route import Call
from drift.telemetry import prometheus


async def health_live(_call: Call) -> Response:
    """Whether the process serves; touches nothing."""
    return Response(status_code=200)


async def health_ready(call: Call) -> Response:
    """Whether requests can be served, one entry a dependency."""
    readiness = {
        "access": await call.authentication.readiness(),
        **await (await call.service()).health.readiness(),
    }
    ready = all(one.serves for one in readiness.values())
    words = {name: str(one) for name, one in readiness.items()}

    return _json(200 if ready else 503, {"status": "ready" if ready else "not_ready", **words})


async def health_neo4j(call: Call) -> Response:
    """Whether the graph answers."""
    graph = (await (await call.service()).health.graph_readiness())["graph"]
    if graph.serves:
        return _json(200, {"status": "healthy", "message": graph.reason or "Neo4j answers."})
    return _json(503, {"status": "unhealthy", "message": str(graph)})


async def metrics(call: Call) -> Response:
    """What this process has counted, for Prometheus."""
    if not (await call.service()).settings.enable_metrics:
        raise NotFoundError("There is nothing under this path unless ENABLE_METRICS is true.")
    text = await asyncio.to_thread(prometheus.text)
    return Response(text, media_type=prometheus.MEDIA_TYPE)


def _json(status: int, body: dict[str, str]) -> Response:
    return Response(json.dumps(body), status, media_type=http.JSON)
