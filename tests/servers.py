"""Real servers for tests: each is started once a session, by the first test that asks for it, and ends with the session.

What a Neo4j consists of is fetched before the first test, in a process of its own: empty caches are
fine, and no test's time limit counts the download or the start.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from drift.errors import LocalStackError
from drift.offline.servers.neo4j.jars import default_cache, ensure_jars, exact_version
from drift.offline.servers.neo4j.server import Neo4jServer
from drift.offline.servers.valkey_server import ValkeyServer

QUICK = ("-XX:TieredStopAtLevel=1",)
"""Without its optimising compiler Java starts a server with a third less work, which is what short
tests want."""

_VERSIONS = {"neo4j_2026": "2026", "neo4j_5": "5.26"}


@pytest.fixture(scope="session")
def neo4j_2026() -> Iterator[Neo4jServer]:
    """A Neo4j of the calendar versions: `.uri`, `.user`, `.password`, `.database`."""
    with Neo4jServer(_VERSIONS["neo4j_2026"], java_flags=QUICK) as server:
        yield server


@pytest.fixture(scope="session")
def neo4j_5() -> Iterator[Neo4jServer]:
    """A Neo4j 5.26 LTS: `.uri`, `.user`, `.password`, `.database`."""
    with Neo4jServer(_VERSIONS["neo4j_5"], java_flags=QUICK) as server:
        yield server


@pytest.fixture(scope="session")
def valkey() -> Iterator[ValkeyServer]:
    """A Valkey: `.url`."""
    with ValkeyServer() as server:
        yield server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the start of a server out of the time limit of the test that happens to be the first to use it."""
    for item in items:
        if _neo4j_fixtures(item) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(func_only=True))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fetch the jars of the servers that the chosen tests will start."""
    if session.config.option.collectonly:
        return
    for name in sorted({name for item in session.items for name in _neo4j_fixtures(item)}):
        with contextlib.suppress(
            LocalStackError
        ):  # the fixture will raise it again, where it is reported
            ensure_jars(exact_version(_VERSIONS[name]), default_cache())


def _neo4j_fixtures(item: pytest.Item) -> set[str]:
    """Return the Neo4j fixtures of a test, also those it names in a parameter."""
    parameters = getattr(item, "callspec", None)
    names = {str(value) for value in parameters.params.values()} if parameters else set()
    return (names | set(getattr(item, "fixturenames", ()))) & set(_VERSIONS)
