"""Documents sent to the function: the next question knows them, and only who may send them does."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from drift.contracts.documents import MEGABYTE
from drift.http.dispatcher import Dispatcher
from drift.http.settings import load
from drift.indexing.readers import AT_ONCE, WAITING
from drift.integrations.indexer import Indexer
from drift.local.wiring import build_writer
from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller, assert_is_problem, citations
from tests.function.corpus import PROJECT
from tests.function.slow_file import read_slowly
from tests.ingest import made_files as made

QUESTION = "When does the ferry to Skarv leave?"
NOON = "# Ferry\n\nThe ferry to Skarv leaves at noon from the East Jetty.\n"
DUSK = "# Ferry\n\nThe ferry to Skarv leaves at dusk from the West Jetty.\n"


@pytest.fixture
def own(environment: pytest.MonkeyPatch) -> str:
    """A project of the test's own, with the routes open, where answers are kept."""
    environment.setenv("ENABLE_INDEXING", "true")
    environment.setenv("CACHE_ANSWERS", "true")
    environment.setenv("PROGRESS_CHANNEL", f"test:{uuid4()}")
    return f"notes-{uuid4()}"


async def add(function: Caller, project: str | None, **more: Any) -> httpx2.Response:
    body = {"id": "sea/ferry.md", "text": NOON, **more}
    named = {} if project is None else {"project_id": project}
    return await function.client.post("/documents", json={**named, **body})


async def send(function: Caller, project: str, name: str, content: bytes) -> httpx2.Response:
    """Send a file as it is."""
    return await function.client.post(
        "/documents",
        params={"project_id": project, "id": name},
        headers={"content-type": "application/octet-stream"},
        content=content,
    )


async def remove(function: Caller, project: str, name: str = "sea%2Fferry.md") -> httpx2.Response:
    return await function.client.delete(f"/documents/{name}?project_id={project}")


async def answer(function: Caller, project: str) -> tuple[str, set[str]]:
    """Return the answer, and the documents that it cites."""
    asked = await function.answer(QUESTION, project, depth="quick")
    return asked["final_answer"], {one["document_name"] for one in citations(asked)}


async def test_the_next_question_knows_a_document_its_change_and_that_it_is_gone(
    own: str, function: Caller
) -> None:
    told = {"id": "sea/ferry.md", "project_id": own, "title": "Ferry", "chunks": 1}
    for outcome in ("added", "unchanged"):
        added = await add(function, own)
        assert (added.status_code, added.json()) == (200, {**told, "outcome": outcome}), added.text
        for _ in range(2):  # the second one is kept
            text, cited = await answer(function, own)
            assert ("noon" in text, cited) == (True, {"Ferry"})

    changed = await add(function, own, text=DUSK, title="Timetable")
    assert changed.json() == {**told, "title": "Timetable", "outcome": "changed"}
    text, cited = await answer(function, own)
    assert ("dusk" in text, "noon" in text, cited) == (True, False, {"Timetable"})
    ready = (await function.client.get("/health/ready")).json()
    assert ready["knowledge"].startswith("ok: documents changed since knowledge was derived: ")

    assert (await remove(function, own)).status_code == 204
    assert (await function.answer(QUESTION, own))["no_data_found"]
    assert_is_problem(await remove(function, own), 404, "not_found")


async def test_a_body_may_be_the_document_itself_and_programs_index_without_http(
    own: str, function: Caller
) -> None:
    for media_type, name, title in (
        ("text/markdown; charset=utf-8", "ferry", "Ferry"),
        ("text/plain", "ferry.pdf", "Ferry"),
    ):
        named = {"project_id": own, "id": name}
        headers = {"content-type": media_type}
        added = await function.client.post(
            "/documents", params=named, headers=headers, content=NOON.encode()
        )
        assert added.json()["title"] == title, added.text

    async with Indexer.from_env(own) as index:
        assert (await index.add("ferry", DUSK)).outcome == "changed"
        await index.remove("ferry.pdf")
    text, _ = await answer(function, own)
    assert ("dusk" in text, "noon" in text) == (True, False)


