"""A Redis that answers nonsense, holds what others wrote, or is a cluster: a miss, and no gate."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from drift.auth.caller import Caller, Quota
from drift.auth.claims import Claims
from drift.auth.quotas import Quotas
from drift.core.errors import ConflictError, QuotaError
from drift.local.stack.loopback import HOST, free_port
from drift.local.stack.valkey_server import ValkeyServer, server_program
from drift.model.health import Level
from drift.redis import server as server_module
from drift.redis.claims import PREFIX, RedisClaims
from drift.redis.counter import RedisCounter
from drift.redis.progress import RedisProgress
from drift.redis.server import RedisServer
from tests.listening import listening
from tests.wire.redis_entries import entries_at, keep, new_key

ADA, BEN = Caller("ada"), Caller("ben")

NONSENSE = {
    "a status": b"+OK\r\n",
    "nil": b"$-1\r\n",
    "a number": b":7\r\n",
    "a bulk of two bytes": b"$2\r\nOK\r\n",
    "an empty list": b"*0\r\n",
    "a list of nil": b"*1\r\n$-1\r\n",
    "a very nested list": b"*1\r\n" * 3000 + b":1\r\n",
    "two numbers": b"*2\r\n:1\r\n:2\r\n",
    "a negative count": b"*2\r\n:-5\r\n:-5\r\n",
    "another's counts": b"*5\r\n$32\r\n" + b"0" * 32 + b"\r\n" + b":0\r\n" * 4,
    "an error": b"-ERR no\r\n",
    "another node": b"-MOVED 1 127.0.0.1:1\r\n",
    "another address": b"-MOVED\r\n",
    "no number": b":x\r\n",
    "a web server": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "a type of RESP3": b"%1\r\n+a\r\n+b\r\n",
    "half a bulk": b"$10\r\nab",
    "nothing": b"",
}


async def command(reader: asyncio.StreamReader) -> list[bytes]:
    """Read one command."""
    words = []
    for _ in range(int((await reader.readline())[1:])):
        length = int((await reader.readline())[1:])
        words.append((await reader.readexactly(length + 2))[:-2])
    return words


@asynccontextmanager
async def answering(reply: bytes, *, to_ping: bytes = b"+PONG\r\n") -> AsyncIterator[str]:
    """Answer whatever is asked with the same bytes; yield the address."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while words := await command(reader):
                writer.write(to_ping if words[0] == b"PING" else reply)
        except (ValueError, EOFError, OSError):
            writer.close()

    async with listening(connected) as address:
        yield f"redis://{address}"


@asynccontextmanager
async def claims_at(url: str) -> AsyncIterator[tuple[RedisClaims, Claims]]:
    server = RedisServer(url)
    shared = RedisClaims(server)
    try:
        yield shared, Claims(shared)
    finally:
        await server.close()


# ----------------------------------------------------------------------------------------- nonsense
@pytest.mark.parametrize("reply", NONSENSE.values(), ids=NONSENSE)
async def test_nonsense_is_a_miss_counts_no_caller_out_and_fails_no_claim(reply: bytes) -> None:
    async with answering(reply) as url:
        async with entries_at(url, wait_s=0.3) as entries:
            assert await entries.get([new_key(), new_key()]) == {}
        server = RedisServer(url)
        quotas = Quotas(RedisCounter(server))
        caller = Caller("team", quota=Quota(requests_per_minute=2))
        for _ in range(2):
            await quotas.admit(caller)
        with pytest.raises(QuotaError):
            await quotas.admit(caller)
        used, is_of_all = await quotas.used(caller)
        assert (used[0].used, is_of_all) == (2, False)
        assert (await quotas.readiness()).level is Level.DEGRADED
        await server.close()
        async with claims_at(url) as (shared, claims):
            await claims.take("id", ADA, 9, is_chosen=True)
            with pytest.raises(ConflictError):
                await claims.take("id", BEN, 9, is_chosen=True)
            assert "claimed in each process alone" in str(await shared.health())


