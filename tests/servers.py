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

NEWER, OLDER = "2026", "5.26"
"""The versions of Neo4j that are supported: the newest calendar version, and the LTS one."""

_VERSIONS = {"neo4j_2026": NEWER, "neo4j_5": OLDER}


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


@pytest.fixture(scope="session", params=[NEWER, OLDER])
def whole_server(request: pytest.FixtureRequest) -> Iterator[Neo4jServer]:
    """A Neo4j for tests that take its whole database, schema and all; each version in turn."""
    with Neo4jServer(request.param, java_flags=QUICK) as server:
        yield server


@pytest.fixture(scope="session")
def valkey() -> Iterator[ValkeyServer]:
    """A Valkey: `.url`."""
    with ValkeyServer() as server:
        yield server


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep servers' starts out of the time limit of their first test, and the second version deep.

    What runs on both versions runs on the newer one in `make test`, and on both in CI.
    """
    for item in items:
        versions = _versions(item)
        if versions and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(func_only=True))
        if OLDER in versions:
            item.add_marker(pytest.mark.deep)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fetch the jars of the servers that the chosen tests will start."""
    if session.config.option.collectonly:
        return
    for version in sorted({version for item in session.items for version in _versions(item)}):
        # the fixture will raise it again, where it is reported
        with contextlib.suppress(LocalStackError):
            ensure_jars(exact_version(version), default_cache())


def _versions(item: pytest.Item) -> set[str]:
    """Return the versions of Neo4j that a test runs on, also by a fixture named in a parameter."""
    names = set(getattr(item, "fixturenames", ()))
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    versions = {
        version
        for fixture, version in _VERSIONS.items()
        if fixture in names or fixture in parameters.values()
    }
    if "whole_server" in names:
        versions.add(parameters["whole_server"])
    return versions
