"""The way of a request: who asks, what is asked, the handler, an answer and a line in the log."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextvars import copy_context
from functools import partial
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from drift.auth import quotas
from drift.core.errors import UnauthenticatedError
from drift.core.logs import REQUEST_ENDED, bound, log
from drift.http import answer_headers, http
from drift.http.asgi import CLIENT_GONE, read_body
from drift.http.auth import Authentication
from drift.http.provider import ServiceProvider
from drift.http.query import parse_query, path_id
from drift.http.route import Call, Route
from drift.telemetry import arrivals, otel, parts
from drift.telemetry.arrivals import Arrival
from drift.telemetry.parts import Part


class Dispatcher:
    """Answers calls of routes; what it has opened lives as long as the process."""

    def __init__(self, authentication: Authentication, provider: ServiceProvider) -> None:
        """Open nothing yet."""
        self.authentication = authentication
        self.provider = provider

    async def answer(
        self,
        route: Route,
        request: Request,
        context: otel.Invocation,
        at_end: Callable[[], object] = lambda: None,
    ) -> Response:
        """Return the answer to a call, errors as well; `at_end` is called when it has been sent."""
        call = Call(request, self.authentication, self.provider)
        named = bound(request_id=answer_headers.request_id(request.headers))
        with (
            arrivals.arriving() as arrival,
            otel.invocation(context, request.headers),
            named,
            quotas.counting() as limits,
            parts.measured() as part,
        ):
            response = await self._guarded(route, call)
            here = copy_context()

        if isinstance(response, StreamingResponse):
            response.body_iterator = _sent(response.body_iterator, arrival, response.status_code)
        else:
            arrival.status = response.status_code
        answer_headers.name(response, request.headers, call.retrieval_id)
        response.headers.update(answer_headers.quota(limits) | answer_headers.going(route))

        async def finish() -> None:
            if call.at_end:
                await call.at_end()
            at_end()
            here.run(_tell, route, call, arrival, part)

        response.background = BackgroundTask(finish)
        return response

    async def _guarded(self, route: Route, call: Call) -> Response:
        """Return the handler's response, or that of an error."""
        path, headers = call.request.url.path, call.request.headers
        try:
            await self._read(route, call)
            return await route.handler(call)
        except ClientDisconnect:  # in the middle of its own request
            return Response(status_code=CLIENT_GONE)
        except Exception as error:  # noqa: BLE001 - it becomes an answer
            told = http.log_failure(error, {"retrieval_id": call.retrieval_id}, path)
            response = route.problem(told, call.retrieval_id)
            if isinstance(error, UnauthenticatedError):
                challenge = self.authentication.challenge(path, headers)
                response.headers["www-authenticate"] = challenge
            return response

    async def _read(self, route: Route, call: Call) -> None:
        """Fill a call with what its route reads: the caller first, before all else is opened."""
        # A body over this is parsed in a thread, while others are served.
        long_bytes = 1 << 17
        request, scope = call.request, call.request.scope
        if not route.is_open:
            call.caller = await self.authentication.caller(request.headers)
            arrivals.tell(caller=call.caller.name)

        if route.opens:
            route.opens(await call.service())

        body = None
        if route.body and not route.reads_body:
            http.check_media_type(request.headers)
            body = await read_body(request, route.most)

        if route.query:
            call.query = parse_query(scope["query_string"], route.query)
            if "{" in route.path:
                call.id = path_id(scope["raw_path"], route.path)

        if route.body and body is not None:
            parse = partial(http.parse, body, route.body)
            is_long = len(body) > long_bytes
            call.body = await asyncio.to_thread(parse) if is_long else parse()


async def _sent(body: AsyncIterable[Any], arrival: Arrival, status: int) -> AsyncIterator[Any]:
    """Yield a stream's parts; its status holds once they are all sent."""
    async for part in body:
        yield part
    arrival.status = status


def _tell(route: Route, call: Call, arrival: Arrival, part: Part) -> None:
    """Write the line of a request; who debugs alone sees what probes and browsers fetch."""
    status, cost = arrival.status or CLIENT_GONE, part.cost
    is_asked_often = route.is_open or route.path.startswith(("health/", "metrics"))
    is_noise = is_asked_often and status < 400  # noqa: PLR2004 - HTTP's own
    about: dict[str, object] = {
        "method": call.request.method,
        "route": f"/{route.path}",
        "status": status,
        "duration_s": time.monotonic() - arrival.at,
        "retrieval_id": call.retrieval_id,
        **arrival.known,
    }
    if part.phases:
        about["phases"] = {phase.value: one.duration_s for phase, one in part.phases.items()}
    if cost.prompt_tokens:
        about |= cost.model_dump(include={"prompt_tokens", "completion_tokens"})
    if call.prices and (priced := call.prices.cost(part.spending)):
        about |= {"cost": priced.amount, "currency": priced.currency}
    log.log(logging.DEBUG if is_noise else logging.INFO, REQUEST_ENDED, extra=about)
