"""A loopback Functions host around the real worker library (Python 3.13).

It indexes the app in a folder and carries HTTP to it.

Run `python -m drift.offline.hosts.worker_host FOLDER [KEY]`: prints one JSON line with its URL and
what the worker told, then serves until its standard input ends. `GET /-/state` tells what the
worker holds. As on the platform, the request itself is forwarded to the worker's own port, next to
an invocation that holds only the route's parameters; the library is handed its messages as plain
objects, because it only reads and sets attributes.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import json
import logging
import sys
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import azure_functions_runtime as worker
from azure_functions_runtime.http_v2 import http_coordinator

from drift.hosting.http import declared_length
from drift.offline.servers.loopback import HOST

SUCCESS = 1
STATE = "/-/state"
INVOCATION = contextvars.ContextVar("invocation", default="")
"""Set around each invocation, as the worker process does."""


class Message:
    """Any message of the worker's protocol."""

    def __init__(self, **fields: object) -> None:
        """Take any fields."""
        self.__dict__.update(fields)

    def WhichOneof(self, _group: str) -> str | None:  # noqa: N802 - protobuf's name
        """Name the field that is set."""
        return next(
            (name for name, value in vars(self).items() if value is not None and name != "name"),
            None,
        )


class Messages:
    """The namespace that the worker takes its message types from: every name is one."""

    BindingInfo = type(
        "BindingInfo",
        (Message,),
        {"out": 1, "inout": 2, "undefined": 0, "string": 1, "binary": 2, "stream": 3},
    )
    StatusResult = type(
        "StatusResult", (Message,), {"Failure": 0, "Success": SUCCESS, "Cancelled": 2}
    )

    def __getattr__(self, name: str) -> type:
        return type(name, (Message,), {})


MESSAGES = Messages()


def envelope(**request: object) -> SimpleNamespace:
    """Wrap a request as the dispatcher hands it to the library."""
    return SimpleNamespace(
        request=SimpleNamespace(**request), properties={"protos": MESSAGES, "host": HOST}
    )


def successful(reply: Any) -> Any:  # noqa: ANN401 - the library's own, untyped
    """Return the worker's reply; end with its reason when it failed.

    The platform would then show no function at all.
    """
    if reply.result.status != SUCCESS:
        sys.exit(f"The worker failed: {reply.result.exception.message}")
    return reply


class Worker:
    """The functions that the library has indexed."""

    def __init__(self) -> None:
        """Know no function yet."""
        self.capabilities: dict[str, str] = {}
        self.functions: dict[str, Any] = {}
        self.triggers: dict[str, dict[str, Any]] = {}
        self.outcomes: Counter[str] = Counter()

    async def start(self, folder: Path) -> None:
        """Index and load the app in this folder."""
        worker.start_threadpool_executor()
        init = SimpleNamespace(capabilities={}, function_app_directory=str(folder))
        started = successful(await worker.worker_init_request(envelope(worker_init_request=init)))
        self.capabilities = dict(started.capabilities)
        found = successful(await worker.functions_metadata_request(envelope()))
        self.functions = {f.name: f for f in found.function_metadata_results}
        for name, metadata in self.functions.items():
            load = SimpleNamespace(function_id=metadata.function_id, metadata=metadata)
            successful(await worker.function_load_request(envelope(function_load_request=load)))
            bindings = [json.loads(binding) for binding in metadata.raw_bindings]
            self.triggers[name] = next(b for b in bindings if b["type"] == "httpTrigger")

    async def invoke(self, name: str, invocation_id: str) -> None:
        """Invoke a function whose HTTP request is forwarded at the same time."""
        INVOCATION.set(invocation_id)
        http = Message(method="", url="", headers={}, query={}, params={}, body=Message())
        request = SimpleNamespace(
            invocation_id=invocation_id,
            function_id=self.functions[name].function_id,
            trigger_metadata={},
            input_data=[Message(name=self.triggers[name]["name"], data=Message(http=http))],
            trace_context=SimpleNamespace(trace_parent="", trace_state="", attributes={}),
            retry_context=SimpleNamespace(retry_count=0, max_retry_count=0, exception=None),
        )
        reply = await worker.invocation_request(envelope(invocation_request=request))
        self.outcomes[
            "success" if reply.result.status == SUCCESS else reply.result.exception.message
        ] += 1


