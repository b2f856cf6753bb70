"""Connections that a test leaves open, closed with its event loop and told at the end of a run."""

from __future__ import annotations

import asyncio
import os
from asyncio.selector_events import BaseSelectorEventLoop
from collections.abc import Iterator

import pytest

from tests.remarks import remark


@pytest.fixture(scope="session", autouse=True)
def _connections_end_with_their_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Close what is still open when an event loop ends.

    The garbage collector would find it in a later test, which would fail for it.
    """
    close = BaseSelectorEventLoop.close

    def closing(loop: BaseSelectorEventLoop) -> None:
        known = () if loop.is_closed() else getattr(loop, "_transports", {}).values()
        if left := [one for one in known if not one.is_closing()]:
            test = os.environ.get("PYTEST_CURRENT_TEST")
            remark(request.config, f"{test} left {len(left)} connections open")
            for one in left:
                one.abort()
            loop.run_until_complete(asyncio.sleep(0))
        close(loop)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseSelectorEventLoop, "close", closing)
        yield
