"""Making a row's fault happen.

Rules for the model server, settings, a network that fails at the right moment, a caller that
misbehaves.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from drift.http.dispatcher import Dispatcher
from tests.function.calling import Caller
from tests.function.faults.row import FOLLOWUPS, Cut, Row
from tests.function.faults.traps import Trap, trap
from tests.model_server_fixture import ModelServerControl
from tests.proxy import Proxy, proxied

TRAPS = ("closed", "silent")
ADDRESSES = {"graph": "NEO4J_URI", "redis": "REDIS_URL", "model": "OAI_BASE_URL"}
PASS_ONE = {"hypothesis": 1, "primer_reply": 1, "local_reply": FOLLOWUPS, "aggregate_reply": 1}
"""How many requests of a kind are under way when all of the first pass are."""


@dataclass
class Stage:
    """A working service, and what is put in its way."""

    dispatcher: Dispatcher
    caller: Caller
    environment: pytest.MonkeyPatch
    settings: dict[str, str]
    model: ModelServerControl
    victim: str
    traps: list[Trap] = field(default_factory=list)
    proxy: Proxy | None = None
    closed: int = 0

    @asynccontextmanager
    async def set_up(self, row: Row) -> AsyncIterator[None]:
        """Have everything of the row in place while the block runs."""
        async with AsyncExitStack() as stack:
            await self._configure(row, stack)
            if row.settings or row.cut or row.identity:
                await self.dispatcher.provider.close()
                stack.push_async_callback(self.dispatcher.provider.close)
            if row.cut or row.part == "host":
                await self.caller.client.get("/health/ready")
                self.model.reset()
            rules = [dict(rule) for rule in row.rules]
            if row.call == "one follow-up" and row.part == "model":
                rules = [rule | {"contains": self.victim} for rule in rules]
            if rules:
                await asyncio.to_thread(self.model.fail, *rules)
            yield

    async def _configure(self, row: Row, stack: AsyncExitStack) -> None:
        values = dict(row.settings)
        words = {"redis": urlsplit(self.settings["REDIS_URL"]).netloc}
        for how in TRAPS:
            if any(value and f"{{{how}}}" in value for value in values.values()):
                made = await stack.enter_async_context(trap(how))
                self.traps.append(made)
                words[how] = made.address
        if row.identity:
            tokens = await stack.enter_async_context(
                trap("silent" if row.identity == "hangs" else row.identity)
            )
            self.traps.append(tokens)
            self.environment.setenv("IDENTITY_ENDPOINT", f"http://{tokens.address}/token")
            self.environment.setenv("IDENTITY_HEADER", "canary-header")
        if row.cut:
            await self._proxy(row.cut, stack)
        for name, value in values.items():
            if value is None:
                self.environment.delenv(name, raising=False)
            else:
                filled = value.format_map(words) if "{" in value else value
                self.environment.setenv(
                    name, f"http://{filled}" if name == "OAI_BASE_URL" else filled
                )

    async def _proxy(self, cut: Cut, stack: AsyncExitStack) -> None:
        name = ADDRESSES[cut.server]
        port = urlsplit(self.settings[name]).port
        assert port
        nobody = await stack.enter_async_context(trap("closed"))
        self.closed = int(nobody.address.rsplit(":", 1)[1])
        self.proxy = await stack.enter_async_context(proxied(port))
        self.environment.setenv(
            name, self.settings[name].replace(f":{port}", f":{self.proxy.port}")
        )

    async def cut(self, cut: Cut) -> None:
        """Do it, at the moment that it is meant for."""
        assert self.proxy
        if cut.during:
            kind, number = cut.during, PASS_ONE[cut.during]
            await self.model.until(lambda seen: seen["counts"].get(kind, 0) >= number)
        if cut.how == "is gone":
            self.proxy.server_port = self.closed
        self.proxy.reset()


# ----------------------------------------------------------------------------------- ways of asking
@dataclass(frozen=True)
class Got:
    """What came back; status 0 is nothing."""

    status: int = 0
    document: dict[str, Any] = field(default_factory=dict)
    response: httpx2.Response | None = None


async def _answered(asking: Awaitable[httpx2.Response]) -> Got:
    response = await asking
    return Got(response.status_code, response.json(), response)


async def _buffered(stage: Stage) -> Got:
    return await _answered(stage.caller.ask())


def _sent(body: bytes) -> Callable[[Stage], Awaitable[Got]]:
    async def ask(stage: Stage) -> Got:
        return await _answered(stage.caller.send(body))

    return ask


async def _second(stage: Stage) -> Got:
    first = asyncio.create_task(stage.caller.ask())
    await stage.model.until(lambda seen: seen["in_flight"] == 1)
    got = await _answered(stage.caller.ask())
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    return got


async def _streamed(stage: Stage) -> Got:
    async with stage.caller.streaming() as events:
        assert events.response.status_code == 200
        name, document = (await events.all())[-1]
    return Got(document["status"] if name == "error" else 200, document)


async def _leaves_stream(stage: Stage) -> Got:
    async with stage.caller.streaming():
        await stage.model.until(lambda seen: seen["in_flight"] == 1)
    return await _gone(stage)


async def _gone(stage: Stage) -> Got:
    await stage.model.until(lambda seen: seen["abandoned"] == 1)
    return Got()


async def _cut_body(stage: Stage) -> Got:
    url = urlsplit(str(stage.caller.client.base_url))
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    writer.write(
        b"POST /retrieve HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        b"content-type: application/json\r\ncontent-length: 99\r\n\r\n{"
    )
    await writer.drain()
    writer.write_eof()
    assert not await reader.read()
    writer.close()
    await writer.wait_closed()
    return Got()


WAYS: dict[str, Callable[[Stage], Awaitable[Got]]] = {
    "buffered": _buffered,
    "second": _second,
    "streamed": _streamed,
    "leaves stream": _leaves_stream,
    "cut body": _cut_body,
    "not JSON": _sent(b"{"),
}


async def ask(stage: Stage, row: Row) -> Got:
    """Ask as the row says, with the network failing meanwhile."""
    asking = asyncio.ensure_future(WAYS[row.ask](stage))
    if row.cut:
        await stage.cut(row.cut)
    return await asking
