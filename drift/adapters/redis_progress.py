"""ProgressSink over Redis pub/sub: best effort, bounded in time, never an error for the request."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from drift.contracts import CHANNEL

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.credentials import CredentialProvider

log = logging.getLogger("drift")

PUBLISH_SECONDS = 0.5
"""The most one message waits for Redis."""
PAUSE_SECONDS = 10.0
"""How long nothing is tried after a failure, so that a request pays for a dead Redis once at most."""
REDIS_SCOPE = "https://redis.azure.com/.default"


class TokenCredential(Protocol):
    """What this module needs of azure.identity."""

    def get_token(self, *scopes: str) -> object:
        """Return an access token with a `token` attribute; blocks."""
        ...


class RedisProgress:
    """Publishes messages on the channel `ui:retrieval_progress`; after a failure it pauses, then tries again."""

    def __init__(self, client: Redis, clock: Callable[[], float] = time.monotonic) -> None:
        """Keep the client; nothing is sent yet."""
        self._client = client
        self._clock = clock
        self._paused_until = 0.0

    @classmethod
    def connect(cls, url: str, credential: TokenCredential | None = None) -> RedisProgress:
        """Build the client for a `redis://` or `rediss://` URL, with Entra ID when a credential is given.

        RESP2 and no maintenance notifications: a publisher needs neither, and Azure Managed Redis answers both.
        """
        from redis.asyncio import Redis  # noqa: PLC0415 - the SDK loads with the first request
        from redis.asyncio.retry import Retry  # noqa: PLC0415
        from redis.backoff import NoBackoff  # noqa: PLC0415

        client: Redis = Redis.from_url(
            url,
            protocol=2,
            socket_connect_timeout=PUBLISH_SECONDS,
            socket_timeout=PUBLISH_SECONDS,
            socket_keepalive=True,
            health_check_interval=30,
            max_connections=16,
            retry=Retry(NoBackoff(), 1),
            driver_info=None,  # else every new connection reads the package's version from disk, in the event loop
            credential_provider=_entra_provider(credential) if credential else None,
        )
        return cls(client)

    async def publish(self, message: str) -> None:
        """Publish one message; a failure is logged once and starts the pause."""
        if self._clock() < self._paused_until:
            return
        try:
            async with asyncio.timeout(PUBLISH_SECONDS):
                await self._client.publish(CHANNEL, message)
        except Exception as error:  # noqa: BLE001 - whatever happens here must not reach the request
            self._paused_until = self._clock() + PAUSE_SECONDS
            log.warning("progress_publish_failed", extra={"reason": type(error).__name__, "pause_s": PAUSE_SECONDS})

    async def healthy(self) -> bool:
        """Tell whether Redis answers within half a second."""
        try:
            async with asyncio.timeout(PUBLISH_SECONDS):
                return bool(await self._client.ping())
        except Exception:  # noqa: BLE001 - any failure means the same here
            return False

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _entra_provider(credential: TokenCredential) -> CredentialProvider:
    """Return a credential provider: user name is the token's object id, password the token itself."""
    from redis.credentials import CredentialProvider  # noqa: PLC0415

    class EntraProvider(CredentialProvider):
        def get_credentials(self) -> tuple[str, str]:
            token = str(getattr(credential.get_token(REDIS_SCOPE), "token", ""))
            return _object_id(token), token

        async def get_credentials_async(self) -> tuple[str, str]:
            return await asyncio.to_thread(self.get_credentials)

    return EntraProvider()


def _object_id(token: str) -> str:
    """Return the `oid` claim of a token; its signature is the server's business."""
    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return str(claims["oid"])
