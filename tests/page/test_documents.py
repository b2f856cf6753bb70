"""Documents dropped on the page: each one's state, and the next question knows them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.async_api import Route, expect

from tests.function.access_keys import entry
from tests.function.corpus import PROJECT
from tests.page.browser import Visit
from tests.page.conftest import Visits
from tests.page.replies import PROBLEM, problem

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

NOTES = f"notes-{uuid4()}"
WRITER, WRITERS = entry("writer", [NOTES], rights=["read", "write"])
READER, READERS = entry("reader", [PROJECT])
FERRY = "# Ferry\n\nThe ferry to Skarv leaves at noon from the East Jetty.\n"
HOSTILE = "<img src=x onerror=alert(1)>.md"


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    keys = json.dumps([WRITERS, READERS])
    return {"AUTH_MODE": "keys", "PROJECT_KEYS": keys, "ENABLE_INDEXING": "true"}


async def writing(visits: Visits) -> Visit:
    """The page of who may write, in a project that is not there before the first document."""
    size = {"width": 1200, "height": 800}
    return await visits(f"?project={NOTES}#key={WRITER}", viewport=size, refusals=True)


async def drag(visit: Visit, kind: str, *files: Path) -> None:
    """Have the browser do what it does when files come from outside."""
    session = await visit.page.context.new_cdp_session(visit.page)
    data = {"items": [], "files": [str(path) for path in files], "dragOperationsMask": 1}
    at = {"x": 600, "y": 700}
    await session.send("Input.dispatchDragEvent", {"type": kind, "data": data, **at})
    await session.detach()


async def drop(visit: Visit, *files: Path) -> None:
    for kind in ("dragEnter", "dragOver", "drop"):
        await drag(visit, kind, *files)


async def states(visit: Visit) -> list[str]:
    """Return what is said of each document, when nothing is under way."""
    await visit.page.wait_for_selector("#clear-documents:visible")
    return await visit.page.locator("#sent li").all_inner_texts()


async def test_what_is_dropped_is_known_to_the_next_question(
    visits: Visits, tmp_path: Path
) -> None:
    visit = await writing(visits)
    sent: list[str] = []
    visit.page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)
    folder, large, page, ferry, hostile, old = (
        tmp_path / name
        for name in ("folder", "large.txt", "page.html", "ferry.md", HOSTILE, "old.doc")
    )
    folder.mkdir()
    large.write_text("x" * (1024 * 1024 + 1))
    page.write_text("<h1>Canteen</h1><p>Herring is served in the canteen on Fridays at noon.")
    old.write_bytes(b"\xd0\xcf\x11\xe0")
    ferry.write_text(FERRY)
    hostile.write_text("# Canteen\n\nHerring is served on Fridays.\n")

    await drag(visit, "dragEnter", ferry)
    await drag(visit, "dragOver", ferry)
    assert NOTES in await visit.text("#drop-words:visible")
    assert "PDF" in await visit.text("#documents-about")
    assert await visit.page.get_attribute("#files", "accept") is None
    await visit.picture("documents-drag")
    await drag(visit, "dragCancel", ferry)
    await visit.page.wait_for_selector("#drop", state="hidden", timeout=5000)

    await drop(visit, folder, large, ferry, page, hostile, old)
    of_folder, of_large, of_ferry, of_page, of_hostile, of_old = await states(visit)
    assert "folder Refused: This is a folder" in of_folder.replace("\n", " ")
    assert "large.txt Refused: At most 1 MiB" in of_large.replace("\n", " ")
    assert f"ferry.md added to {NOTES}, 1 passage" in of_ferry.replace("\n", " ")
    assert f"page.html added to {NOTES}, 1 passage" in of_page.replace("\n", " ")
    assert "save it as .docx" in of_old
    assert of_hostile.startswith(HOSTILE)
    assert len(sent) == 4
    assert visit.page.url.startswith(visit.url)
    facts = visit.page.locator("#project-facts")  # the project is looked at anew
    await expect(facts).to_contain_text("3 documents, 3 passages")
    await visit.assert_for_everybody()
    await visit.picture("documents-desk")

    await visit.ask("When does the ferry to Skarv leave?", until=".actions")
    assert "noon" in await visit.text(".answer")
    await visit.page.click("#clear-documents")
    assert await visit.page.locator("#sent li").count() == 0
    assert await visit.page.evaluate("document.activeElement.id") == "choose-documents"


async def test_a_project_that_is_held_is_tried_again_and_the_rest_can_be_left(
    visits: Visits, tmp_path: Path
) -> None:
    visit = await writing(visits)
    tried: list[str] = []

    async def held(route: Route) -> None:
        tried.append(route.request.url)
        wait = "60" if "second" in route.request.url else "1"
        if len(tried) == 2:
            await route.continue_()
        else:
            body = json.dumps(problem(409, "project_held"))
            headers = {"retry-after": wait}
            await route.fulfill(status=409, body=body, content_type=PROBLEM, headers=headers)

    await visit.page.route("**/documents?project_id=*", held)
    files = [tmp_path / name for name in ("first.md", "second.md", "third.md")]
    for one in files:
        one.write_text(f"# Boat\n\nThis is the boat {one.stem}.\n")
    # A button that is not shown yet takes no focus, and the key would go elsewhere.
    await visit.page.wait_for_selector("#choose-documents")
    async with visit.page.expect_file_chooser() as choosing:
        await visit.page.press("#choose-documents", "Enter")
    await (await choosing.value).set_files(files)

    await visit.page.wait_for_selector("text=It is sent again in 1 s.")
    await visit.page.wait_for_selector("text=It is sent again in 60 s.")
    await visit.page.set_viewport_size({"width": 320, "height": 640})
    await visit.page.emulate_media(color_scheme="dark")
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert await visit.page.evaluate(wide) == 0
    await visit.assert_for_everybody()
    await visit.picture("documents-phone", whole=True)
    await visit.page.click("#stop-documents")
    first, *rest = await states(visit)
    assert f"added to {NOTES}" in first
    assert [one.partition(".md")[2].strip() for one in rest] == ["not sent"] * 2
    assert len(tried) == 3


async def test_what_was_new_can_be_undone_and_what_was_replaced_cannot(
    visits: Visits, tmp_path: Path
) -> None:
    visit = await writing(visits)
    boat, sent = tmp_path / "boat.md", visit.page.locator("#sent li")
    may_go = asyncio.Event()

    async def slow(route: Route) -> None:
        await may_go.wait()
        await route.continue_()

    await visit.page.route("**/documents?project_id=*", slow)
    boat.write_text("# Boat\n\nIt is red.\n")
    await drop(visit, boat)
    await expect(sent.get_by_role("progressbar", name="boat.md")).to_be_visible()
    may_go.set()
    await sent.get_by_role("button", name="Undo").click()
    await expect(sent).to_contain_text(f"taken out of {NOTES} again")

    await drop(visit, boat)
    await expect(sent.get_by_role("button", name="Undo")).to_be_visible()
    await visit.assert_for_everybody()
    boat.write_text("# Boat\n\nIt is blue.\n")
    await drop(visit, boat)
    await expect(sent.nth(2)).to_contain_text("what it replaced cannot be brought back")
    await expect(sent.get_by_role("button", name="Undo")).to_have_count(0)

    oars = tmp_path / "oars.md"
    oars.write_text("# Oars\n\nThere are two.\n")
    await drop(visit, oars)
    await expect(sent.get_by_role("button", name="Undo")).to_be_visible()
    oars.write_text("# Oars\n\nThere are four.\n")
    await visit.page.click("#show-documents")
    row = visit.page.locator(".documents li").filter(has_text="Oars")
    await row.locator(".more").click()
    await visit.page.set_input_files(".does input[type=file]", oars)
    await expect(row.locator(".state")).to_contain_text("cannot be brought back")
    await expect(sent.get_by_role("button", name="Undo")).to_have_count(0)


async def test_who_may_not_write_is_offered_nothing_and_a_drop_leaves_the_page_as_it_is(
    visits: Visits, tmp_path: Path
) -> None:
    visit = await visits(f"#key={READER}")
    await visit.page.wait_for_selector("#examples button")
    (tmp_path / "ferry.md").write_text(FERRY)
    before = visit.page.url
    await drop(visit, tmp_path / "ferry.md")
    assert visit.page.url == before
    assert not await visit.page.locator("#documents").is_visible()
    assert not await visit.page.locator("#drop").is_visible()
    assert await visit.page.locator("#sent li").count() == 0
