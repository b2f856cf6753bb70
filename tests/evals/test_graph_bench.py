"""`drift bench graph`: the synthetic tenants, the report, and the command on a real database."""

from __future__ import annotations

import json

import numpy as np
import pytest

from drift.graph.connection import Connection
from drift.graph.indexes import IndexNames
from drift.local.evals.graph.exact import nearest_chunks
from drift.local.evals.graph.records import Records, load
from drift.local.evals.graph.report import Row, ratios
from drift.local.evals.graph.synthetic import TENANTS, projects
from drift.local.evals.graph.trials import exact_communities, exact_samples
from drift.local.evals.graph.watched import db_hits
from drift.local.evals.graph.words import HUB
from drift.local.evals.timing import percentile
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.stack.neo4j.server import Neo4jServer
from tests.command_line import PATIENCE_S, drift
from tests.contract.foreign_graphs import database
from tests.fakes_graph import FakeGraph

__all__ = ["database"]

SMALL = ("--chunks", "100", "--dims", "256", "--repeat", "1", "--json")


# ---------------------------------------------------------------------------------------- synthetic
def test_tenants_share_the_chunks_as_they_should() -> None:
    assert [p.chunks for p in projects(1000, 8, 1)] == [900, 80, 20]
    assert sum(TENANTS.values()) == pytest.approx(1)


def test_the_same_arguments_make_the_same_project_and_another_seed_another_one() -> None:
    (one, *_), (same, *_), (other, *_) = (
        projects(200, 16, 1),
        projects(200, 16, 1),
        projects(200, 16, 2),
    )
    assert [batch.chunks for batch in Records(one).documents()] == [
        batch.chunks for batch in Records(same).documents()
    ]
    assert Records(one).knowledge() == Records(same).knowledge()
    assert one.queries(3) == same.queries(3)
    assert not np.allclose(one.vectors, other.vectors)
    assert one.stamp != other.stamp


def test_vectors_are_of_length_one_and_nearer_inside_a_leaf_than_across() -> None:
    project = projects(1000, 64, 1)[0]
    assert np.allclose(np.linalg.norm(project.vectors, axis=1), 1, atol=1e-5)
    cosines = project.vectors @ project.vectors.T
    inside = project.leaf_of[:, None] == project.leaf_of[None, :]
    assert cosines[inside].mean() > cosines[~inside].mean() + 0.3


def test_every_chunk_is_in_one_leaf_and_communities_are_nested_in_three_levels() -> None:
    knowledge = Records(projects(2000, 8, 1)[0]).knowledge()
    communities = {c.community: c for c in knowledge.communities}
    held = [chunk for c in communities.values() for chunk in c.chunk_ids]
    assert sorted(held) == sorted(f"c{place}" for place in range(1800))
    assert {c.level for c in communities.values()} == {0, 1, 2}
    for community in communities.values():
        assert (community.parent is None) == (community.level == 2)
        assert (
            community.parent is None or communities[community.parent].level == community.level + 1
        )


def test_the_hub_is_mentioned_by_half_of_the_chunks() -> None:
    hub = next(e for e in Records(projects(1000, 8, 1)[0]).knowledge().entities if e.title == HUB)
    assert len(hub.chunk_ids) == 450


def test_the_exact_ranking_is_the_one_by_cosine_also_below_a_community() -> None:
    project = projects(1000, 32, 1)[0]
    vector = project.queries(1)[0].vector
    scores = {f"c{place}": float(np.dot(row, vector)) for place, row in enumerate(project.vectors)}
    assert (
        list(nearest_chunks(project, vector, 5))
        == sorted(scores, key=lambda chunk: -scores[chunk])[:5]
    )
    below = nearest_chunks(project, vector, 5, 1, frozenset({0}))
    assert {int(project.below(1)[int(chunk[1:])]) for chunk in below} == {0}


def test_the_primer_should_choose_the_highest_levels_until_half_of_the_places_are_filled() -> None:
    project = projects(1000, 32, 1)[0]
    assert project.widths == (36, 5, 1)
    query = project.queries(1)[0]
    assert [level for level, _ in exact_communities(project, query)] == [2, 1, 1, 1, 1]
    assert len(exact_samples(project, query)) == 15


async def test_a_project_is_loaded_once() -> None:
    project, graph = projects(100, 8, 1)[1], FakeGraph()
    assert await load(project, graph)
    assert not await load(project, graph)
    assert len(graph.projects[project.project_id].chunks) == 8


