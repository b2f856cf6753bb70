"""What the Functions host does in front of a worker: routes, methods and keys."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import Coroutine
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.runtime.worker.carrying import answer, carried_up, connected, piped
from tests.runtime.worker.functions import Worker

STATE = "/-/state"
TIMER = "/-/timers/"


def _pattern(route: str) -> re.Pattern[str]:
    """Return what a route's paths look like: `{*x}` takes slashes, `{x}` does not."""
    literal = re.escape(f"/{route}")
    return re.compile(re.sub(r"\\{(\\\*)?\w+\\}", lambda m: ".*" if m[1] else "[^/]+", literal))


class Front:
    """Takes routes, methods and keys from the bindings, and carries one request a connection."""

    def __init__(self, behind: Worker, key: str) -> None:
        """Carry requests that have this key to the functions of this worker."""
        self._worker = behind
        self._key = key
        self._invocations: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry the request of one connection."""
        try:
            await self._carry(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has gone
        finally:
            writer.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        parts = [line.partition(":") for line in lines if line]
        headers = {name.lower(): value.strip() for name, _, value in parts if name}

        if urlsplit(target).path == STATE:
            answer(writer, HTTPStatus.OK, json.dumps(self._state()).encode())
            return
        if urlsplit(target).path.startswith(TIMER):
            await self._fire(urlsplit(target).path.removeprefix(TIMER), writer)
            return
        name = self._function(method, urlsplit(target).path)
        if name is None:
            answer(writer, HTTPStatus.NOT_FOUND)
        elif not self._may_call(name, target, headers):
            answer(writer, HTTPStatus.UNAUTHORIZED)
        else:
            invocation_id = str(uuid.uuid4())
            # a client's own are not believed
            headers |= {"connection": "close", "x-ms-invocation-id": invocation_id}
            lines = [first, *(f"{header}: {value}" for header, value in headers.items())]
            head = "\r\n".join([*lines, "", ""]).encode("latin-1")
            await self._forward(name, invocation_id, head, reader, writer)

    async def _fire(self, name: str, writer: asyncio.StreamWriter) -> None:
        """Let a timer fire, and answer when its function has ended."""
        if name not in self._worker.timers:
            answer(writer, HTTPStatus.NOT_FOUND)
            return
        await self._tracked(self._worker.fire(name, str(uuid.uuid4())))
        answer(writer, HTTPStatus.OK)

    def _tracked(self, invoking: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        invocation = asyncio.create_task(invoking)
        self._invocations.add(invocation)
        invocation.add_done_callback(self._invocations.discard)
        return invocation

    def _function(self, method: str, path: str) -> str | None:
        for name, trigger in self._worker.triggers.items():
            has_method = method in {m.upper() for m in trigger["methods"]}
            if has_method and _pattern(trigger["route"]).fullmatch(path):
                return name
        return None

    def _may_call(self, name: str, target: str, headers: dict[str, str]) -> bool:
        if self._worker.triggers[name]["authLevel"].lower() == "anonymous":
            return True
        in_url = parse_qs(urlsplit(target).query).get("code", [""])[0]
        return self._key in (headers.get("x-functions-key"), in_url)

    async def _forward(
        self,
        name: str,
        invocation_id: str,
        head: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        port_reader, port_writer = await connected(self._worker.capabilities["HttpUri"])
        port_writer.write(head)

        # The invocation goes on when the client leaves: the host never cancels a Python function.
        self._tracked(self._worker.invoke(name, invocation_id))

        # The way up ends when the client hangs up, the way down with the response.
        up = asyncio.create_task(carried_up(head, reader, port_writer))
        down = asyncio.create_task(piped(port_reader, writer))
        await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
        up.cancel()
        down.cancel()
        await asyncio.gather(up, down, return_exceptions=True)
        port_writer.transport.abort()

    def _state(self) -> dict[str, Any]:
        """Return what the worker holds now: invocations not yet forgotten, tasks, and outcomes."""
        return {
            **self._worker.state(),
            "invocations": len(self._invocations),
            "tasks": sorted(str(task.get_coro()) for task in asyncio.all_tasks()),
        }
