"""ProgressSink over Redis pub/sub: best effort, bounded in time, never an error for the request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.connection import SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from drift.adapters.entra import TokenSource
from drift.adapters.redis_entra import EntraLogin
from drift.contracts import CHANNEL
from drift.logs import chain, log

PUBLISH_SECONDS = 0.8
"""The most one message waits for Redis, and for the identity that signs in to it."""
ANSWER_SECONDS = 0.3
"""How long an answer may take. A connection that the network has dropped in silence is given up then, and the message
is sent once more on a new one: both fit into PUBLISH_SECONDS."""
PAUSE_SECONDS = 10.0
"""How long nothing is tried after a failure, so that a request pays for a dead Redis once at most."""
HEALTH_TOKEN_SECONDS = 5.0
"""How long a health check waits for the identity: a first token takes its time."""

_Send = Callable[[Redis], Awaitable[object]]


class RedisProgress:
    """Publishes messages on the channel `ui:retrieval_progress`; after a failure it pauses, then tries again."""

    def __init__(
        self,
        make_client: Callable[[], Redis],
        tokens: TokenSource | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make the first client; nothing is sent yet. With `tokens`, new ones replace the connections of the old ones."""
        self._make_client = make_client
        self._client = make_client()
        self._retiring: set[asyncio.Task[None]] = set()
        self._clock = clock
        self._paused_until = 0.0
        self._failure = ""
        self._tokens = tokens
        if tokens:
            tokens.on_new = self._sign_in_anew

    @classmethod
    def connect(
        cls, url: str, tokens: TokenSource | None = None, clock: Callable[[], float] = time.monotonic
    ) -> RedisProgress:
        """Build the client for a `redis://` or `rediss://` URL, with Entra ID when there are tokens.

        Reads the certificates, so call it in a thread.
        """
        return cls(_client_maker(url, EntraLogin(tokens) if tokens else None), tokens, clock)

    async def publish(self, message: str) -> None:
        """Publish one message; a failure starts the pause, and is logged when it is not the same as the last one."""
        if self._clock() < self._paused_until:
            return
        try:
            async with asyncio.timeout(PUBLISH_SECONDS):
                await self._send(lambda client: client.publish(CHANNEL, message))
        except Exception as error:  # noqa: BLE001 - whatever happens here must not reach the request
            self._failed(chain(error))
        else:
            self._worked()

    async def healthy(self) -> bool:
        """Tell whether Redis answers within PUBLISH_SECONDS, once there is a token."""
        try:
            if self._tokens:
                async with asyncio.timeout(HEALTH_TOKEN_SECONDS):
                    await self._tokens.get()
            async with asyncio.timeout(PUBLISH_SECONDS):
                return bool(await self._send(lambda client: client.ping()))
        except Exception:  # noqa: BLE001 - any failure means the same here
            return False

    async def close(self) -> None:
        """Close the connections."""
        for task in (retiring := tuple(self._retiring)):
            task.cancel()
        await asyncio.gather(*retiring, return_exceptions=True)
        await self._client.aclose()

    async def _send(self, send: _Send) -> object:
        """Send, and when that fails once more: the first one may have found a connection that the network has dropped.

        Not redis-py's own retry: a connection that was reset while idle fails there with an error of asyncio's.
        """
        if self._tokens:
            await self._tokens.get()
        try:
            return await send(self._client)
        except Exception:  # noqa: BLE001 - the second failure is the one that counts
            return await send(self._client)

    def _sign_in_anew(self) -> None:
        """Leave the connections of the old token, which the server cuts when it ends; the pause may have been for the new one."""
        self._paused_until = 0.0
        old, self._client = self._client, self._make_client()
        task = asyncio.create_task(_retire(old))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    def _failed(self, cause: str) -> None:
        self._paused_until = self._clock() + PAUSE_SECONDS
        if cause != self._failure:
            self._failure = cause
            log.warning("progress_publish_failed", extra={"cause": cause, "pause_s": PAUSE_SECONDS})

    def _worked(self) -> None:
        if self._failure:
            self._failure = ""
            log.info("progress_publish_restored")


async def _retire(client: Redis) -> None:
    """Close a client when the messages on their way have arrived, or have been given up."""
    try:
        await asyncio.sleep(PUBLISH_SECONDS)
    finally:
        await client.aclose()


def _client_maker(url: str, login: EntraLogin | None) -> Callable[[], Redis]:
    """Return what makes clients of the same server.

    RESP2 and no maintenance notifications: a publisher needs neither, and Azure Managed Redis answers both. The clients share
    their certificates: redis-py reads them from disk for every new connection, which held the event loop up for 57 to 124 ms on a loaded machine.
    """

    def make_pool() -> ConnectionPool:
        return ConnectionPool.from_url(
            url,
            protocol=2,
            socket_connect_timeout=PUBLISH_SECONDS,
            socket_timeout=ANSWER_SECONDS,
            socket_keepalive=True,
            max_connections=16,
            retry=Retry(NoBackoff(), 0),  # RedisProgress sends again by itself
            driver_info=None,  # else every new connection reads the package's version from disk, in the event loop
            credential_provider=login,
        )

    sample: object = make_pool().make_connection()  # type: ignore[no-untyped-call]
    if not isinstance(sample, SSLConnection):
        return lambda: Redis.from_pool(make_pool())
    certificates = sample.ssl_context
    certificates.get()

    class SharedCertificates(SSLConnection):
        def __init__(self, **options: Any) -> None:  # noqa: ANN401 - redis-py's own
            super().__init__(**options)
            self.ssl_context = certificates

    def make_client() -> Redis:
        pool = make_pool()
        pool.connection_class = SharedCertificates
        return Redis.from_pool(pool)

    return make_client
