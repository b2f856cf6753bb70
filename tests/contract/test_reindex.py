"""Another embedding model: its vectors stand beside the old ones, and no function mixes them."""

from __future__ import annotations

import pytest

from drift.auth.caller import EVERYBODY
from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError, IngestError, ModelUnavailableError
from drift.graph.connection import Connection
from drift.graph.cypher.legs import PERSONAL
from drift.graph.indexes import IndexNames, read_indexes
from drift.graph.versions import FIRST, VectorVersion, is_version_name, read_format
from drift.indexing.batch_embedder import BatchEmbedder
from drift.local.prepare import filling
from drift.local.prepare.reindex import Reindexing
from drift.local.prepare.unseen import whole_health
from drift.model.found_nodes import NodesQuery
from drift.model.nodes import Embedded, OwnNode
from drift.nodes.node_text import text_hash
from tests.contract.two_models import (
    PROJECT,
    Words,
    cleared,
    found,
    found_by_search,
    function,
    graph,
    lengths,
    new,
    old,
    put,
)

__all__ = ["cleared", "graph"]

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

TEXTS = {
    "ferry.md": "# Ferry\n\nThe ferry leaves the North Quay at seven. It carries forty cars.\n",
    "berth.md": "# Berths\n\nThe Harbour Office gives every berth a number. A boat waits.\n",
    "lamp.md": "# Lamp\n\nThe keeper lights the lamp at sunset. He writes the hour down.\n",
}
QUESTION = "the ferry leaves the North Quay at seven"
PERSON = {"title": "Ann Quill", "description": "She keeps the lighthouse ledger."}


async def reindex(graph: Connection, model: Words, name: str = "v2") -> None:
    version = VectorVersion(name, model.name, model.dimensions)
    embedder = BatchEmbedder(model, model.dimensions)
    work = Reindexing(graph, IndexNames(), "default")
    await work.build(version, embedder, report=lambda *_: None, say=lambda _: None)


async def person(graph: Connection, model: Words) -> None:
    """Make a node of people's own, as a function with this model does."""
    text = f"{PERSON['title']}\n{PERSON['description']}"
    hashed = text_hash(text, model.name, model.dimensions)
    await (
        function(graph, model)
        .node_store()
        .create_node(
            EVERYBODY.project(PROJECT),
            OwnNode("ann", "Person", PERSON),
            Embedded(model.vector(text), model.name, hashed),
            Deadline.after(60),
        )
    )


async def people(graph: Connection, model: Words) -> list[str]:
    query = NodesQuery(PROJECT, model.vector("lighthouse ledger"), ("Person",))
    nodes = await function(graph, model).finder().nearest_nodes(query, Deadline.after(60))
    return [one.title for one in nodes.nodes]


@pytest.mark.deep
async def test_both_models_answer_side_by_side_and_a_killed_run_goes_on(
    graph: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "NODES_A_BATCH", 2)
    before, after = old(), new()
    await put(graph, before, TEXTS)
    await put(graph, before, TEXTS, "another")
    await person(graph, before)
    first = function(graph, before)
    second = function(graph, after)
    assert "North Quay" in await found(first, before, QUESTION)

    after.left = 4
    with pytest.raises(ModelUnavailableError):
        await reindex(graph, after)
    assert len(after.texts) == 4
    assert "North Quay" in await found(first, before, QUESTION), "killed, the old one answers"
    with pytest.raises(GraphMisconfiguredError):
        await found(second, after, QUESTION)
    said = (await function(graph, before).health()).readiness(before.dimensions)
    assert said.is_ok
    assert "version v2 is being built: 4 of 9 texts" in said.reason

    after.left = 100
    await reindex(graph, after)
    assert len(after.texts) == len(set(after.texts)) + 4 == 9, "two projects have the same texts"
    version = (await read_format(graph)).versions
    assert version == (VectorVersion("v2", after.name, after.dimensions),)
    assert await lengths(graph, "embedding") == {before.dimensions}
    assert await lengths(graph, "embedding_v2") == {after.dimensions}
    names = {one.name: one.dimensions for one in await read_indexes(graph) if one.kind == "vector"}
    ours = ("graphrag_comm_index", "graphrag_chunk_index", "drift_entity_index")
    for one in (*ours, "document_embedding"):
        assert (names[one], names[f"{one}_v2"]) == (before.dimensions, after.dimensions)

    # learned within a minute, by those that run, without a word to them
    second.own._ask_at = 0.0
    for asked, model in ((first, before), (second, after)):
        assert "North Quay" in await found(asked, model, QUESTION)
        assert all("North Quay" in text for text in await found_by_search(asked, model, QUESTION))
        assert await people(graph, model) == ["Ann Quill"]
    said = (await function(graph, after).health()).readiness(after.dimensions)
    assert said.is_ok
    assert said.reason == "vectors of version v2 are used"

    after.texts.clear()
    await reindex(graph, after)
    assert after.texts == [], "nothing is left to embed"


