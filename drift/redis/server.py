"""The Redis of the settings: how it is reached and signed in to, and in what words it fails."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from typing import Any

from redis.asyncio import Connection, ConnectionPool, Redis
from redis.asyncio.connection import SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.credentials import CredentialProvider
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterCrossSlotError,
    InvalidResponse,
    NoPermissionError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from drift.auth.entra import Token, TokenSource
from drift.core.circuit_breaker import CircuitBreaker
from drift.core.logs import causes
from drift.model.health import Readiness

Command = tuple[str | int | bytes, ...]

REDIS_SCOPE = "https://redis.azure.com/.default"
OPEN_SECONDS = 5.0
"""How long a token may take, and then a new connection with TLS and signing in."""
PACKET_SECONDS = 3.0
"""How long commands may take, with a connection that has to be opened first."""
CONNECTIONS = 4
"""Connections of one process for its commands; more callers wait for their turn."""
IDLE_SECONDS = 200.0
"""A connection that was idle for so long is replaced: networks in the cloud forget it after 240."""


class RedisServer:
    """One Redis by its `redis://` or `rediss://` URL, with Entra ID when there are tokens.

    Making it opens nothing, but reads certificates from disk, so make it in a thread: redis-py
    would read them for every new connection, in the event loop.
    """

    def __init__(
        self,
        url: str,
        tokens: TokenSource | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the address and the certificates; it belongs to the event loop that first asks."""
        self.tokens = tokens
        self._pool = ConnectionPool.from_url(
            url,
            protocol=2,
            socket_connect_timeout=OPEN_SECONDS,
            socket_timeout=OPEN_SECONDS,
            socket_keepalive=True,
            # Whoever uses a connection knows what may be sent again.
            retry=Retry(NoBackoff(), 0),
            # Otherwise every new connection reads the package's version from disk, in the loop.
            driver_info=None,
            credential_provider=EntraLogin(tokens) if tokens else None,
        )
        kind: Any = self._pool.connection_class
        sample: object = kind(**self._pool.connection_kwargs)
        self.has_tls = isinstance(sample, SSLConnection)
        self._pool.connection_class = _lasting(sample, tokens, clock)
        self._turns = asyncio.Semaphore(CONNECTIONS)
        self._client = self.client(retries=1)
        self._client.response_callbacks.clear()
        self._running: set[asyncio.Task[list[Any]]] = set()

    async def ask(self, *commands: Command) -> list[Any]:
        """Return the answers to commands; errors as `ask_each`, and that of a refused command."""
        replies = await self.ask_each(commands)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    async def ask_each(self, commands: Iterable[Command]) -> list[Any]:
        """Return the answers to commands, some of which may be errors.

        They go in one packet, in their order, and may be sent twice; an error does not tell which
        of them Redis has carried out. Who stops waiting cuts nothing off: a connection that opens
        slowly is there for the next one.

        Raises:
            Exception: the identity's or redis-py's own; `in_words` says what each means.
        """
        task = asyncio.create_task(self._exchange(commands), context=Context())
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return await asyncio.shield(task)

    async def _exchange(self, commands: Iterable[Command]) -> list[Any]:
        async with asyncio.timeout(OPEN_SECONDS + PACKET_SECONDS), self._turns:
            await self.signed_in()  # also renews a token in time
            packet = self._client.pipeline(transaction=False)
            for words in commands:
                packet.execute_command(*words)

            try:
                async with asyncio.timeout(PACKET_SECONDS):
                    replies: list[Any] = await packet.execute(raise_on_error=False)
            except (ValueError, TypeError, RecursionError) as error:  # what redis-py's parser meets
                raise InvalidResponse("No reply of a Redis.") from error
        return replies

    async def close(self) -> None:
        """End what is asked, and close the connections."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._client.aclose()

    def client(self, retries: int = 0) -> Redis:
        """Return a client of its own, to be closed, which sends again as often as `retries` says.

        Wait for `signed_in` first.
        """
        options = {
            **self._pool.connection_kwargs,
            "retry": Retry(NoBackoff(), retries, supported_errors=(RedisConnectionError,)),
        }
        return Redis.from_pool(ConnectionPool(self._pool.connection_class, **options))

    async def signed_in(self) -> None:
        """Return when there is a token to sign in with, where one is needed.

        Raises:
            TimeoutError: the identity is slow; any other error is its own.
        """
        if self.tokens:
            async with asyncio.timeout(OPEN_SECONDS):
                await self.tokens.get()

    @staticmethod
    def in_words(error: BaseException) -> str:
        """Return what an error of its connections means: see `in_words`."""
        return in_words(error)

    async def health(self) -> Readiness:
        """Return ok, or in words why the server does not answer."""
        silent = ": one without TLS is silent to rediss://, and needs redis://"
        try:
            # A refusal is an answer too: a user may have the right to publish alone.
            with suppress(NoPermissionError):
                if await self.ask(("PING",)) != [b"PONG"]:
                    raise InvalidResponse("Another answer to PING.")  # noqa: TRY301
        except Exception as error:  # noqa: BLE001 - whatever it is, it has words
            is_silent = self.has_tls and isinstance(error, TimeoutError | RedisTimeoutError)
            return Readiness.failing(in_words(error) + (silent if is_silent else ""))
        return Readiness.ok()


def _lasting(
    sample: object, tokens: TokenSource | None, clock: Callable[[], float]
) -> type[Connection]:
    """Return the sample's kind of connection, replaced when it is idle for long or signed out.

    The certificates are read here, once for all of them.
    """
    kind: Any = type(sample)
    certificates = sample.ssl_context if isinstance(sample, SSLConnection) else None
    if certificates:
        certificates.get()

    class LastingConnection(kind):  # type: ignore[misc]
        used = 0.0
        token = ""

        def __init__(self, **options: Any) -> None:  # noqa: ANN401 - redis-py's own
            super().__init__(**options)
            if certificates:
                self.ssl_context = certificates

        async def connect(self) -> None:
            held = tokens.held.token if tokens and tokens.held else ""
            # The server cuts the connection of an old token when that ends.
            if clock() - self.used > IDLE_SECONDS or self.token != held:
                await self.disconnect(nowait=True)
            await super().connect()
            self.used, self.token = clock(), held

    return LastingConnection


@asynccontextmanager
async def noted(breaker: CircuitBreaker, seconds: float, forbidden: str) -> AsyncIterator[None]:
    """Bound what is asked in a block; whatever fails is told to the breaker, and to nobody else."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except Exception as error:  # noqa: BLE001 - whatever it is, a request goes on
        breaker.fail(forbidden if isinstance(error, NoPermissionError) else in_words(error))


