"""The read routes over HTTP: the examples of the OpenAPI document, and lists that go on."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote

import pytest

from drift.http.settings import load
from drift.local.hosts.local_host import serving
from drift.routes import document
from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller, calling
from tests.function.corpus import PROJECT, TEXTS
from tests.function.handbook import PROJECT as HANDBOOK
from tests.function.handbook import fill_handbook

PATHS = document()["paths"]
READS = sorted(
    path
    for path, methods in PATHS.items()
    if path.startswith(("/projects", "/documents", "/chunks", "/entities"))
    and "get" in methods
    and not path.endswith(("/feedback", "/content"))  # which Redis and a store hold
)
READER, READERS = entry("reader of the handbook", [HANDBOOK])


@pytest.fixture(scope="session")
def handbook(base_settings: dict[str, str]) -> None:
    """The project of the examples."""
    asyncio.run(fill_handbook(load(base_settings)))


def example_request(path: str) -> tuple[str, dict[str, Any]]:
    """Return path and query of an operation, made of the examples of its parameters."""
    query: dict[str, Any] = {}
    for parameter in PATHS[path]["get"].get("parameters", []):
        if "example" not in parameter:
            continue
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", quote(parameter["example"], safe=""))
        else:
            query[parameter["name"]] = parameter["example"]
    return path, query


@pytest.mark.usefixtures("handbook")
async def test_each_example_is_answered_as_the_document_shows_it(
    environment: pytest.MonkeyPatch,
) -> None:
    use_keys(environment, READERS)
    async with serving() as url, calling(url) as caller:
        for path in READS:
            shown = PATHS[path]["get"]["responses"]["200"]["content"]["application/json"]["example"]
            sent, query = example_request(path)
            assert "{" not in sent
            reply = await caller.client.get(sent, params=query, headers={"x-api-key": READER})
            assert reply.status_code == 200, reply.text
            answer = reply.json()
            if "written_at" in answer:  # the time of this run
                assert answer["written_at"].endswith("Z")
                answer["written_at"] = shown["written_at"]
            if "content" in answer:  # no store is set here
                assert answer["content"] is None
                answer["content"] = shown["content"]
            assert answer == shown, path
            assert reply.headers["cache-control"] == "no-store"


async def test_what_an_answer_cites_can_be_read_up_to_its_neighbours(function: Caller) -> None:
    fact = (await function.answer())["key_facts"][0]
    (cited,) = fact["citations"][:1]
    client, asked = function.client, {"project_id": PROJECT}
    chunk = (await client.get(f"/chunks/{cited['chunk_id']}", params=asked)).json()
    assert cited["span"] in chunk["text"]
    assert chunk["document"]["name"] == cited["document_name"]

    path = f"/documents/{quote(chunk['document']['id'], safe='')}"
    read = (await client.get(path, params=asked)).json()
    ids = [one["id"] for one in read["chunks"]]
    at = ids.index(chunk["id"])
    around = [chunk[side] and chunk[side]["id"] for side in ("before", "after")]
    assert around == [ids[at - 1] if at else None, ids[at + 1] if at + 1 < len(ids) else None]


async def test_pages_go_on_to_the_end(function: Caller) -> None:
    names, cursor, limit = [], None, 3
    while True:
        asked = {"limit": limit, **({"cursor": cursor} if cursor else {})}
        page = (await function.client.get(f"/projects/{PROJECT}/documents", params=asked)).json()
        assert len(page["documents"]) <= limit
        names += [one["name"] for one in page["documents"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert sorted(names) == sorted(TEXTS)