@pytest.mark.deep
async def test_ingestion_writes_the_vectors_of_its_own_model_and_others_lose_theirs(
    graph: Connection,
) -> None:
    before, after = old(), new()
    await put(graph, before, TEXTS)
    await reindex(graph, after)
    after.texts.clear()
    report = await put(graph, after, TEXTS)
    assert sorted(report.unchanged) == sorted(TEXTS)
    assert after.texts == [], "what reindexing has embedded, ingestion need not"
    assert "North Quay" in await found(graph, before, QUESTION)

    changed = {**TEXTS, "lamp.md": "# Lamp\n\nThe lamp is electric now. No keeper is needed.\n"}
    await put(graph, after, changed)
    assert "# Lamp" in after.texts[0]
    bare = (
        "MATCH (ch:__Chunk__) RETURN count(CASE WHEN ch.embedding IS NULL THEN 1 END) AS old, "
        "count(CASE WHEN ch.embedding_v2 IS NULL THEN 1 END) AS new"
    )
    of_documents = bare.replace("__Chunk__", "__Document__")
    assert await graph.rows(bare) == [{"old": 1, "new": 0}]
    assert await graph.rows(of_documents) == [{"old": 1, "new": 0}]
    assert await lengths(graph, "embedding") == {before.dimensions}
    assert "electric" in await found(graph, after, "the lamp is electric now")

    before.texts.clear()
    await put(graph, before, changed)
    assert [text for text in before.texts if "ferry" in text.lower() and "#" in text] == []
    for text in (bare, of_documents):
        assert await graph.rows(text) == [{"old": 0, "new": 0}], "each has what it lacked"
    assert "electric" in await found(graph, before, "the lamp is electric now")

    await put(graph, before, TEXTS)
    assert await graph.rows(bare) == [{"old": 0, "new": 1}]
    said = (await whole_health(function(graph, after))).readiness(after.dimensions)
    assert "1 chunks or more have no vector of version v2" in said.reason
    assert "drift reindex --model-version v2" in said.reason


async def test_a_text_of_people_has_the_vectors_of_the_model_that_wrote_it_last(
    graph: Connection,
) -> None:
    before, after = old(), new()
    await put(graph, before, TEXTS)
    await person(graph, before)
    await reindex(graph, after)
    project, deadline = EVERYBODY.project(PROJECT), Deadline.after(60)
    store = function(graph, after).node_store()
    text = f"{PERSON['title']}\n{PERSON['description']}"
    kept = text_hash(text, after.name, after.dimensions)
    assert (await store.find_node(project, "ann", deadline)).text_hash == kept

    aged = OwnNode("ann", "Person", {**PERSON, "age": 61})
    assert await store.replace_node(project, aged, None, kept, deadline)
    assert await people(graph, before) == await people(graph, after) == ["Ann Quill"]

    described = {**PERSON, "description": "She has left the lighthouse ledger to her son."}
    embedded = Embedded(after.vector("lighthouse ledger"), after.name, "hash")
    await store.replace_node(project, OwnNode("ann", "Person", described), embedded, "", deadline)
    assert await people(graph, before) == [], "until it is embedded by the first model again"
    assert await people(graph, after) == ["Ann Quill"]
    row = (await graph.rows(f"MATCH (n:{PERSONAL}) RETURN keys(n) AS names"))[0]
    assert not {"embedding", "embedding_hash", "embedding_model"} & set(row["names"])


