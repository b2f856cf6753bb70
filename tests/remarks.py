"""Lines that the end of a run shows, whichever worker had something to say."""

from __future__ import annotations

from typing import Any

import pytest

_REMARKS = pytest.StashKey[list[str]]()


def remark(config: pytest.Config, line: str) -> None:
    """Have a line shown at the end."""
    _remarks(config).append(line)


def _remarks(config: pytest.Config) -> list[str]:
    return config.stash.setdefault(_REMARKS, [])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand a worker's remarks to the process that writes them."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["remarks"] = _remarks(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take a worker's remarks; one that died has left none."""
    _remarks(node.config).extend(getattr(node, "workeroutput", {}).get("remarks", ()))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Write each remark once."""
    for line in dict.fromkeys(_remarks(config)):
        terminalreporter.write_line(line, yellow=True)
