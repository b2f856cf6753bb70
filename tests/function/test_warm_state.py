"""What a warm worker keeps between calls.

One set of clients a loop, and never a failure for long.
"""

from __future__ import annotations

import asyncio

import pytest

from drift.http.dispatcher import Dispatcher
from drift.http.provider import ServiceProvider
from drift.http.settings import Settings, load
from drift.local.hosts.local_host import build_dispatcher, serving
from tests.function.calling import Caller, assert_is_problem, calling
from tests.function.corpus import Corpus

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


class Counting:
    """Reads the settings from the environment and counts how often.

    Once for each set of clients.
    """

    def __init__(self) -> None:
        self.builds = 0

    def __call__(self) -> Settings:
        self.builds += 1
        return load()


def test_a_loop_that_is_gone_is_followed_by_new_clients(
    environment: pytest.MonkeyPatch, corpus: Corpus
) -> None:
    assert environment
    assert corpus
    dispatcher, builds = build_dispatcher(), Counting()
    dispatcher.provider = ServiceProvider(builds)

    async def asked() -> int:
        async with serving(dispatcher=dispatcher) as url, calling(url) as caller:
            return (await caller.ask(project_id="unknown")).status_code

    assert [asyncio.run(asked()) for _ in range(3)] == [200] * 3
    assert builds.builds == 3


async def test_clients_that_could_not_be_built_are_503_for_a_while_and_then_built(
    dispatcher: Dispatcher, environment: pytest.MonkeyPatch, function: Caller
) -> None:
    uri = load().neo4j_uri
    environment.delenv("NEO4J_URI")
    for pause_s, still in ((3600, 503), (0, 200)):
        counting = Counting()
        dispatcher.provider = ServiceProvider(counting, rebuild_pause_s=pause_s)
        assert_is_problem(await function.ask(), 503, "not_configured")
        environment.setenv("NEO4J_URI", uri)
        response = await function.ask(project_id="unknown")
        assert response.status_code == still
        assert counting.builds == (1 if still == 503 else 2)
        environment.delenv("NEO4J_URI")