async def test_two_models_never_meet_in_one_index(graph: Connection) -> None:
    before, after = old(), Words("other-words", 16)
    await put(graph, before, TEXTS)
    await graph.write("MATCH (d:__Document__ {id: 'lamp.md'}) SET d.source = 'elsewhere'", {})
    with pytest.raises(IngestError, match=r"lamp.md among them, .* of old-words/16.*drift reindex"):
        await put(graph, after, {name: TEXTS[name] for name in ("ferry.md", "berth.md")})
    await reindex(graph, after, "other")
    with pytest.raises(IngestError, match="Version other is of other-words with 16 floats already"):
        await reindex(graph, after, "v3")
    with pytest.raises(IngestError, match="Version other is of other-words with 16 floats, and"):
        await reindex(graph, new(), "other")
    await put(graph, after, {name: TEXTS[name] for name in ("ferry.md", "berth.md")})


def test_no_two_names_have_one_property_and_each_is_an_identifier() -> None:
    alike = ["ada-002", "ada.002", "ada_002", "Ada-002", "ada002", "ada-002-", "ada:002", "ada/002"]
    alike += [
        "002",
        "hash_v2",
        "model-a",
        "version_1",
        "local-mini",
        "bge-m3@1.5",
        "模型",
        "x" * 100,
    ]
    assert all(map(is_version_name, [*alike, "BAAI/bge-m3", "text-embedding-ada-002-v1"]))
    vectors = {VectorVersion(name).vector for name in alike} | {"embedding"}
    hashes = {VectorVersion(name).named("embedding_hash") for name in alike}
    assert len(vectors | hashes) == 2 * len(alike) + 1
    assert not vectors & {"embedding_model", "embedding_models", "embedding_version"}
    assert all(one.isidentifier() and one.isascii() for one in vectors | hashes)
    assert VectorVersion("v2").vector == "embedding_v2"
    for name in (
        "",
        "first",
        "First",
        "local",
        "-v",
        "a b",
        "a,b",
        "a'b",
        "a`b",
        "a\nb",
        "x" * 101,
    ):
        assert not is_version_name(name)


async def test_a_version_called_as_its_model_lives_through_everything(graph: Connection) -> None:
    before, after, name = old(), new(), "text-embedding-ada-002-v1"
    await put(graph, before, TEXTS)
    await reindex(graph, after, name)
    assert [one.name for one in (await read_format(graph)).versions] == [name]
    assert "North Quay" in await found(graph, after, QUESTION)
    said = (await function(graph, after).health()).readiness(after.dimensions)
    assert said.reason == f"vectors of version {name} are used"

    await put(graph, before, {**TEXTS, "lamp.md": "# Lamp\n\nThe lamp is electric now.\n"})
    said = (await whole_health(function(graph, after))).readiness(after.dimensions)
    assert f"no vector of version {name}" in said.reason
    assert f"drift reindex --model-version {name}`" in said.reason
    await reindex(graph, after, name)
    with pytest.raises(IngestError, match=f"Version {name} is of new-words with 24 floats"):
        await reindex(graph, Words("third", 8), name)
    await reindex(graph, Words("third", 8), "text-embedding-ada-002.v1")
    assert await lengths(graph, VectorVersion(name).vector) == {after.dimensions}

    work = Reindexing(graph, IndexNames(), "default")
    for one in (name, "text-embedding-ada-002.v1"):
        await work.drop(one, say=lambda _: None)
        assert await lengths(graph, VectorVersion(one).vector) == set()
    assert (await read_format(graph)).versions == ()
    assert not [one for one in await read_indexes(graph) if "ada" in one.name]