@pytest.mark.parametrize("to_ping", [b"+OK\r\n", b":x\r\n"])
async def test_what_answers_a_ping_otherwise_is_no_redis(to_ping: bytes) -> None:
    async with answering(b"+OK\r\n", to_ping=to_ping) as url:
        server = RedisServer(url)
        assert "what answers there is not Redis" in str(await server.health())
        await server.close()


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (b"-MOVED 1 127.0.0.1:1\r\n", "one endpoint"),
        (b"+OK\r\n", "what answers there is not Redis"),
    ],
)
async def test_ready_says_that_nothing_is_kept_and_why(reply: bytes, said: str) -> None:
    async with answering(reply) as url, entries_at(url) as entries:
        standing = await entries.health()
        assert standing.level is Level.DEGRADED
        assert said in standing.reason
        assert "no embedding is kept in it" in standing.reason


# ------------------------------------------------------------------------------- slow connections
@asynccontextmanager
async def signing_in_slowly() -> AsyncIterator[tuple[RedisServer, list[bytes]]]:
    """Take 0.3 s for signing in, then echo; yield all commands by their first words."""
    heard: list[bytes] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ValueError, EOFError, OSError):
            while words := await command(reader):
                heard.append(words[0])
                if words[0] == b"AUTH":
                    await asyncio.sleep(0.3)
                writer.write(b"+OK\r\n" if words[0] == b"AUTH" else b"+%b\r\n" % words[-1])

    async with listening(connected) as address:
        yield RedisServer(f"redis://user:password@{address}"), heard


async def test_a_connection_that_opens_slowly_is_there_for_who_asks_next() -> None:
    async with signing_in_slowly() as (server, heard):
        answers = []
        for number in range(4):
            with suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    answers += await server.ask(("ECHO", number))
            await asyncio.sleep(0.2)
        assert answers == [b"1", b"2", b"3"]
        assert heard.count(b"AUTH") == 1
        await server.close()


async def test_what_nobody_waits_for_ends_with_the_server() -> None:
    async with signing_in_slowly() as (server, heard):
        with suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await server.ask(("ECHO", "a"))
        await server.close()
        await asyncio.sleep(0.5)
        assert heard == [b"AUTH"]


async def test_nobody_waits_for_a_turn_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "OPEN_SECONDS", 0.1)
    monkeypatch.setattr(server_module, "PACKET_SECONDS", 0.1)
    async with answering(b"") as url:
        server = RedisServer(url)
        asked = (server.ask(("ECHO", "a")) for _ in range(60))
        async with asyncio.timeout(1):
            answers = await asyncio.gather(*asked, return_exceptions=True)
        assert {type(answer) for answer in answers} == {TimeoutError}
        await server.close()


# ------------------------------------------------------------------------------ messages sent again
async def test_a_message_that_redis_refuses_is_sent_again_and_holds_up_no_other() -> None:
    heard: list[bytes] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ValueError, EOFError, OSError):
            while words := await command(reader):
                heard.append(words[2])
                is_refused = words[2] == b"refused"
                writer.write(b"-OOM command not allowed.\r\n" if is_refused else b":1\r\n")

    async with listening(connected) as address:
        sink = RedisProgress(RedisServer(f"redis://{address}"))
        for text in ("refused", "taken"):
            sink.send(text, last=True)
        async with asyncio.timeout(10):
            while len(heard) < 3:  # noqa: ASYNC110 - the server tells nobody
                await asyncio.sleep(0.01)
            sink.send("later", last=True)
            while b"later" not in heard:  # noqa: ASYNC110 - the same
                await asyncio.sleep(0.01)
        await sink.close()
    assert heard[:3] == [b"refused", b"taken", b"refused"]


async def test_a_packet_that_breaks_is_followed_by_smaller_ones() -> None:
    heard: Counter[bytes] = Counter()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ValueError, EOFError, OSError):
            for _ in range(5):
                heard[(await command(reader))[2]] += 1
                writer.write(b":1\r\n")
            await writer.drain()
        writer.close()

    async with listening(connected) as address:
        sink = RedisProgress(RedisServer(f"redis://{address}"))
        for number in range(12):
            sink.send(str(number), last=True)
        async with asyncio.timeout(10):
            while sink._carrier:  # noqa: ASYNC110 - a message is late: `delivered` waits for none
                await asyncio.sleep(0.01)
        await sink.close()
    assert len(heard) == 12
    assert max(heard.values()) <= 4


