"""Fixtures for all tests."""

import hashlib
import inspect
import os
import re
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import httpcore2
import pytest
from blockbuster import blockbuster_ctx
from hypothesis import settings

from tests.runtime.worker_process import REASON as IN_ANOTHER_JOB

pytest_plugins = [
    "tests.model_server_fixture",
    "tests.remarks",
    "tests.open_connections",
    "tests.servers",
    "tests.telemetry_fixture",
]

ALL_SLOW = re.compile(r"^pytestmark = (?:\[[^]]*)?pytest\.mark\.slow", re.MULTILINE)
"""What a file says whose tests are all slow."""

settings.register_profile("project", max_examples=50, deadline=None)
settings.register_profile("long", max_examples=100, deadline=None)
settings.load_profile("project")


def pytest_configure() -> None:
    """Give processes that tests start Ctrl-C as a terminal does.

    A shell in the background has it ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _made_once() -> Iterator[None]:
    """Compute once what each new client and service computes anew, to the same: the certificates
    that are trusted, and the secret of the caches' entries.

    Both take a tenth of a second, in hundreds of tests.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        patch.setattr(hashlib, "scrypt", cache(hashlib.scrypt))
        yield


@pytest.fixture(autouse=True)
def _event_loop_stays_free(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail an asynchronous test in which code of ours blocks the event loop.

    Sleeping, reading files and waiting on a socket block it.
    """
    if not inspect.iscoroutinefunction(getattr(request, "function", None)):
        yield
        return

    # what is never deployed is never part of a request: servers are started where it is called,
    # and files read under its guard
    theirs = ["drift.local", "drift.indexing.reading_process"]
    with blockbuster_ctx("drift", excluded_modules=theirs) as detector:
        for function in detector.functions.values():  # a line of a recording, as somebody wished
            function.can_block_in("drift/local/recording/recorder.py", "write")
        # these tests build clients where they use them; the service does so in a thread
        if request.path.parent.name == "wire":
            for function in detector.functions.values():
                function.can_block_in("drift/llm/openai/client.py", "build_client")
        yield


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files unread of which `make check` wants no test: importing them takes seconds."""
    if config.option.markexpr != "not slow" or not collection_path.name.startswith("test_"):
        return None
    return bool(ALL_SLOW.search(collection_path.read_text(encoding="utf-8"))) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep deep tests out of `make check` too: what is too heavy for `make test` is slow.

    Files with slow tests come first: a long one that comes last would leave a worker alone.
    """
    for item in items:
        if item.get_closest_marker("deep"):
            item.add_marker(pytest.mark.slow)

    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the whole run when a test was skipped in CI.

    There, everything a test needs installs itself.
    """
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") != "true" or reporter is None:
        return
    reasons = [str(report.longrepr) for report in reporter.stats.get("skipped", ())]
    if [reason for reason in reasons if IN_ANOTHER_JOB not in reason]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