async def test_versions_of_a_graph_of_others_go_as_they_came(graph: Connection) -> None:
    model, text = new(), "The ferry leaves at seven."
    vector = list(Words("old-words", 16).vector(text))
    await graph.write(
        "CREATE (:Chunk {id: 'a', text: $text, embedding: $vector})",
        {"text": text, "vector": vector},
    )
    work = Reindexing(graph, IndexNames(), "langchain-vector")
    version = VectorVersion("bge-m3", model.name, model.dimensions)
    embedder = BatchEmbedder(model, model.dimensions)
    await work.build(version, embedder, report=lambda *_: None, say=lambda _: None)
    names = "MATCH (n:Chunk) RETURN keys(n) AS names"
    assert version.vector in (await graph.rows(names))[0]["names"]
    await work.drop("bge-m3", say=lambda _: None)
    assert set((await graph.rows(names))[0]["names"]) == {"id", "text", "embedding"}


async def test_the_last_vectors_of_a_text_of_any_label_are_never_dropped(graph: Connection) -> None:
    before, after = old(), new()
    work = Reindexing(graph, IndexNames(), "default")
    await put(graph, before, TEXTS)
    await reindex(graph, after)
    await person(graph, after)
    with pytest.raises(IngestError, match=r"Without version v2 1 texts .* version first lacks"):
        await work.drop("v2", say=lambda _: None)
    await reindex(graph, Words("third", 8), "v8")
    with pytest.raises(IngestError, match="This removes 5 vectors of version v2 and their indexes"):
        await work.drop("v2", say=lambda _: None, is_meant=False)
    assert await lengths(graph, "embedding_v2") == {after.dimensions}
    await graph.write("MATCH (ch:__Chunk__) REMOVE ch.embedding_v8", {})
    with pytest.raises(IngestError, match=r"Without version v2 1 texts .* version first lacks"):
        await work.drop("v2", say=lambda _: None)


async def test_a_version_that_is_not_whole_is_dropped_whatever_others_lack(
    graph: Connection,
) -> None:
    before, after = old(), new()
    await put(graph, before, TEXTS)
    await graph.write("MATCH (ch:__Chunk__) WITH ch LIMIT 1 REMOVE ch.embedding", {})
    after.left = 0
    with pytest.raises(ModelUnavailableError):
        await reindex(graph, after)
    await Reindexing(graph, IndexNames(), "default").drop("v2", say=lambda _: None)
    assert (await read_format(graph)).versions == ()


async def test_vectors_of_nobody_knows_which_model_are_no_part_of_a_new_version(
    graph: Connection,
) -> None:
    await put(graph, old(), TEXTS)
    await graph.write("MATCH (ch:__Chunk__) SET ch.embedding_v2 = [1.0, 2.0]", {})
    with pytest.raises(IngestError, match="3 texts have `embedding_v2` already"):
        await reindex(graph, new())
    assert (await read_format(graph)).versions == ()
    await reindex(graph, new(), "v24")


async def test_a_version_is_dropped_unless_it_is_the_only_one(graph: Connection) -> None:
    before, after = old(), new()
    work = Reindexing(graph, IndexNames(), "default")
    await put(graph, before, TEXTS)
    with pytest.raises(IngestError, match="first is the only version"):
        await work.drop(FIRST.name, say=lambda _: None)
    with pytest.raises(IngestError, match=r"There is no version v9.*There are: first"):
        await work.drop("v9", say=lambda _: None)

    await reindex(graph, after)
    await work.drop(FIRST.name, say=lambda _: None)
    assert await lengths(graph, "embedding") == set()
    assert "North Quay" in await found(graph, after, QUESTION)
    await put(graph, after, {**TEXTS, "new.md": "# New\n\nA buoy marks the wreck. It is red.\n"})
    assert "buoy" in await found(graph, after, "a buoy marks the wreck")
    assert await lengths(graph, "embedding") == set()
    with pytest.raises(IngestError, match="Without version v2 4 texts have no vector"):
        await work.drop("v2", say=lambda _: None)

    await reindex(graph, before, "v3")
    await work.drop("v2", say=lambda _: None)
    assert await lengths(graph, "embedding_v2") == set()
    assert [one.name for one in (await read_format(graph)).versions] == ["v3"]
    assert not [one for one in await read_indexes(graph) if one.name.endswith("_v2")]
    assert "buoy" in await found(graph, before, "a buoy marks the wreck")
