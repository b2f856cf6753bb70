"""Lines that the end of a run shows, whichever worker had something to say."""

from __future__ import annotations

from typing import Any

import pytest

REMARKS = pytest.StashKey[list[str]]()
"""Where a conftest adds its lines."""


def pytest_configure(config: pytest.Config) -> None:
    """Begin without any."""
    config.stash.setdefault(REMARKS, [])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand a worker's remarks to the process that writes them."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["remarks"] = session.config.stash[REMARKS]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take a worker's remarks; one that died has left none."""
    node.config.stash[REMARKS].extend(getattr(node, "workeroutput", {}).get("remarks", ()))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Write each remark once."""
    for remark in dict.fromkeys(config.stash[REMARKS]):
        terminalreporter.write_line(remark, yellow=True)