class Front:
    """What the host does in front of a worker.

    Routes, methods and keys from the bindings, one request a connection.
    """

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
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
            if name
        }
        if urlsplit(target).path == STATE:
            answer(writer, HTTPStatus.OK, json.dumps(self._state()).encode())
            return
        name = self._function(method, urlsplit(target).path)
        if name is None:
            answer(writer, HTTPStatus.NOT_FOUND)
        elif not self._may_call(name, target, headers):
            answer(writer, HTTPStatus.UNAUTHORIZED)
        else:
            invocation_id = str(uuid.uuid4())
            hop = {
                "connection": "close",
                "x-ms-invocation-id": invocation_id,
            }  # a client's own are not believed
            head = (
                "\r\n".join([first, *(f"{n}: {v}" for n, v in (headers | hop).items())])
                + "\r\n\r\n"
            )
            await self._forward(name, invocation_id, head.encode("latin-1"), reader, writer)

    def _function(self, method: str, path: str) -> str | None:
        for name, trigger in self._worker.triggers.items():
            if path == f"/{trigger['route']}" and method in {m.upper() for m in trigger["methods"]}:
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
        invocation = asyncio.create_task(self._worker.invoke(name, invocation_id))
        self._invocations.add(
            invocation
        )  # goes on when the client leaves: the host never cancels a Python function
        invocation.add_done_callback(self._invocations.discard)
        up = asyncio.create_task(
            carried_up(head, reader, port_writer)
        )  # ends when the client hangs up
        down = asyncio.create_task(piped(port_reader, writer))  # ends with the response
        await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
        up.cancel()
        down.cancel()
        await asyncio.gather(up, down, return_exceptions=True)
        port_writer.transport.abort()

    def _state(self) -> dict[str, Any]:
        """Return what the worker holds now.

        Invocations not yet forgotten, tasks, and how invocations have ended.
        """
        gc.collect()
        return {
            "entries": len(http_coordinator._context_references),  # noqa: SLF001 - nothing else tells
            "invocations": len(self._invocations),
            "tasks": sorted(str(task.get_coro()) for task in asyncio.all_tasks()),
            "outcomes": self._worker.outcomes,
        }


def answer(writer: asyncio.StreamWriter, status: HTTPStatus, body: bytes = b"") -> None:
    """Answer in the host's own name."""
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    writer.write(head.encode() + body)


async def connected(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the worker's port, which opens a moment after it is announced."""
    parts = urlsplit(url)
    async with asyncio.timeout(10):
        while True:
            with contextlib.suppress(OSError):
                return await asyncio.open_connection(parts.hostname, parts.port)
            await asyncio.sleep(0.01)


async def carried_up(
    head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Hand on the body that the head declares, and nothing after it.

    Then wait until the client hangs up.
    """
    headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")[1:] if line)
    if headers.get("transfer-encoding", "").lower().endswith("chunked"):
        await piped_chunks(reader, writer)
    else:
        left = declared_length(headers)  # what is no length, the worker's own server refuses
        while left and (data := await reader.read(min(left, 65536))):
            left -= len(data)
            writer.write(data)
            await writer.drain()
    while await reader.read(65536):
        pass  # a next request, which this connection does not carry


async def piped_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand on a chunked body to its end."""
    size = -1
    while size:
        line = await reader.readuntil(b"\r\n")
        try:
            size = int(line.split(b";")[0], 16)
        except ValueError:  # the same
            writer.write(line)
            return
        writer.write(line + (await reader.readexactly(size + 2) if size else b""))
        await writer.drain()
    while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
        writer.write(line)
    writer.write(line)
    await writer.drain()


async def piped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand on bytes until there are no more."""
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


class InvocationLines(logging.Formatter):
    """One JSON line a record, with the invocation that the code which wrote it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields = {
            "logger": record.name,
            "message": record.getMessage(),
            "invocation": INVOCATION.get(),
        }
        extra = {"retrieval_id": getattr(record, "retrieval_id", None)}
        trace = {"trace": self.formatException(record.exc_info)} if record.exc_info else {}
        return json.dumps(fields | extra | trace)


@contextlib.asynccontextmanager
async def serving(folder: Path, key: str) -> AsyncIterator[dict[str, Any]]:
    """Serve the app of a folder on loopback while the block runs.

    Gives its `url`, and what the worker told.
    """
    sys.path.insert(0, str(folder))
    behind = Worker()
    await behind.start(folder)
    server = await asyncio.start_server(Front(behind, key).serve, HOST, 0)
    async with server:
        url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
        yield {"url": url, "capabilities": behind.capabilities, "triggers": behind.triggers}


async def main(folder: Path, key: str) -> None:
    """Serve until standard input ends."""
    told_to, sys.stdout = sys.stdout, sys.stderr  # so that whatever the worker prints is in the log
    lines = logging.StreamHandler()
    lines.setFormatter(InvocationLines())
    logging.basicConfig(level=logging.INFO, handlers=[lines])
    async with serving(folder, key) as told:
        told_to.write(json.dumps(told) + "\n")
        told_to.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).resolve(), *sys.argv[2:3] or [""]))
