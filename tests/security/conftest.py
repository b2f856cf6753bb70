"""The function with the servers of its own tests.

And behind its routes, if a test likes, a service of the test's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import function_app
from drift.http.service import Service
from tests.function.conftest import base_settings, corpus, environment, graph_server, no_settings
from tests.security.canaries import Outputs, watching
from tests.telemetry_fixture import Recorded

__all__ = ["base_settings", "corpus", "environment", "graph_server", "no_settings"]


@pytest.fixture
def outputs(recorded: Recorded) -> Iterator[Outputs]:
    """All that comes out."""
    del recorded  # empty from here
    yield from watching(Outputs())


class Given:
    """The process-wide object with a service in it that somebody has built."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def get(self) -> Service:
        return self._service

    async def stop(self) -> None:
        await self._service.admission.stop()

    async def close(self) -> None:
        await self._service.close()


@pytest.fixture
def behind_the_routes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Service], None]:
    """Put a service behind the function's routes, in the place of one built from the settings."""
    return lambda service: monkeypatch.setattr(function_app, "provider", Given(service))
