"""Progress through a Redis that takes tokens of Entra ID.

A real Valkey whose user is an object id and whose password a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError
from redis.exceptions import AuthenticationError

from drift.auth.entra import RENEW_S, TokenSource
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.progress import RedisProgress
from drift.redis.server import REDIS_SCOPE, EntraLogin, RedisServer, object_id
from tests.proxy import proxied
from tests.wire.entra_redis import HOUR, PATIENCE_S, Cache, Identity, publish, renewed

pytestmark = pytest.mark.slow


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


async def test_a_token_that_is_given_a_second_time_keeps_the_connection(
    sink: RedisProgress, cache: Cache, tokens: TokenSource
) -> None:
    await publish(sink, "before")
    old = await cache.connections()
    assert tokens.held
    tokens.held = AccessToken(tokens.held.token, tokens.held.expires_on)
    await publish(sink, "after")
    assert [await cache.heard() for _ in range(2)] == ["before", "after"]
    assert await cache.connections() == old


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
    async with asyncio.timeout(PATIENCE_S):
        while len(events()) < 4:  # noqa: ASYNC110 - the listener hears it before its sender does
            await asyncio.sleep(0.01)
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
