"""People's own nodes, written over HTTP into a real graph, with the vectors of a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from neo4j import AsyncGraphDatabase

from drift.core.errors import ModelUnavailableError
from drift.graph.node_store import Neo4jNodeStore
from drift.http.settings import load
from drift.llm.openai.embedder import OpenAIEmbedder
from drift.local.hosts.local_host import serving
from drift.local.wiring import build_writer
from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller, assert_is_problem, calling
from tests.function.corpus import PROJECT, Corpus
from tests.model_server_fixture import ModelServerControl

ADA = {"name": "Ada Lovelace", "description": "Wrote the first program.", "born": 1815}

OF_EARLIER_RELEASE = (
    "CREATE VECTOR INDEX drift_node_index IF NOT EXISTS FOR (n:__Node__) ON (n.embedding) "
    "OPTIONS {indexConfig: {`vector.dimensions`: 256, `vector.similarity_function`: 'cosine'}}"
)


@pytest.fixture
def own(environment: pytest.MonkeyPatch) -> str:
    """A project of the test's own, with the routes open for people's nodes."""
    environment.setenv("ENABLE_INDEXING", "true")
    environment.setenv("RAG_LABELS", "Chunk,Entity,Community,Person")
    return f"people-{uuid4()}"


@pytest.fixture
async def rows() -> AsyncIterator[Any]:
    """What a query of the graph gives."""
    values = load()
    password = values.neo4j_password.get_secret_value()
    auth = (values.neo4j_username, password)
    async with AsyncGraphDatabase.driver(values.neo4j_uri, auth=auth) as driver:

        async def query(text: str, **parameters: Any) -> list[dict[str, Any]]:
            found = await driver.execute_query(text, parameters)
            return [dict(record) for record in found.records]

        yield query


async def create(function: Caller, project: str | None, **more: Any) -> httpx2.Response:
    named = {} if project is None else {"project_id": project}
    body = {"label": "Person", "properties": ADA, **named, **more}
    return await function.client.post("/api/nodes", json=body)


def path(project: str, node_id: str = "ada") -> str:
    return f"/api/nodes/{node_id}?project_id={project}"


async def change(function: Caller, project: str, **properties: Any) -> httpx2.Response:
    return await function.client.put(path(project), json={"properties": properties})


async def sources(function: Caller, project: str) -> list[str]:
    asked = {"question": "Who wrote the first program?", "project_id": project}
    answered = await function.client.post("/api/rag/query", json=asked)
    assert answered.status_code == 200, answered.text
    return [source["node_id"] for source in answered.json()["sources"]]


async def test_a_node_is_made_with_its_vector_found_changed_and_removed(
    own: str, function: Caller, rows: Any
) -> None:
    made = await create(function, own, id="ada")
    assert made.status_code == 201, made.text
    assert made.headers["location"] == path(own)
    assert made.json() == {
        "id": "ada",
        "project_id": own,
        "label": "Person",
        "title": "Ada Lovelace",
        "embedded": True,
    }
    assert await sources(function, own) == ["ada"]

    changed = await change(function, own, **ADA | {"died": 1852})
    assert (changed.status_code, changed.json()["embedded"]) == (200, False)
    assert (await change(function, own, name="Ada", description="A countess.")).json()["embedded"]
    [row] = await rows(
        "MATCH (n:__DriftNode__:Person {project_id: $p}) "
        "RETURN n {.*, embedding: size(n.embedding)} AS n",
        p=own,
    )
    ours = {"embedding_hash", "embedding_model", "updated_at"}
    held = {name: value for name, value in row["n"].items() if name not in ours}
    assert held == {
        "id": "ada",
        "project_id": own,
        "name": "Ada",
        "description": "A countess.",
        "embedding": 256,
    }

    assert (await function.client.delete(path(own))).status_code == 204
    assert await sources(function, own) == []
    assert_is_problem(await function.client.delete(path(own)), 404, "not_found")
    assert_is_problem(await change(function, own, **ADA), 404, "not_found")


async def test_another_program_s_nodes_are_neither_written_nor_in_the_way(
    own: str, function: Caller, rows: Any
) -> None:
    """LlamaIndex labels chunks, entities and nodes of any kind `:__Node__`."""
    theirs = "MATCH (n:__Node__ {project_id: $p}) RETURN labels(n) AS l, properties(n) AS held"
    await rows(
        "UNWIND ['Chunk', 'entity', 'Person'] AS label "
        "CREATE (n:__Node__ {project_id: $p, id: 'n1', name: 'N', description: 'Theirs.', "
        "text: 'Ingrid Falk is the harbour master.', embedding: [i IN range(1, 256) | sin(i)]}) "
        "SET n:$(label)",
        p=own,
    )
    before = await rows(theirs, p=own)
    assert_is_problem(await function.client.delete(path(own, "n1")), 404, "not_found")
    changed = await function.client.put(path(own, "n1"), json={"properties": ADA})
    assert_is_problem(changed, 404, "not_found")
    made = await create(function, own, id="n1")
    assert made.status_code == 201, made.text
    assert await sources(function, own) == ["n1"]
    assert (await function.client.delete(path(own, "n1"))).status_code == 204
    assert await rows(theirs, p=own) == before


async def test_a_node_of_an_earlier_release_is_found_changed_and_removed(
    own: str,
    environment: pytest.MonkeyPatch,  # noqa: ARG001 - set before the first request
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
    rows: Any,
) -> None:
    async with serving() as url, calling(url) as function:
        await create(function, own, id="ada")
    await rows(
        "MATCH (n:__DriftNode__ {project_id: $p}) SET n:__Node__ REMOVE n:__DriftNode__", p=own
    )
    await rows(OF_EARLIER_RELEASE)
    await rows("CALL db.awaitIndexes(60)")
    async with serving() as url, calling(url) as later:
        assert await sources(later, own) == ["ada"]
        assert_is_problem(await create(later, own, id="ada"), 409, "conflict")
        assert (await change(later, own, **ADA | {"died": 1852})).json()["embedded"] is False
        assert await sources(later, own) == ["ada"]
        assert (await later.client.delete(path(own))).status_code == 204
    await rows("DROP INDEX drift_node_index")


async def test_nodes_of_another_embedding_model_are_not_compared_with_the_question(
    own: str, function: Caller, rows: Any
) -> None:
    await create(function, own, id="ada")
    await rows(
        "MATCH (n:__DriftNode__ {project_id: $p}) SET n.embedding_model = 'text-embedding-3-large'",
        p=own,
    )
    asked = {"question": "Who wrote the first program?", "project_id": own}
    answered = await function.client.post("/api/rag/query", json=asked)
    problem = assert_is_problem(answered, 500, "graph_misconfigured")
    assert problem["detail"] == (
        "The vectors here were made by text-embedding-3-large, and the question's by "
        "wordllama-256, so that no comparison means anything: set OAI_EMBED_MODEL_NAME to "
        "text-embedding-3-large, or run `python -m drift reconcile`."
    )
    await rows("MATCH (n:Person {project_id: $p}) DETACH DELETE n", p=own)


async def test_an_id_is_made_where_none_is_given(own: str, function: Caller) -> None:
    first, second = await create(function, own), await create(function, own)
    assert first.json()["id"] != second.json()["id"]


async def test_what_cannot_be_written_is_refused_by_name(
    own: str, function: Caller, corpus: Corpus, model_server: ModelServerControl, rows: Any
) -> None:
    await create(function, own, id="ada")
    model_server.reset()
    assert_is_problem(await create(function, own, id="ada"), 409, "conflict")
    for fields, wrong in (
        ({"label": "City"}, "label"),
        ({"label": "Chunk"}, "label"),
        ({"properties": {"name": "Ada"}}, "properties"),
        ({"properties": {"description": "A countess."}}, "properties"),
        ({"properties": ADA | {"embedding": [1.0]}}, "properties"),
        ({"properties": ADA | {"more": {"nested": 1}}}, "properties"),
        ({"id": ""}, "id"),
        ({"surprise": 1}, "surprise"),
    ):
        problem = assert_is_problem(await create(function, own, **fields), 400, "invalid_request")
        assert [one["field"] for one in problem["errors"]] == [wrong], fields
    assert model_server.counts().get("embedding", 0) <= 1

    long = ADA | {"description": "x" * 1_000_000}
    assert_is_problem(await create(function, own, properties=long), 413, "too_large")
    assert_is_problem(await create(function, None), 400, "invalid_request")

    assert corpus
    [chunk] = await rows(
        "MATCH (c:__Chunk__ {project_id: $p}) RETURN c.id AS id LIMIT 1", p=PROJECT
    )
    assert_is_problem(await create(function, PROJECT, id=chunk["id"]), 409, "conflict")
    held = path(PROJECT, chunk["id"])
    assert_is_problem(await function.client.delete(held), 409, "conflict")
    changed = await function.client.put(held, json={"properties": ADA})
    assert_is_problem(changed, 409, "conflict")


async def test_a_project_that_an_ingest_holds_is_not_written(own: str, function: Caller) -> None:
    assert (await create(function, own, id="ada")).status_code == 201
    writer = build_writer(load())
    async with writer.writing(own):
        for refused in (
            await create(function, own),
            await change(function, own, **ADA),
            await function.client.delete(path(own)),
        ):
            assert_is_problem(refused, 409, "project_held")
            assert int(refused.headers["retry-after"]) > 0
    await writer.close()
    assert (await function.client.delete(path(own))).status_code == 204


async def test_a_node_removed_while_its_text_is_embedded_stays_removed(
    own: str, function: Caller, model_server: ModelServerControl
) -> None:
    await create(function, own, id="ada")
    model_server.fail({"fault": "latency", "kind": "embedding", "seconds": 0.5})
    changing = asyncio.create_task(change(function, own, name="Ada", description="Changed."))
    await model_server.until(lambda seen: seen["in_flight"] == 1)
    assert (await function.client.delete(path(own))).status_code == 204
    assert_is_problem(await changing, 404, "not_found")
    assert await sources(function, own) == []


async def test_a_node_changed_by_two_keeps_properties_and_vector_of_one(
    own: str, function: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one has the stored text, the other changes it before, and then no model embeds."""
    other = {"name": "Ada", "description": "A countess."}
    await create(function, own, id="ada")
    replace_node, embed = Neo4jNodeStore.replace_node, OpenAIEmbedder.embed

    async def fails(*_: object) -> None:
        raise ModelUnavailableError("down")

    async def later(store: Neo4jNodeStore, *asked: Any) -> bool:
        monkeypatch.setattr(Neo4jNodeStore, "replace_node", replace_node)
        assert (await change(function, own, **other)).status_code == 200
        monkeypatch.setattr(OpenAIEmbedder, "embed", fails)
        return await replace_node(store, *asked)

    monkeypatch.setattr(Neo4jNodeStore, "replace_node", later)
    refused = await change(function, own, **ADA | {"died": 1852})
    assert_is_problem(refused, 500, "model_unavailable")
    monkeypatch.setattr(OpenAIEmbedder, "embed", embed)
    assert (await change(function, own, **other)).json()["embedded"] is False
    assert await sources(function, own) == ["ada"]


