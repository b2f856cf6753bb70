"""The document of a passage as the function keeps and gives it: from a file to its marked words."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from tests.function.access_keys import entry
from tests.page.conftest import Visits
from tests.page.test_source import DOWNLOAD, MARKED, pdf

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

PROJECT = f"kept-{uuid4()}"
KEY, KEYS = entry("writer", [PROJECT], rights=["read", "write"])
NAME = "times & tides.pdf"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    store = {"DOCUMENT_STORE": str(tmp_path_factory.mktemp("originals"))}
    access = {"AUTH_MODE": "keys", "PROJECT_KEYS": json.dumps([KEYS])}
    return {"ENABLE_INDEXING": "true", **access, **store}


async def test_what_was_added_opens_at_the_words_until_it_is_removed(
    visits: Visits, tmp_path: Path
) -> None:
    visit = await visits(f"?project={PROJECT}#key={KEY}", refusals=True)
    (tmp_path / NAME).write_bytes(pdf(3, quote_on=2))
    await visit.page.set_input_files("#files", tmp_path / NAME)
    await visit.page.wait_for_selector("#clear-documents:visible")
    await visit.ask("When does the ferry leave?", until=".answer .cite")
    await visit.page.click(".answer .cite >> nth=0")
    await visit.page.wait_for_selector(f".pdf .page-text, {MARKED}")
    assert await visit.page.locator(".pdf mark").count() > 0
    async with visit.page.expect_download() as coming:
        await visit.page.click(DOWNLOAD)
    assert (await coming.value).suggested_filename == NAME
    await (await coming.value).save_as(tmp_path / "kept")
    assert (tmp_path / "kept").read_bytes() == (tmp_path / NAME).read_bytes()

    address = f"{visit.url}/documents/{NAME.replace('&', '%26')}?project_id={PROJECT}"
    assert (await visit.page.request.delete(address, headers={"x-api-key": KEY})).ok
    await visit.page.click("#panel-close")
    await visit.page.click(".answer .cite >> nth=0")
    await visit.page.wait_for_selector("#panel .problem:has-text('removed or replaced')")
