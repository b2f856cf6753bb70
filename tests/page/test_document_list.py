"""The documents of a project as a list, and chips that restrict a question to some of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from playwright.async_api import Route, expect

from tests.function.access_keys import entry
from tests.function.corpus import PROJECT
from tests.page.browser import PHONE, Visit
from tests.page.conftest import Visits
from tests.page.replies import problem, reading

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]

NOTES = f"notes-{uuid4()}"
WRITER, WRITERS = entry("writer", [NOTES, PROJECT], rights=["read", "write"])
READER, READERS = entry("reader", [PROJECT])
SAID = {"noon.md": "noon from the East Jetty", "dusk.md": "dusk from the West Jetty"}
LONG = "<img src=x onerror=alert(1)> " + "wide" * 70
TOLD = "#panel [role=status]"


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    keys = json.dumps([WRITERS, READERS])
    return {"AUTH_MODE": "keys", "PROJECT_KEYS": keys, "ENABLE_INDEXING": "true"}


async def writing(visits: Visits) -> Visit:
    """The page of who may write, in a project of two documents."""
    visit = await visits(f"?project={NOTES}#key={WRITER}", refusals=True)
    for name, when in SAID.items():
        text = f"# Ferry at {when[:4]}\n\nThe ferry to Skarv leaves at {when}.\n"
        body = {"project_id": NOTES, "id": name, "text": text, "tags": [when[:4]]}
        done = await visit.page.request.post(
            f"{visit.url}/documents", data=body, headers={"x-api-key": WRITER}
        )
        assert done.ok, await done.text()
    await opened(visit)
    return visit


async def opened(visit: Visit) -> None:
    await visit.page.click("#show-documents")
    await visit.page.wait_for_selector(".documents li")


async def does(visit: Visit, row: int, what: str) -> None:
    """Do something with a document of the list."""
    await visit.page.locator(".documents .more").nth(row).click()
    await visit.page.locator(".does").get_by_role("button", name=what).click()


def listing(*documents: dict[str, Any], more: str | None = None) -> dict[str, Any]:
    rows = [{"name": one["id"], "source_uri": None, "chunk_count": 1, **one} for one in documents]
    return {"documents": rows, "next": more}


async def test_a_document_is_found_read_changed_and_removed(visits: Visits, tmp_path: Path) -> None:
    visit = await writing(visits)
    page, rows = visit.page, visit.page.locator(".documents li")
    await expect(rows).to_have_count(2)
    await visit.assert_for_everybody()
    await visit.picture("document-list-desk")

    await page.fill("#panel input[type=search]", "AT NOON")
    await expect(rows).to_have_count(1)
    await rows.get_by_role("button", name="Ferry at noon", exact=True).click()
    await expect(page.locator("#panel .here")).to_contain_text("East Jetty")
    await page.click("#panel-back")
    await expect(rows).to_have_count(1)  # as they were found
    await does(visit, 0, "Switch off")
    await expect(rows).to_contain_text("off: no question sees it")
    await page.locator(".documents .row").click()
    await expect(rows.locator(".state")).to_have_text("It has no passage that questions see.")
    await does(visit, 0, "Switch on")
    await expect(rows).not_to_contain_text("off:")

    wrong, right = tmp_path / "new.txt", tmp_path / "new.md"
    for one in (wrong, right):
        one.write_text("# Ferry at noon\n\nIt leaves from the North Jetty.\n")
    await page.locator(".documents .more").click()
    await expect(page.locator(".does")).to_contain_text("Its tags stay when it is replaced.")
    for one, told in ((wrong, "has to end as the document"), (right, "cannot be brought back")):
        await page.set_input_files(".does input[type=file]", one)
        await expect(rows.locator(".state")).to_contain_text(told)
    await does(visit, 0, "Remove")
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="Click again").click()
    await expect(page.locator(TOLD).first).to_have_text("Ferry at noon was removed.")
    await expect(rows).to_have_count(0)


async def test_chips_restrict_a_question_and_are_kept_with_its_thread(visits: Visits) -> None:
    visit = await writing(visits)
    page, chips = visit.page, visit.page.locator("#chips .chip")
    asked: list[Any] = []
    page.on("request", lambda one: asked.append(one.post_data_json) if "/retr" in one.url else None)
    await page.get_by_label("Ask only: Ferry at dusk").check()
    await page.fill(".chooser input", "dusk")
    await page.get_by_role("button", name="Ask only these").click()
    await expect(page.locator(".documents li")).to_have_count(1)  # narrowed as questions are
    await page.select_option(".chooser select", "updated_at")
    await page.fill(".chooser input", "2020-02-29")
    await page.get_by_role("button", name="Ask only these").click()
    await expect(chips).to_contain_text(["Ferry at dusk", "Tag dusk", "Changed since 2020-02-29"])
    await page.click("#panel-close")
    await visit.ask("When does the ferry to Skarv leave?", until=".actions")
    assert asked[0]["filter"] == {"type": "and", "filters": [
        {"type": "in", "key": "document_id", "value": ["dusk.md"]},
        {"type": "in", "key": "tag", "value": ["dusk"]},
        {"type": "gte", "key": "updated_at", "value": "2020-02-29"},
    ]}  # fmt: skip
    assert "West Jetty" in await visit.text(".answer")
    assert "Document Ferry at dusk, Tag dusk" in await visit.text(".restricted")

    await page.reload()
    await page.wait_for_selector("html[data-ready]")
    await expect(chips).to_have_count(3)
    assert "Tag dusk" in await visit.text(".restricted")
    await page.set_viewport_size(PHONE)
    await page.emulate_media(color_scheme="dark")
    await visit.assert_for_everybody()
    await visit.picture("chips-phone")
    for left in (2, 1, 0):
        await chips.locator("button").first.click()
        await expect(chips).to_have_count(left)
    assert await page.evaluate("document.activeElement.id") == "question"
    await visit.ask("When does the ferry to Skarv leave?", until=".turn:last-child .actions")
    assert "filter" not in asked[1]
    await page.focus("#question")  # on a phone the rest of the form comes with it
    await opened(visit)
    await page.get_by_label("Ask only: Ferry at noon").check()
    await visit.assert_for_everybody()
    await visit.picture("document-list-phone")
    await page.click("#panel-close")
    await page.focus("#question")
    await page.select_option("#project", PROJECT)
    await expect(chips).to_have_count(0)


async def test_what_stands_in_a_list_is_text_and_what_is_gone_goes(visits: Visits) -> None:
    visit = await visits(f"?project={PROJECT}#key={WRITER}", refusals=True)
    page, rows, path = visit.page, visit.page.locator(".documents li"), f"/projects/{PROJECT}/doc"
    many = [{"id": f"{one}.md", "source": "api"} for one in range(48)]
    odd = [
        {"id": LONG, "tags": [LONG]},
        {"id": "قواعد المرفأ", "off": True, "source": "graphrag"},
    ]
    await reading(page, path, listing(*odd, *many, more="behind"))
    await reading(page, "/documents/", problem(404, "not_found"))
    await opened(visit)
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    await expect(rows.nth(0)).to_contain_text(LONG)
    await page.locator(".documents .more").nth(1).click()
    assert await page.locator(".does button").count() == 0  # of a graph that was imported whole
    await visit.assert_for_everybody()
    await page.get_by_role("button", name="0.md", exact=True).click()
    await expect(rows).to_have_count(49)
    await expect(page.locator(TOLD).first).to_have_text("0.md: It is not there any more.")

    await reading(page, path, listing({"id": "behind.md"}))
    await page.get_by_role("button", name="Show more").click()
    await expect(rows).to_have_count(50)
    await page.route(f"**{path}*", lambda route: route.abort())
    await page.fill("#panel input[type=search]", "x")
    await expect(page.locator("#panel .problem")).to_contain_text("cannot be reached")
    await page.unroute(f"**{path}*")
    await page.locator("#panel .problem button").click()
    await expect(rows).to_have_count(1)


async def test_a_list_is_of_one_project_and_who_reads_changes_nothing(visits: Visits) -> None:
    reader = await visits(f"#key={READER}")
    await opened(reader)
    assert await reader.page.locator(".documents .more").count() == 0

    visit = await visits(f"?project={NOTES}#key={WRITER}", refusals=True)
    is_asked, is_late = asyncio.Event(), asyncio.Event()

    async def late(route: Route) -> None:
        is_asked.set()
        await is_late.wait()
        await route.fulfill(body=json.dumps(listing({"id": "secret.md"})))

    await visit.page.route(f"**/projects/{NOTES}/documents*", late)
    await visit.page.click("#show-documents")
    await is_asked.wait()
    await visit.page.select_option("#project", PROJECT)
    is_late.set()
    await opened(visit)
    assert "secret" not in await visit.text("#panel")
