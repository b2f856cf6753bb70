"""People's own nodes of a label on real servers: read, held, and given their vectors."""

from __future__ import annotations

from typing import Any

import pytest

from drift.auth.caller import EVERYBODY
from drift.core.deadline import Deadline
from drift.core.errors import DeadlineError, ProjectHeldError
from drift.graph.node_store import Neo4jNodeStore
from drift.model.nodes import Embedded, LabelledNode, Taking
from tests.contract.graph_backends import Neo4jBackend, on_real_server, twin

LABEL = "Bosun"
MADE = Embedded((0.5,) * 256, "a-model", "of-the-text")


async def found(
    nodes: Neo4jNodeStore, project: str, taking: Taking = "unmarked"
) -> dict[str, LabelledNode]:
    return {one.id: one async for one in nodes.labelled(project, LABEL, taking)}


@on_real_server
async def test_nodes_are_read_and_given_vectors_by_project(
    backend: Neo4jBackend, project: str
) -> None:
    connection = backend.connection
    nodes, deadline = Neo4jNodeStore(connection), Deadline.after(120)
    made: dict[str, Any] = {"p": project, "other": twin(project)}
    await connection.write(
        f"CREATE (:{LABEL} {{project_id: $p, id: 'ada', name: 'Ada', description: 'Rows'}}), "
        f"(:{LABEL} {{project_id: $p, id: 7, name: 'Bo', description: 'Steers'}}), "
        f"(:{LABEL} {{project_id: $p, name: 'Cy', description: 'Cooks'}}), "
        f"(:{LABEL} {{project_id: $other, id: 'dee', name: 'Dee', description: 'Sings'}}), "
        f"(:{LABEL}:__Entity__ {{project_id: $p, id: 'entity', title: 'Of ingestion'}})",
        made,
    )
    assert await nodes.projects(LABEL) == []
    assert await found(nodes, project, "marked") == {}

    first = await found(nodes, project)
    nameless = next(one for one in first.values() if one.texts["name"] == "Cy")
    assert set(first) == {"ada", "7", nameless.element_id}
    assert not any(one.is_known or one.has_vector for one in first.values())

    await connection.write(f"MATCH (n:{LABEL} {{id: 'ada'}}) SET n.description = 'Rests'", {})
    assert await nodes.put(project, [(one, MADE) for one in first.values()], deadline) == 2
    second = await found(nodes, project)
    state = {one.texts["name"]: (one.is_known, one.text_hash) for one in second.values()}
    assert state == {"Ada": (False, ""), "Bo": (True, "of-the-text"), "Cy": (True, "of-the-text")}
    assert nameless.element_id not in second  # it has an id of its own now
    assert await nodes.projects(LABEL) == [project]
    marked = await found(nodes, project, "marked")
    assert {one.texts["name"] for one in marked.values()} == {"Bo", "Cy"}

    assert await nodes.put(project, [(second["7"], None)], deadline) == 1
    assert not (await found(nodes, project))["7"].has_vector
    await connection.write(f"MATCH (n:{LABEL}) DETACH DELETE n", {})


@on_real_server
async def test_of_two_nodes_of_one_id_the_first_gets_a_vector_and_the_other_is_left(
    backend: Neo4jBackend, project: str
) -> None:
    connection, deadline = backend.connection, Deadline.after(120)
    nodes = Neo4jNodeStore(connection)
    await connection.write(
        f"UNWIND ['Ada', 'Eve', 'Bo'] AS name CREATE (:{LABEL} {{project_id: $p, name: name, "
        "id: CASE name WHEN 'Bo' THEN 'bo' ELSE 'same' END, description: 'Rows'})",
        {"p": project},
    )

    async def rows() -> list[LabelledNode]:
        return [one async for one in nodes.labelled(project, LABEL, "unmarked")]

    before = await backend.reader().version(EVERYBODY.project(project), deadline)
    assert await nodes.put(project, [(one, MADE) for one in await rows()], deadline) == 2
    left = [one for one in await rows() if not one.has_vector]
    assert [one.id for one in left] == ["same"]
    assert await nodes.put(project, [(one, MADE) for one in left], deadline) == 0
    assert await backend.reader().version(EVERYBODY.project(project), deadline) != before
    await connection.write(f"MATCH (n:{LABEL}) DETACH DELETE n", {})


@on_real_server
async def test_a_held_project_is_told_and_not_written(backend: Neo4jBackend, project: str) -> None:
    nodes, deadline = Neo4jNodeStore(backend.connection), Deadline.after(120)
    await nodes.require_free(project)
    async with backend.writer.writing(project):
        with pytest.raises(ProjectHeldError):
            await nodes.require_free(project)
        with pytest.raises(ProjectHeldError):
            await nodes.put(project, [], deadline)
        await nodes.require_free(twin(project))
    await nodes.require_free(project)
    with pytest.raises(DeadlineError):
        await nodes.put(project, [], Deadline.after(0))


@on_real_server
async def test_nodes_of_an_earlier_release_become_ours_and_another_program_s_never(
    backend: Neo4jBackend, project: str
) -> None:
    connection = backend.connection
    nodes = Neo4jNodeStore(connection)
    await connection.write(
        f"""UNWIND [
          {{id: 'theirs', embedding: [0.5, 0.5, 0.5], file_name: 'a.md'}},
          {{id: 'bare', updated_at: 'yesterday'}},
          {{id: 'ours', embedding: [0.5, 0.5, 0.5], embedding_hash: 'of', embedding_model: 'm'}},
          {{id: 'ours', embedding: [0.1, 0.5, 0.5], embedding_hash: 'of', embedding_model: 'm'}},
          {{id: 'without', updated_at: 1764000000000}}] AS held
        CREATE (n:__Node__:{LABEL} {{project_id: $p, name: 'A', description: 'B'}}) SET n += held
        CREATE (c:__Node__:Chunk:{LABEL}) SET c = properties(n), c.id = 'chunk ' + n.id""",
        {"p": project},
    )
    assert await nodes.projects(LABEL) == [project]
    await nodes.prepare(256)
    assert list(await found(nodes, project, "marked")) == ["ours"]
    rows = [one async for one in nodes.labelled(project, LABEL, "unmarked")]
    assert sorted(one.id for one in rows if not one.is_foreign) == ["ours", "without"]
    labels = await connection.rows(
        f"MATCH (n:{LABEL} {{project_id: $p}}) WHERE n:__DriftNode__ AND NOT n:__Node__ "
        "RETURN n.id AS id",
        {"p": project},
    )
    assert labels == [{"id": "ours"}]
    await connection.write(f"MATCH (n:{LABEL}) DETACH DELETE n", {})
