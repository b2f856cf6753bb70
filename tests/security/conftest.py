"""The function with the servers of its own tests.

And behind its routes, if a test likes, a service of the test's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from drift.http.dispatcher import Dispatcher
from drift.http.service import Service
from drift.local.hosts.local_host import build_dispatcher
from tests.fake_service import put_behind
from tests.function.conftest import base_settings, corpus, environment, graph_server, no_settings
from tests.security.canaries import Outputs, watching
from tests.telemetry_fixture import Recorded

__all__ = ["base_settings", "corpus", "environment", "graph_server", "no_settings"]


@pytest.fixture
def outputs(recorded: Recorded) -> Iterator[Outputs]:
    """All that comes out."""
    del recorded  # empty from here
    yield from watching(Outputs())


@pytest.fixture(scope="module")
def dispatcher() -> Dispatcher:
    """What answers the calls of a module's tests."""
    return build_dispatcher()


@pytest.fixture
def behind_the_routes(dispatcher: Dispatcher) -> Callable[[Service], None]:
    """Put a service behind the function's routes, in the place of one built from the settings."""
    return partial(put_behind, dispatcher)
