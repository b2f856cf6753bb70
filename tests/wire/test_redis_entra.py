"""Progress through a Redis that takes tokens of Entra ID.

A real Valkey whose user is an object id and whose password a token.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError

from drift.adapters.entra import RENEW_S, TokenSource
from drift.adapters.redis.entra import REDIS_SCOPE, EntraLogin, object_id
from drift.adapters.redis.progress import RedisProgress
from drift.adapters.redis.server import RedisServer
from drift.contracts.progress import CHANNEL
from drift.hosting.settings import load
from drift.hosting.wiring import build_sink
from drift.offline.servers.valkey_server import ValkeyServer
from tests.proxy import proxied

pytestmark = pytest.mark.slow

HOUR = 3600
PATIENCE_S = 30


def token_of(oid: str, number: int) -> str:
    """Return what looks like an access token of Entra ID to a client."""
    parts = ({"alg": "none"}, {"oid": oid, "number": number}, {"signature": "canary-signature"})
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
    )


class Identity:
    """A credential with the clock that its tokens end by.

    `open` lets it answer, `error` makes it fail.
    """

    def __init__(self) -> None:
        self.oid = str(uuid4())
        self.now = 1_000_000.0
        self.asked = 0
        self.error: Exception | None = None
        self.open = threading.Event()
        self.open.set()

    def get_token(self, *scopes: str) -> AccessToken:
        assert scopes == ("https://redis.azure.com/.default",)
        self.asked += 1
        time.sleep(0.02)  # what would be noticed in the event loop
        assert self.open.wait(PATIENCE_S)
        if self.error:
            raise self.error
        return AccessToken(token_of(self.oid, self.asked), int(self.now) + HOUR)


class Cache:
    """The server as its owner sees it.

    Who may sign in, who is connected, what arrives on the channel.
    """

    def __init__(self, admin: Redis, identity: Identity) -> None:
        self.admin = admin
        self.oid = identity.oid
        self.channel = admin.pubsub(ignore_subscribe_messages=True)

    async def accept(self, *numbers: int) -> None:
        """Let the identity in with these of its tokens, and with no other."""
        passwords = [f">{token_of(self.oid, number)}" for number in numbers]
        await self.admin.execute_command(
            "ACL", "SETUSER", self.oid, "reset", "on", *passwords, "&*", "+@all"
        )

    async def cut(self) -> None:
        """End the identity's connections, as the server does when their token ends."""
        await self.admin.execute_command("CLIENT", "KILL", "USER", self.oid)

    async def connections(self) -> set[str]:
        """Return the connections that are signed in as the identity."""
        return {
            client["id"] for client in await self.admin.client_list() if client["user"] == self.oid
        }

    async def heard(self) -> str:
        """Return the next message on the channel."""
        async with asyncio.timeout(PATIENCE_S):
            while (message := await self.channel.get_message(timeout=1)) is None:
                pass
        return str(message["data"].decode())

    async def silent(self) -> bool:
        """Tell whether nothing is waiting on the channel."""
        return await self.channel.get_message(timeout=0.05) is None


@pytest.fixture
def identity() -> Iterator[Identity]:
    made = Identity()
    yield made
    made.open.set()


@pytest.fixture
async def cache(valkey: ValkeyServer, identity: Identity) -> AsyncIterator[Cache]:
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        cache = Cache(admin, identity)
        await cache.accept(1)
        await cache.channel.subscribe(CHANNEL)
        assert await cache.channel.get_message(timeout=PATIENCE_S) is None
        yield cache
        await cache.channel.aclose()
        await admin.execute_command("ACL", "DELUSER", cache.oid)


async def publish(sink: RedisProgress, *messages: str) -> None:
    """Send messages, and wait for them as an answer does."""
    for message in messages:
        sink.send(message, last=False)
    await sink.delivered()


@pytest.fixture
def tokens(identity: Identity) -> TokenSource:
    return TokenSource(REDIS_SCOPE, lambda: identity, clock=lambda: identity.now)


@pytest.fixture
async def sink(
    valkey: ValkeyServer, tokens: TokenSource, identity: Identity, cache: Cache
) -> AsyncIterator[RedisProgress]:
    assert cache
    sink = RedisProgress(RedisServer(valkey.url, tokens))
    yield sink
    identity.open.set()
    await sink.close()


@pytest.fixture
def events(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.INFO, "drift")
    return lambda: [record.event for record in caplog.records if record.name == "drift"]


async def renewed(tokens: TokenSource) -> None:
    """Wait until the token is renewed that is being renewed."""
    assert tokens._fetching
    await asyncio.wait([tokens._fetching])
    await asyncio.sleep(0)


# --------------------------------------------------------------------------------------- signing in
async def test_the_user_is_the_object_id_and_the_password_the_token(
    sink: RedisProgress, cache: Cache
) -> None:
    await publish(sink, "one")
    assert await cache.heard() == "one"
    assert len(await cache.connections()) == 1
    assert str(await sink.health()) == "ok"


async def test_many_first_messages_at_once_ask_for_one_token_and_open_one_connection(
    sink: RedisProgress, cache: Cache, identity: Identity
) -> None:
    await asyncio.gather(*(publish(sink, str(number)) for number in range(12)))
    assert [await cache.heard() for _ in range(12)] == [str(number) for number in range(12)]
    assert identity.asked == 1
    assert len(await cache.connections()) == 1


