"""One token for everybody.

Fetches are shared, nobody waits for a renewal, and an identity may fail.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError

from drift.auth.entra import PAUSE_S, RENEW_S, TokenSource
from drift.core.logs import OneLine

SCOPE = "https://one.example/.default"
HOUR = 3600


class Identity:
    """A credential that numbers its tokens; `open` lets it answer, and `error` makes it fail."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.asked = 0
        self.error: Exception | None = None
        self.open = threading.Event()
        self.open.set()

    def get_token(self, *scopes: str) -> AccessToken:
        assert scopes == (SCOPE,)
        assert threading.current_thread() is not threading.main_thread()
        self.asked += 1
        assert self.open.wait(30)
        if self.error:
            raise self.error
        return AccessToken(f"token-{self.asked}", int(self.now) + HOUR)


@pytest.fixture
def identity() -> Identity:
    return Identity()


@pytest.fixture
def source(identity: Identity) -> TokenSource:
    return TokenSource(SCOPE, lambda: identity, clock=lambda: identity.now)


@pytest.fixture
def events(caplog: pytest.LogCaptureFixture) -> Any:
    """The names of the events in the log so far."""
    caplog.set_level(logging.INFO, "drift")
    assert any(isinstance(one, OneLine) for one in logging.getLogger("drift").filters)
    return lambda: [record.event for record in caplog.records if record.name == "drift"]


async def renewed(source: TokenSource) -> None:
    """Wait until the fetch in the background has ended."""
    assert source._fetch.task
    await asyncio.wait([source._fetch.task])
    await asyncio.sleep(0)


async def test_those_who_ask_at_the_same_time_share_one_fetch(
    identity: Identity, source: TokenSource
) -> None:
    assert {token.token for token in await asyncio.gather(*(source.get() for _ in range(50)))} == {
        "token-1"
    }
    assert (await source.get()).token == "token-1"
    assert identity.asked == 1


async def test_nobody_waits_for_the_renewal_of_a_token_that_is_still_valid(
    identity: Identity, source: TokenSource
) -> None:
    await source.get()
    identity.now += HOUR - RENEW_S + 1
    identity.open.clear()
    assert {(await source.get()).token for _ in range(5)} == {"token-1"}
    identity.open.set()
    await renewed(source)
    assert (await source.get()).token == "token-2"
    assert identity.asked == 2


async def test_a_token_that_has_ended_is_not_given_out(
    identity: Identity, source: TokenSource
) -> None:
    await source.get()
    identity.now += HOUR
    assert (await source.get()).token == "token-2"


async def test_a_renewal_that_fails_keeps_the_token_and_is_tried_again_after_a_pause(
    identity: Identity, source: TokenSource, events: Any
) -> None:
    await source.get()
    identity.now += HOUR - RENEW_S + 1
    identity.error = ClientAuthenticationError("canary")
    assert (await source.get()).token == "token-1"
    await renewed(source)
    assert (await source.get()).token == "token-1"
    assert identity.asked == 2
    identity.now += PAUSE_S + 1
    identity.error = None
    assert (await source.get()).token == "token-1"
    await renewed(source)
    assert (await source.get()).token == "token-3"
    assert events() == ["entra_token_failed", "entra_token_restored"]


async def test_an_identity_that_fails_is_logged_once_and_without_its_words(
    identity: Identity, source: TokenSource, events: Any, caplog: pytest.LogCaptureFixture
) -> None:
    identity.error = ClientAuthenticationError("canary")
    for _ in range(3):
        with pytest.raises(ClientAuthenticationError):
            await source.get()
    assert events() == ["entra_token_failed"]
    assert "ClientAuthenticationError" in caplog.text
    assert "canary" not in caplog.text


async def test_who_stops_waiting_does_not_stop_the_fetch(
    identity: Identity, source: TokenSource
) -> None:
    identity.open.clear()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(source.get(), 0.01)
    identity.open.set()
    assert (await source.get()).token == "token-1"
    assert identity.asked == 1
