"""The users of docs/progress.md and docs/access.md, made in Valkey by their own commands."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError, ResponseError

from drift.auth.caller import Caller, Project
from drift.auth.claims import Claims
from drift.contracts.feedback import FeedbackOut, ScorableAnswer
from drift.contracts.progress import CHANNEL, OWN_CHANNEL, channel_of
from drift.core.errors import FeedbackUnavailableError
from drift.local.stack.valkey_server import ValkeyServer
from drift.model.reading import PageQuery
from drift.redis.claims import RedisClaims
from drift.redis.counter import RedisCounter
from drift.redis.feedback import RedisFeedback
from drift.redis.progress import RedisProgress
from drift.redis.server import RedisServer
from drift.redis.shared_values import RedisValues
from tests.wire.redis_entries import entries_at, keep, new_key

DOCS = Path(__file__).parents[2] / "docs"
PASSWORD = "canary-password"
PATIENCE_S = 5.0


@asynccontextmanager
async def made(valkey: ValkeyServer, document: str) -> AsyncIterator[dict[str, str]]:
    """Make the users of a document; give the URL of each by its name."""
    commands = re.findall(r"^ACL SETUSER .*$", (DOCS / document).read_text(), re.MULTILINE)
    urls = {}
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        for command in commands:
            words = shlex.split(command.replace("PASSWORD", PASSWORD))
            await admin.execute_command(*words)
            urls[words[2]] = valkey.url.replace("redis://", f"redis://{words[2]}:{PASSWORD}@")
        yield urls
        for name in urls:
            await admin.execute_command("ACL", "DELUSER", name)


@pytest.fixture
async def users(valkey: ValkeyServer) -> AsyncIterator[dict[str, str]]:
    """The users of docs/progress.md."""
    async with made(valkey, "progress.md") as urls:
        yield urls


@pytest.mark.parametrize("document", ["access.md", "progress.md"])
async def test_the_function_may_claim_ids_share_runs_and_keep_embeddings(
    valkey: ValkeyServer, document: str
) -> None:
    key = new_key()
    async with made(valkey, document) as urls:
        server = RedisServer(urls["drift-function"])
        shared = RedisClaims(server)
        await Claims(shared).take(str(uuid4()), Caller("ada"), 100, is_chosen=True)
        assert (await shared.health()).is_ok
        values, other = RedisValues(server, b"secret"), RedisValues(server, b"secret", "settings")
        assert [await values.hold(key, one, 10) for one in (b"1", b"2", b"1")] == [b"1"] * 3
        assert await other.hold(key, b"2", 10) == b"2"
        assert await values.put(f"{key}:1", b"event", 10)
        assert await values.get([key, f"{key}:1", f"{key}:2"]) == [b"1", b"event", None]
        assert await values.put(key, b"", 0)
        await asyncio.sleep(0.05)
        assert await values.hold(key, b"2", 10) == b"2"
        assert (await values.health()).is_ok
        await server.close()
        async with entries_at(urls["drift-function"]) as entries:
            await keep(entries, **{key: b"x"})
            assert await entries.get([key]) == {key: b"x"}


async def test_the_function_may_keep_feedback_where_the_user_is_that_of_quotas(
    valkey: ValkeyServer,
) -> None:
    project = Project(f"project {uuid4()}", Caller("ada"))
    said = FeedbackOut(
        retrieval_id=str(uuid4()),
        project_id=project.id,
        question="What?",
        facts=(),
        score=-1,
        fact=None,
        reason="old",
        comment=None,
        expected=(),
        given_at=datetime.now(UTC),
    )
    answer = ScorableAnswer.model_validate(said.model_dump())
    for document, may in (("access.md", True), ("progress.md", False)):
        async with made(valkey, document) as urls:
            server = RedisServer(urls["drift-function"])
            feedback = RedisFeedback(server, 90)
            feedback.remember(project.caller, answer)
            assert await feedback.answer(project.caller, said.retrieval_id) == answer
            assert await feedback.answer(Caller("ben"), said.retrieval_id) is None
            assert (await feedback.health()).is_ok
            if may:
                await feedback.give(project, said)
                assert (await feedback.of_project(project, PageQuery(5))).rows == (said,)
            else:
                with pytest.raises(FeedbackUnavailableError, match=r"docs/access\.md"):
                    await feedback.of_project(project, PageQuery(5))
            await server.close()


async def test_an_id_is_claimed_in_the_process_where_the_user_may_not(
    valkey: ValkeyServer,
) -> None:
    async with (
        made(valkey, "progress.md") as urls,
        Redis.from_url(valkey.url, protocol=2) as admin,
    ):
        await admin.execute_command("ACL", "SETUSER", "drift-function", "resetkeys", "~embed:*")
        server = RedisServer(urls["drift-function"])
        shared = RedisClaims(server)
        await Claims(shared).take(str(uuid4()), Caller("ada"), 100, is_chosen=True)
        assert "docs/access.md" in str(await shared.health())
        values = RedisValues(server, b"secret")
        assert await values.hold("key", b"1", 10) is None
        assert "docs/access.md" in str(await values.health())
        await server.close()


async def test_the_function_may_count_and_touch_no_count_otherwise(valkey: ValkeyServer) -> None:
    async with made(valkey, "access.md") as urls:
        server, name = RedisServer(urls["drift-function"]), f"team {uuid4()}"
        counter = RedisCounter(server)
        counts = [await counter.count(name, most=1, tokens=5) for _ in range(2)]
        assert [(one.requests, one.tokens, one.wait_s > 0) for one in counts] == [
            (1, 5, False),
            (1, 10, True),
        ]
        await server.close()
        read = ("EVAL", "return redis.call('GET', KEYS[1])", "1")
        count = "drift:quota:{x}:tokens"
        async with Redis.from_url(urls["drift-function"], protocol=2) as client:
            for command in (
                (*read, "other"),
                (*read, count),
                ("FLUSHALL",),
                ("DEL", count),
                ("CONFIG", "GET", "*"),
            ):
                with pytest.raises(ResponseError, match="permission"):
                    await client.execute_command(*command)


async def test_who_knows_the_id_hears_the_retrieval_and_nobody_else(users: dict[str, str]) -> None:
    channel = channel_of(OWN_CHANNEL, str(uuid4()))
    sink = RedisProgress(RedisServer(users["drift-function"]))
    async with (
        Redis.from_url(users["drift-listener"], protocol=2) as client,
        client.pubsub() as listening,
    ):
        await listening.subscribe(channel)
        assert await listening.get_message(timeout=PATIENCE_S)
        sink.send("to nobody", last=False, channel=channel_of(OWN_CHANNEL, str(uuid4())))
        sink.send("to the listener", last=True, channel=channel)
        heard = await listening.get_message(timeout=PATIENCE_S)
        while heard is None or heard["type"] != "message":
            heard = await listening.get_message(timeout=PATIENCE_S)
    assert heard["data"] == b"to the listener"
    assert (await sink.health()).is_ok
    await sink.close()


async def test_a_listener_may_do_nothing_else(users: dict[str, str]) -> None:
    async with Redis.from_url(users["drift-listener"], protocol=2) as client:
        for command in (
            ("PSUBSCRIBE", "ui:retrieval_progress:*"),
            ("SUBSCRIBE", CHANNEL),
            ("SUBSCRIBE", "other"),
            ("PUBSUB", "CHANNELS"),
            ("PUBLISH", "ui:retrieval_progress:x", "forged"),
            ("GET", "key"),
            ("KEYS", "*"),
            ("ACL", "LIST"),
        ):
            with pytest.raises(NoPermissionError):
                await client.execute_command(*command)


async def test_the_function_may_publish_on_its_channels_alone(users: dict[str, str]) -> None:
    async with Redis.from_url(users["drift-function"], protocol=2) as client:
        for command in (
            ("SUBSCRIBE", "ui:retrieval_progress:x"),
            ("PUBLISH", "other", "text"),
            ("GET", "key"),
        ):
            with pytest.raises(NoPermissionError):
                await client.execute_command(*command)
