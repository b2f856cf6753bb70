"""The users of docs/progress.md, made in Valkey by the commands as they stand there."""

from __future__ import annotations

import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError

from drift.contracts.progress import CHANNEL, OWN_CHANNEL, channel_of
from drift.local.stack.valkey_server import ValkeyServer
from drift.redis.progress import RedisProgress
from drift.redis.server import RedisServer

DOCUMENT = Path(__file__).parents[2] / "docs" / "progress.md"
COMMANDS = re.findall(r"^ACL SETUSER .*$", DOCUMENT.read_text(), re.MULTILINE)
PASSWORD = "canary-password"
PATIENCE_S = 5.0


@pytest.fixture
async def users(valkey: ValkeyServer) -> AsyncIterator[dict[str, str]]:
    """Make the users; gives the URL of each by its name."""
    made = {}
    async with Redis.from_url(valkey.url, protocol=2) as admin:
        for command in COMMANDS:
            words = shlex.split(command.replace("PASSWORD", PASSWORD))
            await admin.execute_command(*words)
            made[words[2]] = valkey.url.replace("redis://", f"redis://{words[2]}:{PASSWORD}@")
        yield made
        for name in made:
            await admin.execute_command("ACL", "DELUSER", name)


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


@pytest.mark.parametrize(
    "command",
    [
        ("PSUBSCRIBE", "ui:retrieval_progress:*"),
        ("SUBSCRIBE", CHANNEL),
        ("SUBSCRIBE", "other"),
        ("PUBSUB", "CHANNELS"),
        ("PUBLISH", "ui:retrieval_progress:x", "forged"),
        ("GET", "key"),
        ("KEYS", "*"),
        ("ACL", "LIST"),
    ],
    ids=" ".join,
)
async def test_a_listener_may_do_nothing_else(
    users: dict[str, str], command: tuple[str, ...]
) -> None:
    async with Redis.from_url(users["drift-listener"], protocol=2) as client:
        with pytest.raises(NoPermissionError):
            await client.execute_command(*command)


@pytest.mark.parametrize(
    "command",
    [("SUBSCRIBE", "ui:retrieval_progress:x"), ("PUBLISH", "other", "text"), ("GET", "key")],
    ids=" ".join,
)
async def test_the_function_may_publish_on_its_channels_alone(
    users: dict[str, str], command: tuple[str, ...]
) -> None:
    async with Redis.from_url(users["drift-function"], protocol=2) as client:
        with pytest.raises(NoPermissionError):
            await client.execute_command(*command)