@pytest.mark.parametrize("token", ["", "opaque", "a.b.c", "a.e30.c", "a.W10.c"])
def test_a_token_without_an_object_id_is_an_error_of_redis_py(token: str) -> None:
    """After any other exception redis-py would keep a connection that is not signed in."""
    with pytest.raises(AuthenticationError):
        object_id(token)


async def test_without_a_token_nothing_is_sent() -> None:
    with pytest.raises(AuthenticationError):
        await EntraLogin(TokenSource(REDIS_SCOPE, Identity)).get_credentials_async()


# ---------------------------------------------------------------------------------- the token's end
async def test_the_connection_of_a_renewed_token_replaces_the_old_one_before_the_server_cuts_it(
    sink: RedisProgress, cache: Cache, identity: Identity, tokens: TokenSource
) -> None:
    await publish(sink, "first")
    old = await cache.connections()
    await cache.accept(1, 2)
    identity.now += HOUR - RENEW_S + 1
    await publish(sink, "while it is renewed")
    await renewed(tokens)
    await cache.accept(
        2
    )  # the first token has ended: connections that it opened may stay, new ones it cannot open
    await publish(sink, "after it")
    assert [await cache.heard() for _ in range(3)] == ["first", "while it is renewed", "after it"]
    assert identity.asked == 2
    async with asyncio.timeout(PATIENCE_S):
        while old & (new := await cache.connections()):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)
    assert len(new) == 1


async def test_no_message_is_lost_when_the_server_cuts_at_the_end_of_the_token(
    sink: RedisProgress, cache: Cache, identity: Identity
) -> None:
    await publish(sink, "before")
    identity.now += HOUR
    await cache.accept(2)
    await cache.cut()
    await publish(sink, "after")
    assert [await cache.heard() for _ in range(2)] == ["before", "after"]


async def test_a_connection_that_the_server_has_signed_out_is_left(
    sink: RedisProgress, cache: Cache
) -> None:
    """The token is as valid as before, but the server does not know the connection any more."""
    await publish(sink, "before")
    await cache.admin.execute_command("ACL", "DELUSER", cache.oid)
    await cache.accept(1)
    await publish(sink, "after")
    assert [await cache.heard() for _ in range(2)] == ["before", "after"]


async def test_an_idle_connection_that_the_network_has_dropped_costs_no_message(
    valkey: ValkeyServer, cache: Cache, tokens: TokenSource
) -> None:
    port = urlsplit(valkey.url).port
    assert port
    async with proxied(port) as proxy:
        sink = RedisProgress(RedisServer(f"redis://127.0.0.1:{proxy.port}", tokens))
        await asyncio.gather(*(publish(sink, "before") for _ in range(6)))
        assert proxy.open == 1
        proxy.swallow()
        await publish(sink, "after")
        assert [await cache.heard() for _ in range(7)] == ["before"] * 6 + ["after"]
        await sink.close()


# ------------------------------------------------------------------------------------ what may fail
ANY_TOKEN = range(1, 100)


async def test_an_identity_that_fails_is_logged_once_and_the_messages_wait_for_it(
    sink: RedisProgress, cache: Cache, identity: Identity, events: Callable[[], list[str]]
) -> None:
    await cache.accept(*ANY_TOKEN)
    identity.error = ClientAuthenticationError("canary")
    await publish(sink, "one")
    await publish(sink, "two")
    assert str(await sink.health()) == "Entra ID gives no token for it"
    assert events() == ["entra_token_failed", "progress_publish_failed"]
    assert await cache.silent()
    identity.error = None
    assert [await cache.heard() for _ in range(2)] == ["one", "two"]
    await publish(sink, "three")
    assert events()[2:] == ["entra_token_restored", "progress_publish_restored"]


async def test_a_slow_identity_holds_up_one_answer_and_messages_leave_once_the_token_is_there(
    sink: RedisProgress, cache: Cache, identity: Identity
) -> None:
    identity.open.clear()
    async with asyncio.timeout(PATIENCE_S):
        await publish(sink, "one")
        await publish(sink, "two")
    assert await cache.silent()
    identity.open.set()
    assert [await cache.heard() for _ in range(2)] == ["one", "two"]
    assert identity.asked == 1


async def test_an_identity_without_access_keeps_the_messages_waiting_until_it_has_it(
    sink: RedisProgress,
    cache: Cache,
    events: Callable[[], list[str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    await cache.accept(99)
    await publish(sink, "one")
    await publish(sink, "two")
    assert events() == ["progress_publish_failed"]
    assert "AuthenticationError" in caplog.text
    assert "canary" not in caplog.text
    assert cache.oid not in caplog.text
    assert str(await sink.health()) == "it refuses the user, the password or the token"
    await cache.accept(1)
    assert [await cache.heard() for _ in range(2)] == ["one", "two"]


# ------------------------------------------------------------------------ what stands behind it all
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
    sink = await asyncio.to_thread(lambda: build_sink(load(values)))
    assert sink
    return sink


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


REQUIRED = {
    "OAI_BASE_URL": "http://127.0.0.1:9",
    "OAI_MODEL": "m",
    "OAI_EMBED_MODEL_NAME": "e",
    "NEO4J_URI": "bolt://127.0.0.1:9",
    "NEO4J_PASSWORD": "canary-password",
}


def certificate(folder: Path) -> Path:
    """Write a certificate of this machine with its key; return its path."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1)
        )
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    path.write_bytes(
        made.public_bytes(pem) + key.private_bytes(pem, pkcs8, serialization.NoEncryption())
    )
    return path


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
    port = urlsplit(valkey.url).port
    assert port
    path = certificate(tmp_path)
    async with encrypted(port, path) as tls_port:
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
