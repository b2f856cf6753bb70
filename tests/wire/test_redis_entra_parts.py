"""What stands behind progress with Entra ID: the endpoint of the identity, tokens, certificates."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest

from drift.auth.entra import TokenSource
from drift.http.settings import load
from drift.http.wiring import build_redis
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.progress import RedisProgress
from drift.redis.server import RedisServer
from tests.wire.entra_redis import (
    HOUR,
    PATIENCE_S,
    REQUIRED,
    Cache,
    Identity,
    certificate,
    publish,
    token_of,
)

pytestmark = pytest.mark.slow


class ManagedIdentity(BaseHTTPRequestHandler):
    """The endpoint that gives an app its tokens on Azure.

    `asked` are the queries that it was asked.
    """

    oid = ""
    refuses = False
    asked: list[dict[str, list[str]]]

    def do_GET(self) -> None:
        assert self.headers["X-IDENTITY-HEADER"] == "canary-header"
        self.asked.append(parse_qs(urlsplit(self.path).query))
        token = {
            "access_token": token_of(self.oid, len(self.asked)),
            "expires_on": str(int(time.time()) + HOUR),
        }
        body = json.dumps(
            {**token, "resource": "https://redis.azure.com", "token_type": "Bearer"}
        ).encode()
        if self.refuses:
            body = b'{"error": "invalid_request", "error_description": "canary-description"}'
        self.send_response(400 if self.refuses else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def managed_identity(
    identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> Iterator[type[ManagedIdentity]]:
    handler = type("Endpoint", (ManagedIdentity,), {"oid": identity.oid, "asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"http://127.0.0.1:{server.server_port}/msi/token")
        monkeypatch.setenv("IDENTITY_HEADER", "canary-header")
        yield handler
        server.shutdown()
        thread.join(PATIENCE_S)


async def sink_of(valkey: ValkeyServer, client_id: str) -> RedisProgress:
    """Return what the settings of a deployed function make."""
    values = {
        "REDIS_URL": valkey.url,
        "REDIS_AUTH": "entra",
        "AZURE_CLIENT_ID": client_id,
        **REQUIRED,
    }
    server = await asyncio.to_thread(lambda: build_redis(load(values)))
    assert server
    return RedisProgress(server)


async def test_the_managed_identity_of_the_settings_signs_in(
    valkey: ValkeyServer, cache: Cache, managed_identity: type[ManagedIdentity]
) -> None:
    client_id = str(uuid4())
    sink = await sink_of(valkey, client_id)
    assert str(await sink.health()) == "ok"
    await publish(sink, *["through azure-identity"] * 3)
    assert {await cache.heard() for _ in range(3)} == {"through azure-identity"}
    await sink.close()
    (asked,) = managed_identity.asked
    assert asked["resource"] == ["https://redis.azure.com"]
    assert asked["client_id"] == [client_id]


async def test_what_a_managed_identity_answers_is_not_in_the_log(
    valkey: ValkeyServer, managed_identity: type[ManagedIdentity], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    managed_identity.refuses = True
    sink = await sink_of(valkey, "canary-client")
    for _ in range(2):
        assert str(await sink.health()) == "Entra ID gives no token for it"
    await sink.close()
    assert [record.event for record in caplog.records if record.levelno >= logging.WARNING] == [
        "entra_token_failed"
    ]
    assert "canary" not in caplog.text
    assert "127.0.0.1" not in caplog.text


@asynccontextmanager
async def encrypted(port: int, path: Path) -> AsyncIterator[int]:
    """Speak TLS in front of a server; gives the port."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(path)

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4096):
            writer.write(data)
        writer.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, before = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(carry(reader, before), carry(behind, writer), return_exceptions=True)

    async with await asyncio.start_server(connect, "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()[1]


async def test_certificates_are_read_once_for_all_connections_and_checked(
    valkey: ValkeyServer,
    cache: Cache,
    tokens: TokenSource,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = certificate(tmp_path)
    async with encrypted(valkey.port, path) as tls_port:
        trusting = RedisProgress(
            RedisServer(f"rediss://127.0.0.1:{tls_port}?ssl_ca_certs={path}", tokens)
        )
        doubting = RedisProgress(RedisServer(f"rediss://127.0.0.1:{tls_port}", tokens))
        monkeypatch.setattr(
            ssl, "create_default_context", None
        )  # whoever reads certificates from now on, fails
        assert str(await trusting.health()) == "ok"
        await publish(trusting, *["over TLS"] * 4)
        assert {await cache.heard() for _ in range(4)} == {"over TLS"}
        assert str(await doubting.health()) == "its certificate is not trusted here"
        await trusting.close()
        await doubting.close()