async def test_a_vector_that_was_taken_away_is_made_again(
    own: str, function: Caller, rows: Any
) -> None:
    await create(function, own, id="ada")
    await rows("MATCH (n:__DriftNode__ {project_id: $p}) REMOVE n.embedding", p=own)
    assert (await change(function, own, **ADA)).json()["embedded"]
    assert await sources(function, own) == ["ada"]


async def test_a_model_that_fails_leaves_nothing_half_written(
    own: str, function: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "status", "status": 500, "kind": "embedding", "times": None})
    assert_is_problem(await create(function, own, id="ada"), 500, "model_unavailable")
    model_server.reset()
    assert (await create(function, own, id="ada")).status_code == 201


async def test_where_nodes_are_not_searched_they_are_written_without_a_vector(
    own: str, environment: pytest.MonkeyPatch, function: Caller, rows: Any
) -> None:
    environment.setenv("ENABLE_RAG_SEARCH", "false")
    made = await create(function, own, id="ada")
    body = {"question": "Who?", "project_id": own}
    assert_is_problem(await function.client.post("/api/rag/query", json=body), 404, "not_found")
    assert made.json()["embedded"] is False
    [row] = await rows(
        "MATCH (n:__DriftNode__ {project_id: $p}) RETURN n.embedding IS NOT NULL AS has", p=own
    )
    assert row["has"] is False