# ---------------------------------------------------------------------------------------- Entra ID
class EntraLogin(CredentialProvider):
    """Gives every new connection the token that is held; who sends has waited for it before.

    redis-entraid, which does this too, asks for tokens with a blocking call in the event loop.

    It never waits itself and raises errors of redis-py alone: after any other exception, or when a
    caller stops waiting here, redis-py keeps the connection open and not signed in.
    """

    def __init__(self, tokens: TokenSource) -> None:
        """Remember where the tokens come from."""
        self._tokens = tokens

    def get_credentials(self) -> tuple[str, str]:
        """Return the object id and the token; AuthenticationError when there is none."""
        held: Token | None = self._tokens.held
        if held is None:
            raise AuthenticationError("There is no token yet.")
        return object_id(held.token), held.token

    async def get_credentials_async(self) -> tuple[str, str]:
        """Return the same."""
        return self.get_credentials()


def object_id(token: str) -> str:
    """Return the `oid` claim of a token, or raise AuthenticationError; the server checks it."""
    try:
        payload = token.split(".")[1]
        return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["oid"])
    except (ValueError, LookupError, TypeError) as error:
        raise AuthenticationError("The token names no object id.") from error


# -------------------------------------------------------------------------------------------- words
_ENDED = "it ends the connection: a server with TLS needs rediss://"
_SLOTS = "it is a cluster whose keys lie on several nodes: it needs one endpoint (docs/caches.md)"
_MEANINGS: tuple[tuple[type[BaseException], str], ...] = (
    (ssl.SSLCertVerificationError, "its certificate is not trusted here"),
    (ssl.SSLError, "it does not speak TLS: rediss:// is for servers that do"),
    (socket.gaierror, "its host name is not known"),
    (ConnectionRefusedError, "nobody listens at its address"),
    (InvalidResponse, "what answers there is not Redis"),
    (AuthenticationError, "it refuses the user, the password or the token"),
    (NoPermissionError, "its user needs the right to publish and to subscribe"),
    (BusyLoadingError, "it is still loading its data"),
    (AskError, _SLOTS),
    (ClusterCrossSlotError, _SLOTS),
    (ResponseError, "it refuses what it is asked"),
    (RedisTimeoutError, "it does not answer in time"),
    (TimeoutError, "it does not answer in time"),
    (RedisError, _ENDED),
    (OSError, _ENDED),
)
"""What an error means, the narrowest first: a connection's error is often only the cover of one of
the system's."""


def in_words(error: BaseException) -> str:
    """Return what keeps Redis from answering, for people: no address, no name and no secret."""
    links = tuple(causes(error))
    if any(getattr(link, "status_code", "") == "NOAUTH" for link in links):
        return "it asks for a password, and REDIS_URL has none"

    for kind, meaning in _MEANINGS:
        if any(isinstance(link, kind) for link in links):
            return meaning

    return "Entra ID gives no token for it"
