"""The page in a browser, over the real function with real servers behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from drift.http.settings import Settings
from drift.local.hosts.local_host import serving
from drift.local.stack.valkey_server import ValkeyServer
from tests.function.conftest import Environment, base_settings, corpus, graph_server
from tests.function.corpus import Corpus
from tests.model_server_fixture import ModelServerControl
from tests.page.browser import DESK, MISSING, QUIET, Visit, find_chromium

__all__ = ["base_settings", "corpus", "graph_server"]

ON_A_DESK: dict[str, Any] = {"viewport": DESK, "locale": "en-GB", "reduced_motion": "reduce"}
PATIENCE_MS = 60_000
Visits = Callable[..., Awaitable[Visit]]
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    """What a module changes of the function's settings."""
    return {}


@pytest.fixture(scope="module")
def working(
    base_settings: Environment, valkey: ValkeyServer, settings: dict[str, str]
) -> Iterator[None]:
    """The environment of a function that works."""
    with pytest.MonkeyPatch.context() as patch:
        for name in Settings.model_fields:
            patch.delenv(name.upper(), raising=False)
        for name, value in {**base_settings, "REDIS_URL": valkey.url, **settings}.items():
            patch.setenv(name, value)
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(
    working: None,  # noqa: ARG001 - set before the first request
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
) -> AsyncIterator[str]:
    """The function's address."""
    async with serving() as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """A browser of this machine."""
    path = find_chromium()
    if path is None:
        pytest.skip(MISSING)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def visits(
    site: str,
    browser: Browser,
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[Visits]:
    """Makes tabs at an address of the page, each of another browser profile.

    Without an address nothing is opened yet. At the end no tab may have complained.
    """
    made: list[Visit] = []
    async with AsyncExitStack() as until_the_end:

        async def visit(
            address: str | None = "", *, refusals: bool = False, **options: Any
        ) -> Visit:
            context = await browser.new_context(**{**ON_A_DESK, **options})
            until_the_end.push_async_callback(context.close)
            context.set_default_timeout(PATIENCE_MS)
            one = Visit(await context.new_page(), site)
            one.watch()
            one.refusals_expected = refusals
            made.append(one)
            if address is not None:
                await one.open(address)
            return one

        yield visit
        for one in made:
            if not one.page.is_closed():
                await one.assert_calm()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tab(browser: Browser) -> AsyncIterator[Page]:
    """A tab on a desk, in English, that keeps the page's files for all tests of a module."""
    context = await browser.new_context(**ON_A_DESK)
    context.set_default_timeout(PATIENCE_MS)
    yield await context.new_page()
    await context.close()


@pytest_asyncio.fixture(loop_scope="module")
async def visit(
    site: str,
    tab: Page,
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[Visit]:
    """The page as if for the first time; at the end it must not have complained."""
    one = Visit(tab, site)
    if tab.url != "about:blank":
        await tab.evaluate(
            """() => new Promise((done) => {
              localStorage.clear();
              sessionStorage.clear();
              const gone = indexedDB.deleteDatabase("drift.threads");
              gone.onsuccess = gone.onerror = done;
            })"""
        )
        await tab.goto("about:blank")
    one.watch()
    await one.open()
    yield one
    await tab.unroute_all()
    await one.assert_calm()
    one.leave()