async def test_a_raw_body_leaves_what_was_said_of_its_document(own: str, function: Caller) -> None:
    """A filter of a key, by tags, lets through what it did before."""
    said = {"tags": ["hr"], "metadata": {"ward": 7}, "created_at": "2020-02-02"}
    await add(function, own, id="a.md", source_uri="https://docs.example.com/a.md", **said)

    async def told() -> dict[str, Any]:
        page = await function.client.get("/documents/a.md", params={"project_id": own})
        kept = ("tags", "metadata", "created_at", "source_uri")
        return {name: page.json().get(name) for name in kept}

    before = await told()
    assert before["tags"] == ["hr"]
    assert (await send(function, own, "a.md", DUSK.encode())).json()["outcome"] == "changed"
    assert await told() == before
    assert (await send(function, own, "a.md", DUSK.encode())).json()["outcome"] == "unchanged"
    await add(function, own, id="a.md")
    assert (await told())["tags"] is None, "JSON says all of it"


async def test_a_file_is_read_by_its_ending_where_the_service_reads_files(
    own: str, function: Caller
) -> None:
    harbour = made.pdf([["The harbour is old."], ["The ferry to Skarv leaves at noon."]], "Harbour")
    sent = await send(function, own, "a/Report.PDF", harbour)
    assert (sent.json().get("title"), sent.json().get("chunks")) == ("Harbour", 1), sent.text
    asked = await function.answer(QUESTION, own, depth="quick", include=["locations"])
    assert [one["page"] for one in citations(asked)] == [2]

    assert (await send(function, own, "ferry.py", b"# It leaves at noon")).status_code == 200
    for name, content, told in (
        ("a.pdf", harbour[:200], "is damaged"),
        ("a.docx", b"no zip", "is damaged"),
        ("a.doc", b"\xd0\xcf", "save it as .docx"),
        ("a.pdf", b"", "is empty"),
    ):
        problem = assert_is_problem(
            await send(function, own, name, content), 400, "invalid_request"
        )
        assert told in problem["errors"][0]["message"], problem


async def test_a_deployed_service_reads_text_alone(
    own: str, dispatcher: Dispatcher, function: Caller
) -> None:
    dispatcher.provider.read_file = None
    assert (await send(function, own, "ferry.md", NOON.encode())).json()["title"] == "Ferry"
    for name in ("a.pdf", "a.html"):
        refused = await send(function, own, name, b"%PDF\0")
        problem = assert_is_problem(refused, 400, "invalid_request")
        assert "other files by `drift ingest`" in problem["errors"][0]["message"]


async def test_files_that_are_slow_to_read_keep_nobody_waiting_and_more_are_refused(
    own: str, dispatcher: Dispatcher, function: Caller
) -> None:
    (await dispatcher.provider.get()).read_file = read_slowly
    sending = [
        asyncio.create_task(send(function, own, f"{n}.md", NOON.encode()))
        for n in range(AT_ONCE + WAITING + 1)
    ]
    refused, _ = await asyncio.wait(sending, return_when=asyncio.FIRST_COMPLETED)
    assert_is_problem(refused.pop().result(), 429, "busy")
    assert (await function.client.get("/rag")).status_code == 200
    assert len([one for one in sending if not one.done()]) == AT_ONCE + WAITING
    others = {one.status_code for one in await asyncio.gather(*sending)}
    assert others <= {200, 409, 429}  # two at a time for one project
    assert (await add(function, own)).status_code == 200


async def test_what_cannot_be_indexed_is_refused_by_name(own: str, function: Caller) -> None:
    for fields, wrong in (
        ({"id": "page.html"}, "text"),
        ({"id": ""}, "id"),
        ({"text": " \n"}, "text"),
        ({"source_uri": "/etc/passwd"}, "source_uri"),
        ({"surprise": 1}, "surprise"),
    ):
        problem = assert_is_problem(await add(function, own, **fields), 400, "invalid_request")
        assert [one["field"] for one in problem["errors"]] == [wrong], problem
    assert_is_problem(await add(function, None), 400, "invalid_request")

    plain = {"content-type": "text/plain"}
    for query in ("", "?id=a", f"?project_id={own}", f"?project_id={own}&id=a&x=1"):
        answered = await function.client.post(f"/documents{query}", headers=plain, content=b"x")
        assert_is_problem(answered, 400, "invalid_request")
    page = await function.client.post(
        "/documents?id=a", headers={"content-type": "text/html"}, content=b"x"
    )
    assert_is_problem(page, 415, "unsupported_media_type")

    for long in ("x" * MEGABYTE, "# 1\nx\n# 2\ny\n" * 2000):
        assert_is_problem(await add(function, own, text=long), 413, "too_large")
    foreign = await function.client.post(
        "/documents", json={"project_id": PROJECT, "id": "Lighthouse.md", "text": NOON}
    )
    assert_is_problem(foreign, 409, "conflict")
    assert (await function.answer(QUESTION, own))["no_data_found"]


