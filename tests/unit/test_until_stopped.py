"""A host that stops refuses each request whose body is not there, also one that comes later."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from drift.core.errors import StoppingError
from drift.local.hosts.local_host import UntilStopped

WHOLE = {"type": "http.request", "body": b"{}", "more_body": False}


async def read(_scope: Any, receive: Any, send: Any) -> None:
    await send(await receive())


async def never() -> Any:
    await asyncio.Event().wait()


@pytest.mark.parametrize("stopped_before", [True, False])
async def test_a_body_that_is_missing_is_refused(stopped_before: bool) -> None:
    app = UntilStopped(read)
    if stopped_before:
        app.stop()
    else:
        asyncio.get_running_loop().call_later(0.05, app.stop)
    with pytest.raises(StoppingError):
        async with asyncio.timeout(5):
            await app({}, never, never)


async def test_a_body_that_is_there_is_read() -> None:
    app, read_messages = UntilStopped(read), list[Any]()

    async def there() -> Any:
        return WHOLE

    async def told(message: Any) -> None:
        read_messages.append(message)

    app.stop()
    await app({}, there, told)
    assert read_messages == [WHOLE]