# ------------------------------------------------------------------------------------------- report
def test_the_95th_percentile_is_a_value_that_was_measured() -> None:
    assert percentile(range(1, 101), 95) == 95
    assert percentile([7.0], 95) == 7.0


def row(chunks: int, statement: str, p50: float, p95: float, tenant: str = "large") -> Row:
    return Row(chunks, 256, tenant, 0.9, statement, p50, p95)


def test_growth_counts_from_ten_thousand_chunks_and_others_are_compared_at_their_largest_size() -> (
    None
):
    rows = [
        row(1000, "primer", 1, 1),
        row(10_000, "primer", 2, 10),
        row(100_000, "primer", 3, 15),
        row(10_000, "followup", 4, 10),
        row(100_000, "followup", 5, 22),
        row(100_000, "followup", 99, 99, tenant="small"),
        row(10_000, "design_scoped", 40, 50),
        Row(100_000, 256, "large", 0.9, "design_scoped", error="too slow"),
    ]
    assert ratios(rows) == {
        "256": {
            "growth_p95": {"primer": 1.5, "followup": 2.2},
            "others_p50": {"design_scoped": 10.0},
        }
    }


def test_database_hits_are_those_of_all_operators() -> None:
    assert db_hits({"dbHits": 1, "children": [{"dbHits": 2, "children": [{"dbHits": 4}]}, {}]}) == 7
    assert db_hits(None) is None


# ------------------------------------------------------------------------------------------ command
@pytest.mark.parametrize(
    "wrong", [("--chunks", "many"), ("--dims", "0"), ("--dims", "4097"), ("--chunks", "")]
)
@pytest.mark.slow
def test_a_list_of_anything_but_numbers_is_refused(wrong: tuple[str, str]) -> None:
    done = drift("bench", "graph", *wrong)
    assert (done.returncode, wrong[0] in done.stderr, "Traceback" in done.stderr) == (
        2,
        True,
        False,
    )


@pytest.mark.slow
def test_a_given_database_holds_one_length_only() -> None:
    done = drift("bench", "graph", "--dims", "256,1536", NEO4J_URI="bolt://127.0.0.1:1")
    assert done.returncode == 1
    assert "give one to --dims" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
async def prepared(neo4j_2026: Neo4jServer) -> Neo4jServer:
    names = IndexNames()
    async with Connection(
        neo4j_2026.uri, neo4j_2026.user, neo4j_2026.password, neo4j_2026.database
    ) as connection:
        await Neo4jWriter(connection, names).prepare(256)
    return neo4j_2026


@pytest.mark.neo4j
@pytest.mark.slow
@pytest.mark.timeout(PATIENCE_S)
async def test_an_index_of_another_length_is_named(prepared: Neo4jServer) -> None:
    done = drift("bench", "graph", "--chunks", "100", "--dims", "8", **prepared.env)
    assert done.returncode == 1
    assert "graphrag_c" in done.stderr
    assert "256 dimensions, but 8 are wanted" in done.stderr


@pytest.mark.neo4j
@pytest.mark.slow
@pytest.mark.timeout(2 * PATIENCE_S)
async def test_tenants_are_loaded_once_and_every_statement_is_reported(
    database: Connection,  # noqa: ARG001 - nothing else is there
    whole_server: Neo4jServer,
) -> None:
    """`design_scoped` takes the 200 nearest of all projects, and only then those of its own.

    So it finds something for certain only where no other test's chunks are in the index.
    """
    first, second = (drift("bench", "graph", *SMALL, **whole_server.env) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert "loaded" in first.stderr
    assert "loaded" not in second.stderr
    document = json.loads(first.stdout)
    assert set(document) == {"server", "cores", "rows", "ratios"}
    by_statement = {(r["tenant"], r["statement"]): r for r in document["rows"]}
    for tenant in TENANTS:
        for ours in ("primer", "followup"):
            own = by_statement[tenant, ours]
            assert (own["trips"], own["recall30"], "error" in own) == (1, 1.0, False)
            assert own["db_hits"] > 0
        for way in ("followup_indexed", "followup_exact"):
            assert by_statement[tenant, way]["recall30"] == 1.0
        assert "cosineSimilarity" in by_statement[tenant, "ranking_by_function"]["error"]
        assert by_statement[tenant, "design_scoped_index_named"]["rows"] > 0
        assert by_statement[tenant, "graphrag_vector_cypher_repaired"]["recall30"] >= 0.9
