"""Keys are read again while requests go on; a source that fails leaves them as they were."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass, field

import pytest

from drift.auth.keyring import EARLY_S, KEPT_S, MAX_AGE_S, PAUSE_S, KeyRing
from drift.auth.project_keys import KeysError, hash_of
from drift.core.errors import UnauthenticatedError
from drift.model.health import Level


def value(*keys: str) -> str:
    entries = [
        {"name": f"name of {key}", "sha256": hash_of(key.encode()), "projects": ["*"]}
        for key in keys
    ]
    return json.dumps(entries)


async def turns() -> None:
    """Let what goes on beside the test go on."""
    for _ in range(5):
        await asyncio.sleep(0)


@dataclass
class Source:
    """What PROJECT_KEYS says, and how often it was asked."""

    text: str | Exception = ""
    reads: int = 0
    slow: asyncio.Event | None = None

    async def read(self) -> str:
        self.reads += 1
        if self.slow:
            await self.slow.wait()
        if isinstance(self.text, Exception):
            raise self.text
        return self.text


@dataclass
class Scene:
    """A ring over a source, with a clock that is set by hand."""

    source: Source = field(default_factory=lambda: Source(value("old")))
    now: float = 1000.0
    ring: KeyRing = field(init=False)

    def __post_init__(self) -> None:
        self.ring = KeyRing(self.source.read, lambda: self.now)

    async def knows(self, key: str) -> bool:
        try:
            (await self.ring.keys()).caller(key.encode())
        except UnauthenticatedError:
            return False
        return True


async def test_a_source_is_read_once_for_all_who_ask_at_the_start() -> None:
    scene = Scene()
    assert all(await asyncio.gather(*(scene.knows("old") for _ in range(50))))
    assert scene.source.reads == 1


async def test_a_key_that_was_taken_away_is_unknown_after_a_minute() -> None:
    scene = Scene()
    assert await scene.knows("old")
    scene.source.text = value("new")
    scene.now += MAX_AGE_S - EARLY_S
    assert await scene.knows("old")
    scene.now += EARLY_S + 0.1
    assert not await scene.knows("old")
    assert await scene.knows("new")


async def test_shortly_before_that_it_is_read_beside_the_request() -> None:
    scene = Scene()
    assert await scene.knows("old")
    scene.source.text, scene.source.slow = value("old", "new"), asyncio.Event()
    scene.now += MAX_AGE_S - EARLY_S + 0.1
    assert not await scene.knows("new")

    scene.source.slow.set()
    await turns()
    assert await scene.knows("new")
    assert scene.source.reads == 2


@pytest.mark.parametrize("broken", [OSError("canary"), '[{"canary": 1}]'])
async def test_a_value_that_cannot_be_used_keeps_the_old_one_and_says_so(
    broken: str | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "drift")
    scene = Scene()
    assert await scene.knows("old")
    scene.source.text = broken
    for _ in range(3):
        scene.now += MAX_AGE_S + 1
        assert await scene.knows("old")

    standing = scene.ring.readiness()
    assert standing.level is Level.DEGRADED
    assert "the keys from before are used for 57 more minutes at most" in standing.reason
    assert [record.event for record in caplog.records] == ["project_keys_unreadable"]
    assert "canary" not in caplog.text + standing.reason

    scene.source.text = value("new")
    scene.now += PAUSE_S + 1
    assert await scene.knows("old")
    await turns()
    assert await scene.knows("new")
    assert scene.ring.readiness().is_ok


@pytest.mark.parametrize("none", ["[]", " \n"])
async def test_a_value_without_a_key_takes_the_last_one_away(
    none: str, caplog: pytest.LogCaptureFixture
) -> None:
    scene = Scene()
    assert await scene.knows("old")
    scene.source.text = none
    scene.now += MAX_AGE_S + 1
    for _ in range(2):
        with pytest.raises(KeysError, match="holds no"):
            await scene.ring.keys()
    assert scene.ring.readiness().level is Level.FAILING
    assert [record.event for record in caplog.records] == ["project_keys_unreadable"]

    scene.source.text = OSError()  # what fails now brings no key back
    with pytest.raises(KeysError):
        await scene.ring.keys()
    scene.source.text = value("new")
    assert await scene.knows("new")
    assert not await scene.knows("old")


@pytest.mark.parametrize("broken", [OSError("canary"), "canary"])
async def test_a_value_that_cannot_be_used_keeps_the_old_one_for_an_hour(
    broken: str | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    scene = Scene()
    assert await scene.knows("old")
    scene.source.text = broken
    for _ in range(3):
        scene.now += KEPT_S / 3
        assert await scene.knows("old")
        await turns()
    scene.now += 1
    assert scene.ring.readiness().level is Level.FAILING
    for _ in range(2):
        with pytest.raises(KeysError):
            await scene.ring.keys()
    told = [record.event for record in caplog.records]
    assert told == ["project_keys_unreadable", "project_keys_expired"]

    scene.source.text = value("old")
    assert await scene.knows("old")
    assert scene.ring.readiness().is_ok


async def test_keys_that_nobody_used_for_hours_are_read_before_they_are() -> None:
    scene = Scene()
    assert await scene.knows("old")
    scene.now += KEPT_S * 5
    scene.source.text = value("new")
    assert await scene.knows("new")
    scene.now += KEPT_S * 5
    scene.source.text = OSError()
    with pytest.raises(KeysError, match="could not be read"):
        await scene.ring.keys()


async def test_a_source_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drift.auth.keyring.READ_S", 0)
    scene = Scene()
    scene.source.slow = asyncio.Event()
    with pytest.raises(KeysError, match="could not be read"):
        await scene.ring.keys()


async def test_nobody_waits_for_a_source_that_is_known_to_fail() -> None:
    scene = Scene()
    assert await scene.knows("old")
    scene.source.text = OSError()
    scene.now += MAX_AGE_S + 1
    assert await scene.knows("old")
    scene.source.slow = asyncio.Event()
    scene.now += PAUSE_S + 1
    assert await scene.knows("old")
    await turns()
    assert scene.source.reads == 3
    scene.source.slow.set()


async def test_without_any_keys_there_is_an_error_until_there_are_some() -> None:
    scene = Scene(Source(OSError()))
    with pytest.raises(KeysError, match="could not be read"):
        await scene.ring.keys()
    assert scene.ring.readiness().level is Level.FAILING
    scene.source.text = value("k")
    assert await scene.knows("k")


async def test_a_caller_who_leaves_does_not_end_the_reading() -> None:
    scene = Scene()
    scene.source.slow = asyncio.Event()
    gone = asyncio.create_task(scene.ring.keys())
    stays = asyncio.create_task(scene.knows("old"))
    await asyncio.sleep(0)
    gone.cancel()
    scene.source.slow.set()
    assert await stays
    assert scene.source.reads == 1


async def test_a_hundred_keys_are_rotated_without_a_refused_request() -> None:
    scene = Scene(Source(value("key 0")))
    for number in range(100):
        current, following = f"key {number}", f"key {number + 1}"
        assert await scene.knows(current)
        scene.source.text = value(current, following)
        scene.now += MAX_AGE_S + 1
        assert all(await asyncio.gather(*(scene.knows(k) for k in (current, following) * 20)))

        scene.source.text = value(following)
        scene.now += MAX_AGE_S + 1
        assert await scene.knows(following)
        assert not await scene.knows(current)
