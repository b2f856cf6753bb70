"""`ask` and `demo` beside a Redis of any kind and messages of anybody: the answer comes, and one
line says what is missing.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from drift.contracts.progress import CHANNEL, Phase
from drift.http.settings import load
from drift.local.cli.asking import Answered, ask_function
from drift.local.stack.valkey_server import ValkeyServer
from drift.search.progress import Progress
from tests.fakes import ListSink
from tests.wire.entra_redis import REQUIRED, certificate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

ANSWER = {"final_answer": "yes", "key_facts": [], "residual_uncertainty": ""}


@dataclass
class Function:
    """Answers one POST on loopback.

    `published` is sent on the channel before it, `{id}` standing for the retrieval.
    """

    channel_url: str
    published: list[bytes] = field(default_factory=list)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        async with await asyncio.start_server(self._answer, "127.0.0.1", 0) as server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.split("content-length: ")[1].split("\r\n")[0])
        retrieval_id = json.loads(await reader.readexactly(length))["retrieval_id"].encode()
        async with Redis.from_url(self.channel_url, protocol=2) as client:
            for message in self.published:
                await client.publish(CHANNEL, message.replace(b"{id}", retrieval_id))
        body = json.dumps(ANSWER).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
            % (len(body), body)
        )
        writer.close()


@dataclass
class Asking:
    """What came of one question."""

    asked: Answered
    shown: list[str]
    remarks: list[str]


async def ask(function: Function, **values: str) -> Asking:
    """Ask with these settings, as the commands do."""
    shown: list[dict[str, Any]] = []
    remarks: list[str] = []
    settings = load({**REQUIRED, **values})
    async with function.serving() as url, asyncio.timeout(20):
        asked = await ask_function(url, settings, {"query": "?"}, shown.append, remarks.append)
    assert asked.response == ANSWER
    assert asked.progress == shown
    return Asking(asked, [message["phase"] for message in shown], remarks)


def messages(retrieval_id: str = "{id}") -> list[bytes]:
    """Return the messages of a retrieval as the service makes them."""
    sink = ListSink()
    progress = Progress("p", retrieval_id, sink)
    progress.report(Phase.INITIALIZING, "one")
    progress.completed("two", "[doc]")
    return [json.dumps(message).encode() for message in sink.messages]


GARBAGE = {
    "words": b"garbage",
    "an object": b'{"a":1}',
    "a list": b"[]",
    "a number": b"5",
    "nothing": b"",
    "not UTF-8": b"\xff\xfe\x00",
    "huge": b"x" * 2_000_000,
    "nested": b"[" * 100_000,
    "our id alone": b'{"retrieval_id": "{id}"}',
    "our id in wrong types": b'{"retrieval_id": ["{id}"], "phase": 5, "progress_pct": {}}',
    "our id in garbage": b"\xff {id} \xff",
    "half a surrogate pair": b'{"retrieval_id": "{id}", "phase": "completed", '
    b'"thought_summary": "\\ud800"}',
    "of another retrieval": b'{"retrieval_id": "other {id}", "phase": "completed"}',
}


async def test_messages_of_others_are_passed_over(valkey: ValkeyServer) -> None:
    others = messages(str(uuid4()))
    published = [
        *GARBAGE.values(),
        *others,
        messages()[0],
        *others,
        *GARBAGE.values(),
        messages()[1],
    ]
    done = await ask(Function(valkey.url, published), REDIS_URL=valkey.url)
    assert (done.shown, done.remarks) == (["initializing", "completed"], [])
    assert (await ask(Function(valkey.url))).remarks == [], "without Redis there is nothing to say"


async def test_a_terminal_that_cannot_show_a_message_costs_nothing(valkey: ValkeyServer) -> None:
    def broken(_message: dict[str, Any]) -> None:
        raise BrokenPipeError

    function = Function(valkey.url, messages())
    async with function.serving() as url:
        settings = load({**REQUIRED, "REDIS_URL": valkey.url})
        asked = await ask_function(url, settings, {"query": "?"}, broken, pytest.fail)
    assert [message["phase"] for message in asked.progress] == ["initializing", "completed"]


async def test_a_last_message_that_never_comes_is_not_waited_for_long(valkey: ValkeyServer) -> None:
    done = await ask(Function(valkey.url, messages()[:1]), REDIS_URL=valkey.url)
    assert done.shown == ["initializing"]
    (line,) = done.remarks
    assert "not shown any more" in line


# ------------------------------------------------------------------------------ a Redis of any kind
@asynccontextmanager
async def places(valkey: ValkeyServer, folder: Path) -> AsyncIterator[dict[str, str]]:
    """Have every kind of place that REDIS_URL may lead to; gives their addresses."""

    async def web(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def ends(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate(folder))
    found = {
        "valkey": valkey.url.removeprefix("redis://").removesuffix("/0"),
        "closed": "127.0.0.1:1",
    }
    async with AsyncExitStack() as stack:
        for name, serve, tls in (
            ("web", web, None),
            ("silent", silent, None),
            ("ends", ends, None),
            ("tls", silent, context),
        ):
            server = await stack.enter_async_context(
                await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
            )
            found[name] = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        admin = await stack.enter_async_context(Redis.from_url(valkey.url, protocol=2))
        await admin.execute_command(
            "ACL", "SETUSER", "deaf", "on", ">pw", "+ping", "+publish", "&*"
        )
        with_password = await stack.enter_async_context(_wants_a_password())
        yield {**found, "locked": with_password}
        await admin.execute_command("ACL", "DELUSER", "deaf")


@asynccontextmanager
async def _wants_a_password() -> AsyncIterator[str]:
    server = await asyncio.to_thread(ValkeyServer().__enter__)
    try:
        async with Redis.from_url(server.url, protocol=2) as admin:
            await admin.execute_command("CONFIG", "SET", "requirepass", "canary")
        yield server.url.removeprefix("redis://").removesuffix("/0")
    finally:
        await asyncio.to_thread(server.stop)


KINDS = [
    ("redis://{closed}/0", "nobody listens"),
    ("redis://{web}/0", "not Redis"),
    ("redis://{silent}/0", "does not answer in time"),
    ("redis://{ends}/0", "ends the connection"),
    ("redis://{tls}/0", "rediss://"),
    ("rediss://{tls}/0", "certificate is not trusted"),
    ("rediss://{web}/0", "does not speak TLS"),
    ("redis://{locked}/0", "asks for a password"),
    ("redis://:wrong@{locked}/0", "refuses the user, the password"),
    ("redis://deaf:pw@{valkey}/0", "the right to publish and to subscribe"),
    ("redis://{valkey}/4711", "refuses what it is asked"),
    ("rediss://{valkey}/0?ssl_ca_certs=/nowhere.pem", "REDIS_URL is not usable"),
]


async def test_an_address_without_a_redis_costs_no_answer_and_one_line_says_why(
    valkey: ValkeyServer, tmp_path: Path
) -> None:
    said: dict[str, list[str]] = {}
    async with places(valkey, tmp_path) as found:
        for url, _ in KINDS:
            said[url] = (
                await ask(Function(valkey.url, messages()), REDIS_URL=url.format(**found))
            ).remarks
        secrets = [*found.values(), "canary", "wrong", "pw"]
    for url, words in KINDS:
        (line,) = said[url]
        assert words in line
        assert not [secret for secret in secrets if secret in line]


async def test_an_identity_that_gives_no_token_is_named(
    valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDENTITY_ENDPOINT", "http://127.0.0.1:1/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "canary-header")
    done = await ask(
        Function(valkey.url), REDIS_URL=valkey.url, REDIS_AUTH="entra", AZURE_CLIENT_ID=str(uuid4())
    )
    (line,) = done.remarks
    assert "Entra ID" in line or "in time" in line
    assert "canary" not in line
