"""Real servers for tests: the first test that asks for one starts it, and it ends with the session.

Workers that run side by side share one Neo4j of each version (`shared_servers.py`). A server of
which a test takes everything, and whatever starts in no time, each worker has for itself.

What a Neo4j consists of is fetched before the first test, in a process of its own: empty caches are
fine, and no test's time limit counts the download or the start.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from drift.core.errors import LocalStackError
from drift.local.stack.neo4j.jars import default_cache, ensure_jars, exact_version
from drift.local.stack.neo4j.server import Neo4jServer
from drift.local.stack.valkey_server import ValkeyServer
from tests.shared_servers import Address, SharedServers, ask_for

QUICK = ("-XX:TieredStopAtLevel=1",)
"""Without its optimising compiler Java starts with a third less work, which short tests want."""

PLANS_STAY = {
    "dbms.cypher.statistics_divergence_threshold": "1.0",
    "dbms.cypher.min_replan_interval": "1h",
}
"""A plan is made again when the schema changes, but not when the data grows: each test fills a
database that was nearly empty, and a search takes the planner seconds."""

NOBODY_LOCKED_OUT = {"dbms.security.auth_max_failed_attempts": "0"}
"""A test that logs in with a wrong password costs those beside it nothing."""

NEWER, OLDER = "2026", "5.26"
"""The versions of Neo4j that are supported: the newest calendar version, and the LTS one."""

_VERSIONS = {"neo4j_2026": NEWER, "neo4j_5": OLDER}


_ADDRESS = "servers"
_shared = pytest.StashKey[SharedServers]()


@pytest.fixture(scope="session")
def neo4j_2026(request: pytest.FixtureRequest) -> Iterator[Neo4jServer]:
    """A Neo4j of the calendar versions: `.uri`, `.user`, `.password`, `.database`."""
    with _of_all_workers(request.config, NEWER) as server:
        yield server


@pytest.fixture(scope="session")
def neo4j_5(request: pytest.FixtureRequest) -> Iterator[Neo4jServer]:
    """A Neo4j 5.26 LTS: `.uri`, `.user`, `.password`, `.database`."""
    with _of_all_workers(request.config, OLDER) as server:
        yield server


@contextlib.contextmanager
def _of_all_workers(config: pytest.Config, version: str) -> Iterator[Neo4jServer]:
    """Give the server of this version: the one that all workers share, if there are workers."""
    if address := _address(config):
        facts = ask_for(version, address)
        server = Neo4jServer(version, password=facts["password"])
        server.port = facts["port"]
        yield server
        return

    with _started(version) as server:
        yield server


def _address(config: pytest.Config) -> Address | None:
    address: Address | None = getattr(config, "workerinput", {}).get(_ADDRESS)
    return address


def _started(version: str) -> Neo4jServer:
    return Neo4jServer(version, java_flags=QUICK, settings={**PLANS_STAY, **NOBODY_LOCKED_OUT})


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist where to ask; the process that starts it runs the servers."""
    stash = node.config.stash
    if _shared not in stash:
        starts = {version: partial(_started, version) for version in (NEWER, OLDER)}
        stash[_shared] = SharedServers(starts)
    node.workerinput[_ADDRESS] = stash[_shared].address


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the servers after the last worker."""
    if _shared in config.stash:
        config.stash[_shared].stop()


@pytest.fixture(scope="session", params=[NEWER])
def whole_server(request: pytest.FixtureRequest) -> Iterator[Neo4jServer]:
    """A Neo4j for tests that take its whole database, schema and all."""
    with _started(request.param) as server:
        yield server


on_whole_servers_of_both_versions = pytest.mark.parametrize(
    "whole_server", [NEWER, OLDER], indirect=True, scope="session"
)
"""For a module whose statements differ by the server's version."""


@pytest.fixture(autouse=True)
def _searches_may_be_slow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no search of a test on a server fail by the machine's load.

    A statement is compiled when it is new, and again after each change of the schema.
    """
    if _versions(request.node):
        monkeypatch.setattr("drift.graph.careful.COLD_TIMEOUT_S", 120.0)
        monkeypatch.setattr("drift.graph.careful.READ_TIMEOUT_S", 60.0)


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
        if versions:
            item.add_marker(_limit_of_the_test_alone(item), append=False)
        if OLDER in versions:
            item.add_marker(pytest.mark.deep)


def _limit_of_the_test_alone(item: pytest.Item) -> pytest.MarkDecorator:
    """Return the test's time limit, or the usual one, without the time of its fixtures."""
    own = item.get_closest_marker("timeout")
    if own is None:
        return pytest.mark.timeout(func_only=True)
    return pytest.mark.timeout(*own.args, **{**own.kwargs, "func_only": True})


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
