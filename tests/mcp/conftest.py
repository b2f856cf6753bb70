"""The function with the servers of its own tests, and services in memory behind its routes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from unittest import mock

import pytest
import pytest_asyncio

from drift.http.dispatcher import Dispatcher
from drift.local.hosts.local_host import build_app, build_dispatcher
from drift.local.hosts.loopback_server import listening
from drift.local.hosts.same_machine import SameMachine
from tests.fake_service import put_behind
from tests.function.conftest import (
    base_settings,
    corpus,
    dispatcher,
    environment,
    function,
    graph_server,
    no_settings,
)

__all__ = [
    "base_settings",
    "corpus",
    "dispatcher",
    "environment",
    "function",
    "graph_server",
    "no_settings",
]

OWN, FOREIGN = "drift.example", "elsewhere.example"
Serve = Callable[..., None]


@pytest.fixture(scope="module")
def shared_dispatcher() -> Dispatcher:
    """What answers the calls of a module's tests."""
    return build_dispatcher()


@pytest.fixture
def serve(no_settings: None, shared_dispatcher: Dispatcher) -> Serve:  # noqa: ARG001 - none of this machine
    """Put a service behind the routes, and callers who are told apart by these settings."""
    return partial(put_behind, shared_dispatcher)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(shared_dispatcher: Dispatcher) -> AsyncIterator[str]:
    """The function's routes."""
    async with listening(build_app(shared_dispatcher), 0) as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bare_url(shared_dispatcher: Dispatcher) -> AsyncIterator[str]:
    """The function's routes, without the guard that the local host has before them."""
    with mock.patch.object(SameMachine, "_objection", return_value=None):
        async with listening(build_app(shared_dispatcher), 0) as address:
            yield address
