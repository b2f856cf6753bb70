"""The document of a passage as the function keeps and gives it: from a file to its marked words."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from tests.function.access_keys import entry
from tests.page.conftest import Visits
from tests.page.test_source import DOWNLOAD, MARKED, NOTE, pdf

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

PROJECT = f"kept-{uuid4()}"
KEY, KEYS = entry("writer", [PROJECT], rights=["read", "write"])


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    store = str(tmp_path_factory.mktemp("originals"))
    keys = json.dumps([KEYS])
    more = {"ENABLE_INDEXING": "true", "DOCUMENT_STORE": store}
    return {"AUTH_MODE": "keys", "PROJECT_KEYS": keys, **more}


async def test_what_was_added_opens_at_the_words_until_it_is_removed(
    visits: Visits, tmp_path: Path
) -> None:
    visit = await visits(f"?project={PROJECT}#key={KEY}", refusals=True)
    made = {
        "times & tides.pdf": pdf(3, quote_on=2),
        "canteen.html": b"<h1>Canteen</h1><p>Herring is <b>served</b> on Fridays at noon.",
    }
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    await visit.page.set_input_files("#files", [tmp_path / name for name in made])
    await visit.page.wait_for_selector("#clear-documents:visible")
    for question, view in (
        ("When does the ferry leave?", ".pdf .page-text mark"),
        ("When is herring served?", ".answer mark"),
    ):
        await visit.ask(question)
        await visit.answered()
        await visit.page.click(".turn:last-child .answer .cite >> nth=0")
        await visit.page.wait_for_selector(f"#panel .source {view}")
        assert await visit.page.locator(MARKED).count() > 0
        async with visit.page.expect_download() as coming:
            await visit.page.click(DOWNLOAD)
        await (await coming.value).save_as(tmp_path / "kept")
        assert (tmp_path / "kept").read_bytes() in made.values()

    headers = {"x-api-key": KEY}
    address = f"{visit.url}/documents/canteen.html?project_id={PROJECT}"
    assert (await visit.page.request.delete(address, headers=headers)).ok
    await visit.page.click("#panel-close")
    await visit.page.click(".turn:last-child .answer .cite >> nth=0")
    await visit.page.wait_for_selector("#panel .problem:has-text('removed or replaced')")
    assert await visit.page.locator(NOTE).count() == 0