# ------------------------------------------------------------------------------- ids of retrievals
async def test_an_id_is_one_caller_s_in_all_processes(valkey: ValkeyServer) -> None:
    one = str(uuid4())
    async with (
        claims_at(valkey.url) as (shared, first),
        claims_at(valkey.url) as (_, second),
        Redis.from_url(valkey.url, protocol=2) as admin,
    ):
        await first.take(one, ADA, 100, is_chosen=True)
        for claims in (first, second):
            with pytest.raises(ConflictError):
                await claims.take(one, BEN, 100, is_chosen=True)
        assert 0 < await admin.ttl(PREFIX + one) <= 100
        assert ADA.name.encode() not in await admin.get(PREFIX + one)
        await second.take(one, ADA, 1000, is_chosen=True)
        assert await admin.ttl(PREFIX + one) > 100
        assert (await shared.health()).is_ok
        await admin.delete(PREFIX + one)
        await admin.rpush(PREFIX + one, "x")  # of another type, by somebody else
        async with claims_at(valkey.url) as (_, third):
            await third.take(one, BEN, 100, is_chosen=True)


async def test_of_many_callers_at_once_one_gets_the_id(valkey: ValkeyServer) -> None:
    one, callers = str(uuid4()), [Caller(f"caller {number}") for number in range(8)]
    async with AsyncExitStack() as opened:
        made = [await opened.enter_async_context(claims_at(valkey.url)) for _ in callers]
        got = await asyncio.gather(
            *(
                claims.take(one, caller, 100, is_chosen=True)
                for (_, claims), caller in zip(made, callers, strict=True)
            ),
            return_exceptions=True,
        )
    assert got.count(None) == 1
    assert sum(isinstance(each, ConflictError) for each in got) == len(callers) - 1


# ---------------------------------------------------------------------------------------- a cluster
SLOTS = 16384
BUS = 10_000
"""How far above its port a node listens for other nodes."""


def port_with_bus() -> int:
    """Return a free port below 55,000 whose node can listen for others too."""
    for port in iter(free_port, None):
        if port >= 55_000:
            continue
        with socket.socket() as bus:
            try:
                bus.bind((HOST, port + BUS))
            except OSError:
                continue
            return port
    raise AssertionError


@asynccontextmanager
async def cluster(folder: Path) -> AsyncIterator[str]:
    """Run a cluster of one node; on another port when one was taken meanwhile."""
    for _ in range(5):
        port = port_with_bus()
        options = ["--port", str(port), "--bind", HOST, "--save", "", "--dir", str(folder)]
        node = subprocess.Popen(  # noqa: ASYNC220, S603 - our own program
            [server_program(), *options, "--cluster-enabled", "yes"], stdout=subprocess.DEVNULL
        )
        url = f"redis://{HOST}:{port}"
        try:
            if await has_all_slots(url, node):
                yield url
                return
        finally:
            node.terminate()
            node.wait()
    pytest.fail("No node of a cluster stays up.")


async def has_all_slots(url: str, node: subprocess.Popen[bytes]) -> bool:
    """Give the node its slots, and tell when it serves them; not so when it has ended."""
    async with asyncio.timeout(90), Redis.from_url(url, protocol=2) as admin:
        while node.poll() is None:
            try:
                state = str(await admin.execute_command("CLUSTER", "INFO"))
                if "cluster_state:ok" in state:
                    return True
                if "cluster_slots_assigned:0" in state:
                    await admin.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
            except RedisConnectionError:  # it is starting
                pass
            await asyncio.sleep(0.1)
    return False


async def test_keys_of_several_slots_are_looked_up_together(tmp_path: Path) -> None:
    async with cluster(tmp_path) as url, entries_at(url) as entries:
        bodies = {new_key(): b"x" for _ in range(20)}
        await keep(entries, **bodies)
        assert await entries.get(list(bodies)) == bodies
        assert (await entries.health()).is_ok
