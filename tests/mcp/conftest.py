"""The function with the servers of its own tests, and services in memory behind its routes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from unittest import mock

import pytest
import pytest_asyncio

import function_app
from drift.http.auth import Authentication
from drift.http.service import Service
from drift.http.settings import load_access
from drift.local.hosts.local_host import LocalHost
from drift.local.hosts.same_machine import SameMachine
from drift.local.hosts.server import listening
from tests.function.conftest import (
    base_settings,
    corpus,
    environment,
    function,
    graph_server,
    no_settings,
)
from tests.security.conftest import Given

__all__ = ["base_settings", "corpus", "environment", "function", "graph_server", "no_settings"]

OWN, FOREIGN = "drift.example", "elsewhere.example"
Serve = Callable[..., None]


@pytest.fixture
def serve(no_settings: None, monkeypatch: pytest.MonkeyPatch) -> Serve:  # noqa: ARG001 - none of this machine
    """Put a service behind the routes, and callers who are told apart by these settings."""

    def put(service: Service, **access: str) -> None:
        monkeypatch.setattr(function_app, "provider", Given(service))
        entrance = Authentication(
            platform_asks_for_keys=not access, read_settings=lambda: load_access(access)
        )
        monkeypatch.setattr(function_app, "authentication", entrance)

    return put


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url() -> AsyncIterator[str]:
    """The function's routes."""
    async with listening(LocalHost().app(), 0) as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bare_url() -> AsyncIterator[str]:
    """The function's routes, without the guard that the local host has before them."""
    with mock.patch.object(SameMachine, "_objection", return_value=None):
        async with listening(LocalHost().app(), 0) as address:
            yield address
