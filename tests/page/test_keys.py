"""Two callers with keys of their own: what belongs to one is never in the other's page."""

from __future__ import annotations

import json

import pytest

from tests.function.access_keys import entry
from tests.function.corpus import PROJECT, QUESTION
from tests.page.browser import Visit
from tests.page.conftest import Visits

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

READER, READERS = entry("reader", [PROJECT])
OTHER, OTHERS = entry("other", ["harbour-chunks-only"])


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    return {"AUTH_MODE": "keys", "PROJECT_KEYS": json.dumps([READERS, OTHERS])}


async def with_key(visits: Visits, key: str) -> Visit:
    return await visits(f"#key={key}", refusals=True)


async def test_who_has_no_key_is_asked_for_one_and_it_lasts_for_the_tab(visits: Visits) -> None:
    visit = await visits(refusals=True)
    await visit.page.wait_for_selector("#key-dialog[open]")
    assert "your projects" in await visit.text("#key-about")
    await visit.assert_for_everybody()
    await visit.page.keyboard.type(READER)
    await visit.page.keyboard.press("Enter")
    await visit.page.wait_for_selector("#examples button")
    assert await visit.page.input_value("#project") == PROJECT
    await visit.page.reload()
    await visit.page.wait_for_selector("#examples button")


async def test_a_key_of_the_address_works_at_once(visits: Visits) -> None:
    visit = await with_key(visits, READER)
    await visit.page.wait_for_selector("#examples button")
    await visit.ask(QUESTION, until=".actions")
    assert READER not in await visit.page.content()


async def test_a_wrong_key_is_said(visits: Visits) -> None:
    visit = await with_key(visits, "wrong")
    await visit.page.wait_for_selector("#key-dialog[open]")
    assert "not known here" in await visit.text("#key-problem")


async def test_with_another_key_nothing_of_the_first_caller_is_left(visits: Visits) -> None:
    visit = await with_key(visits, READER)
    await visit.ask(QUESTION, until=".actions")
    await visit.page.locator(".cite").first.click()
    await visit.page.wait_for_selector("#panel mark")
    await visit.page.click("#panel-close")

    await visit.page.click("#show-key")
    await visit.page.fill("#key", OTHER)
    await visit.page.keyboard.press("Enter")
    await visit.page.wait_for_function(
        "() => document.querySelector('#project').value === 'harbour-chunks-only'"
    )
    await visit.page.wait_for_selector("html[data-ready]")
    told = await visit.page.inner_text("body")
    assert "No question yet" in told
    assert QUESTION not in told
    assert PROJECT not in [
        one.strip() for one in await visit.page.locator("#project option").all_inner_texts()
    ]


async def test_another_project_is_refused_with_what_to_do(visits: Visits) -> None:
    visit = await with_key(visits, OTHER)
    await visit.page.select_option("#project", label="Another project …")
    await visit.page.fill("#other-project", PROJECT)
    await visit.ask(QUESTION, until=".turn .problem")
    assert "does not open this project" in await visit.text(".turn .problem")
    assert "Choose another project" in await visit.text(".turn .problem")
