"""The one line of the log about a request that came, written once its answer has been sent."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterable, AsyncIterator
from contextvars import Context
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response, StreamingResponse

from drift.core.logs import REQUEST_ENDED, log
from drift.http.asgi import CLIENT_GONE
from drift.http.route import Call, Route
from drift.telemetry.arrivals import Arrival
from drift.telemetry.parts import Part


@dataclass(slots=True)
class RequestLine:
    """What is told of a request; `context` has what its lines are bound to."""

    arrival: Arrival
    part: Part
    context: Context
    status: int = CLIENT_GONE
    sent: int = 0

    def watch(self, response: Response) -> None:
        """Count what is sent of a response, whose status holds once that is all."""
        if isinstance(response, StreamingResponse):
            response.body_iterator = self._counted(response.body_iterator, response.status_code)
        else:
            self.status, self.sent = response.status_code, len(response.body)

    async def _counted(self, body: AsyncIterable[Any], status: int) -> AsyncIterator[Any]:
        async for part in body:
            self.sent += len(part)
            yield part
        self.status = status

    def write(self, route: Route, call: Call) -> None:
        """Write it; what browsers and probes fetch all the time is seen by who debugs alone."""
        is_noise = route.is_open or route.path.startswith("health/")
        level = logging.DEBUG if is_noise and self.status < 400 else logging.INFO  # noqa: PLR2004 - HTTP's own
        cost, spending = self.part.cost, self.part.spending
        about: dict[str, object] = {
            "method": call.request.method,
            "route": f"/{route.path}",
            "status": self.status,
            "duration_s": time.monotonic() - self.arrival.at,
            "bytes": self.sent,
            "retrieval_id": call.retrieval_id,
            **self.arrival.known,
        }
        if phases := self.part.phases:
            about["phases"] = {phase.value: part.duration_s for phase, part in phases.items()}
        if cost.prompt_tokens or cost.completion_tokens:
            about["prompt_tokens"] = cost.prompt_tokens
            about["completion_tokens"] = cost.completion_tokens
        if (prices := call.prices) and (priced := prices.cost(spending)):
            about |= {"cost": priced.amount, "currency": priced.currency}
        self.context.run(log.log, level, REQUEST_ENDED, extra=about)


def write_unrouted(method: str, status: int) -> None:
    """Write the line of a request that no route answers; whatever its path is, it is not told."""
    log.info(
        REQUEST_ENDED,
        extra={"method": method, "route": "none", "status": status, "duration_s": 0.0},
    )
