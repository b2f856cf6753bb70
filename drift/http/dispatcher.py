"""The way of a request: who asks, what is asked, the handler, and an answer whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from functools import partial

from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from drift.auth import quotas
from drift.core.errors import UnauthenticatedError
from drift.core.logs import bound
from drift.http import answer_headers, http
from drift.http.asgi import CLIENT_GONE, read_body
from drift.http.auth import Authentication
from drift.http.provider import ServiceProvider
from drift.http.query import parse_query, path_id
from drift.http.request_line import RequestLine
from drift.http.route import Call, Route
from drift.telemetry import arrivals, otel, parts


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
            line = RequestLine(arrival, part, copy_context())

        line.watch(response)
        answer_headers.name(response, request.headers, call.retrieval_id)
        response.headers.update(answer_headers.quota(limits) | answer_headers.going(route))

        async def finish() -> None:
            await call.at_end()
            at_end()
            line.write(route, call)

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