async def test_a_held_project_is_not_written(own: str, function: Caller) -> None:
    await add(function, own)
    writer = build_writer(load())
    async with writer.writing(own):
        for refused in (await add(function, own, text=DUSK), await remove(function, own)):
            assert_is_problem(refused, 409, "project_held")
            assert int(refused.headers["retry-after"]) > 0
        assert (await add(function, own)).json()["outcome"] == "unchanged"
    await writer.close()
    assert (await add(function, own, text=DUSK)).json()["outcome"] == "changed"


async def test_only_who_may_write_a_project_writes_it(
    own: str, environment: pytest.MonkeyPatch, function: Caller
) -> None:
    """Nobody else learns what it holds, and the tokens count for who has sent the document."""
    rights = ["read", "write"]
    writer, written = entry("writer", [own], rights=rights, tokens_per_day=1000)
    reader, read = entry("reader", [own])
    stranger, other = entry("stranger", [f"{own}-not"], rights=rights)
    use_keys(environment, written, read, other)

    async def statuses(key: str) -> list[int]:
        function.client.headers["x-api-key"] = key
        answers = await add(function, own), await remove(function, own)
        return [one.status_code for one in answers]

    assert await statuses(writer) == [200, 204]
    used = (await function.client.get("/usage")).json()["tokens_per_day"]["used"]
    assert used > 0
    function.client.headers["x-api-key"] = reader
    refused = await send(function, own, "a.html", b"x" * (MEGABYTE + 1))
    assert refused.status_code == 403, "before its body is looked at"
    function.client.headers["x-api-key"] = writer
    assert (await add(function, None)).json()["project_id"] == own
    for key in (reader, stranger, "unknown"):
        assert set(await statuses(key)) == {401 if key == "unknown" else 403}
    function.client.headers["x-api-key"] = reader
    assert (await answer(function, own))[1] == {"Ferry"}


async def test_a_document_that_is_off_is_seen_by_no_question_and_by_its_list(
    own: str, function: Caller
) -> None:
    async def listed(**query: str) -> dict[str, bool]:
        page = await function.client.get(f"/projects/{own}/documents", params=query)
        assert page.status_code == 200, page.text
        return {one["id"]: one.get("off", False) for one in page.json()["documents"]}

    async def switch(name: str, *, off: object) -> httpx2.Response:
        return await function.client.patch(f"/documents/{name}?project_id={own}", json={"off": off})

    await add(function, own)
    await add(function, own, id="Überfahrt.md", text="# Crossing\n\nThe herring is old.\n")
    assert (await switch("sea%2Fferry.md", off=True)).status_code == 204
    assert await listed() == {"sea/ferry.md": True, "Überfahrt.md": False}
    assert "noon" not in (await function.answer(QUESTION, own, depth="quick"))["final_answer"]
    assert (await add(function, own, text=DUSK)).json()["outcome"] == "changed"  # and stays off
    for _ in range(2):
        assert (await switch("sea%2Fferry.md", off=False)).status_code == 204
    assert "dusk" in (await answer(function, own))[0]

    assert await listed(q="üBERF") == await listed(q="crossing") == {"Überfahrt.md": False}
    assert await listed(q="SEA/", limit="1") == {"sea/ferry.md": False}
    assert_is_problem(await switch("nothing", off=True), 404, "not_found")
    assert_is_problem(await switch("sea%2Fferry.md", off="true"), 400, "invalid_request")


async def test_a_setting_says_how_large_a_document_may_be(
    own: str, environment: pytest.MonkeyPatch, dispatcher: Dispatcher, function: Caller
) -> None:
    large = f"<script>{'x' * MEGABYTE}</script><p>The ferry leaves at noon.".encode()
    assert_is_problem(await send(function, own, "a.html", large), 413, "too_large")
    environment.setenv("MAX_DOCUMENT_MB", "2")
    await dispatcher.provider.close()
    assert (await send(function, own, "a.html", large)).json()["outcome"] == "added"
