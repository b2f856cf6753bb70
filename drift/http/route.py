"""A route, and a call of it: what a handler is given."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from types import UnionType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from drift.auth.caller import NOBODY, Caller, Project
from drift.contracts.answer import Problem
from drift.contracts.parameters import Parameters
from drift.contracts.progress import Event
from drift.contracts.request import MAX_BODY_BYTES
from drift.core.errors import DriftError
from drift.http import http
from drift.http.auth import Authentication
from drift.http.provider import ServiceProvider
from drift.telemetry import arrivals

if TYPE_CHECKING:  # it loads what only a first request shall
    from drift.http.service import Service
    from drift.search.prices import PriceTable


@dataclass(eq=False)
class Call:
    """One HTTP call, and what its route reads of it, once that is known to be right.

    It has an id of its own until its body names one. `at_end` ends what runs for it. `prices` are
    those of the service that it was given.
    """

    request: Request
    authentication: Authentication
    provider: ServiceProvider
    retrieval_id: str = field(default_factory=lambda: str(uuid4()))
    caller: Caller = NOBODY
    query: Any = None
    id: str = ""
    body: Any = None
    at_end: Callable[[], Awaitable[object]] | None = None
    prices: PriceTable | None = None

    async def service(self) -> Service:
        """Return the service of the settings; NotConfiguredError where they are wrong."""
        start = time.monotonic()
        service = await self.provider.get()
        arrivals.current().building_s += time.monotonic() - start
        self.prices = service.prices
        return service

    async def project(self, named: str | None) -> Project:
        """Return the project to read; one that the caller may not read opens nothing."""
        if named is not None:
            return self.caller.project(named)
        return await (await self.service()).project(self.caller, None)


Handler = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, eq=False)
class Route:
    """A route: its handler, what is read for it on the way there, and what is told of it.

    Its handler's name is that of the function. A service is asked first whether it `opens` the
    route. A handler that `reads_body` reads and checks the body itself. `problem` makes the answer
    of an error. Whoever calls needs no credential where it `is_open`, because it holds no data.
    One that is to go is `deprecated` since a time, and gone after `sunset`, both in UTC.

    The description's summary is the first sentence of the handler's docstring, and what it says of
    the answer the rest.
    """

    methods: str
    path: str
    handler: Handler
    shape: type[BaseModel] | UnionType | None = None
    errors: tuple[int, ...] = ()
    events: tuple[Event, ...] = ()
    query: type[Parameters] | None = None
    body: type[BaseModel] | None = None
    most: int = MAX_BODY_BYTES
    opens: Callable[[Service], object] | None = None
    reads_body: bool = False
    is_open: bool = False
    is_described: bool = True
    problem: Callable[[DriftError, str], Response] = http.problem
    error: type[BaseModel] = Problem
    status: int = 200
    id: str = ""
    deprecated: datetime | None = None
    sunset: datetime | None = None

    @property
    def name(self) -> str:
        """The name of the function, by which the platform and its operators know it."""
        return self.handler.__name__