async def test_only_who_may_write_a_project_writes_it(
    own: str, environment: pytest.MonkeyPatch, function: Caller
) -> None:
    writer, written = entry("writer", [own], rights=["read", "write"])
    reader, read = entry("reader", [own], rights=["read"])
    stranger, other = entry("stranger", [f"{own}-not"], rights=["read", "write"])
    use_keys(environment, written, read, other)

    async def statuses(key: str | None) -> set[int]:
        headers = {"x-api-key": key} if key else {}
        function.client.headers.update(headers)
        answers = (
            await create(function, own, id="ada"),
            await change(function, own, **ADA),
            await function.client.delete(path(own)),
        )
        for name in headers:
            del function.client.headers[name]
        return {answer.status_code for answer in answers}

    assert await statuses(None) == {401}
    assert await statuses(reader) == {403}
    assert await statuses(stranger) == {403}
    assert await statuses(writer) == {201, 200, 204}


async def test_the_tokens_of_a_refused_node_count_for_its_caller(
    own: str, environment: pytest.MonkeyPatch, function: Caller
) -> None:
    rights = ["read", "write"]
    key, writer = entry(f"writer {own}", [own], rights=rights, tokens_per_day=1_000_000)
    use_keys(environment, writer)
    function.client.headers["x-api-key"] = key

    async def used(above: int) -> int:
        while (tokens := await tokens_today(function)) <= above:  # noqa: ASYNC110 - only asking shows it
            await asyncio.sleep(0.05)
        return tokens

    assert (await create(function, own, id="ada")).status_code == 201
    once = await used(above=0)
    again = ADA | {"description": "Wrote the first program of all."}
    refused = await create(function, own, id="ada", properties=again)
    assert_is_problem(refused, 409, "conflict")
    assert await used(above=once)


async def tokens_today(function: Caller) -> int:
    answered = await function.client.get("/usage")
    return int(answered.json()["tokens_per_day"]["used"])
