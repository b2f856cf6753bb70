"""Whatever type stands at whatever property.

No request fails because of it, and what is good is found.

Each test gives one property all the wrong values at once, each on a copy of a good node, in a
graph of either schema on a real server.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any

import pytest
from neo4j.spatial import CartesianPoint
from neo4j.time import Duration

from drift.graph.connection import Connection
from drift.graph.cypher.schema import schema_named
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames, project_key
from drift.local.prepare.preparer import Neo4jPreparer
from drift.model.graph import Chunk, Community, Evidence
from tests.contract.foreign_graphs import DIMENSIONS, database
from tests.contract.graph_backends import INDEXED, ask_followup, ask_primer

__all__ = ["database"]

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

PROJECT = "p"
QUESTION = "alpha of mill 1"
VECTOR = (1.0, 0.2, 0.1, 0.1)
DAY = dt.date(2020, 1, 1)
VALUES: dict[str, Any] = {
    "an integer": 5,
    "the smallest integer": -(2**63),
    "a float": 1.5,
    "NaN": math.nan,
    "infinity": math.inf,
    "a boolean": True,
    "a date": DAY,
    "a point": CartesianPoint((1, 2)),
    "a duration": Duration(days=1),
    "empty text": "",
    "blank text": "  ",
    "text as long as a vector": "abcd",
    "long text": "x" * 5000,
    "bytes": b"abcd",
    "an empty list": [],
    "a short list": [1.0],
    "texts": ["a", "b", "c", "d"],
    "integers": [1, 2, 3, 4],
    "smallest integers": [-(2**63)] * 4,
    "booleans": [True] * 4,
    "dates": [DAY] * 4,
    "points": [CartesianPoint((1, 2))] * 4,
    "infinities": [1.0, math.inf, 0.0, 0.0],
    "NaNs": [math.nan] * 4,
    "1e300": [1e300, 1.0, 0.0, 0.0],
    "1e38": [1e38] * 4,
    "1e-300": [1e-300] * 4,
    "nothing": None,
}
"""All kinds that a property can be; maps and nested lists cannot be stored."""


NODES: dict[str, dict[str, tuple[str, ...]]] = {
    "default": {
        "__Document__": ("id", "title", "chunks", "project_id", "source_uri", "source"),
        "__Chunk__": (
            *("id", "text", "embedding", "project_id", "project_key"),
            *("heading", "ordinal", "page", "start"),
        ),
        "__Entity__": ("id", "title", "title_key", "description", "project_id", "embedding"),
        "__Community__": ("community", "level", "summary", "embedding", "project_id"),
        "RELATED": ("description", "weight"),
    },
    "v1": {
        "Document": ("id", "title", "path", "name", "url"),
        "__Chunk__": (
            *("id", "text", "embedding", "heading", "ordinal", "index"),
            *("page_number", "start_index"),
        ),
        "Thing": ("id", "title", "name", "title_key", "description"),
        "__Community__": ("community", "id", "level", "summary", "embedding"),
        "NEAR": ("description", "weight"),
    },
}
GRAPHS: dict[str, str] = {
    "default": """
UNWIND range(0, 3) AS i
CREATE (d:__Document__ {project_id: 'p', id: 'd' + i, title: 'Doc ' + i})
CREATE (k:__Chunk__ {
  project_id: 'p', project_key: $key, id: 'k' + i, text: 'alpha beta ' + i, embedding: $vectors[i]
})
CREATE (e:__Entity__ {
  project_id: 'p', id: 'e' + i, title: 'Mill ' + i, title_key: 'mill ' + i, description: 'about'
})
MERGE (c:__Community__ {project_id: 'p', community: i % 2})
  ON CREATE SET c.level = 0, c.summary = 'leaf', c.embedding = $vectors[i]
MERGE (top:__Community__ {project_id: 'p', community: 9})
  ON CREATE SET top.level = 1, top.summary = 'top', top.embedding = $vectors[i]
CREATE (d)-[:HAS_CHUNK]->(k)-[:HAS_ENTITY]->(e)-[:IN_COMMUNITY]->(c), (k)-[:IN_COMMUNITY]->(c)
MERGE (c)-[:IN_COMMUNITY]->(top)
WITH collect(e) AS entities
UNWIND entities AS a UNWIND entities AS b
WITH a, b WHERE a.id < b.id
CREATE (a)-[:RELATED {description: 'near', weight: 1.0}]->(b)""",
    "v1": """
UNWIND range(0, 3) AS i
CREATE (d:Document {id: 'd' + i, title: 'Doc ' + i, path: 'path', name: 'name'})
CREATE (k:__Chunk__ {id: 'k' + i, text: 'alpha beta ' + i, embedding: $vectors[i]})
CREATE (e:Thing:__Entity__ {
  id: 'e' + i, title: 'Mill ' + i, title_key: 'mill ' + i, name: 'mill', description: 'about'
})
MERGE (c:__Community__ {community: i % 2})
  ON CREATE SET c.level = 0, c.summary = 'leaf', c.embedding = $vectors[i]
MERGE (top:__Community__ {community: 9})
  ON CREATE SET top.level = 1, top.summary = 'top', top.embedding = $vectors[i]
CREATE (d)<-[:FROM_DOCUMENT]-(k)<-[:FROM_CHUNK]-(e)-[:IN_COMMUNITY]->(c)
MERGE (c)-[:IN_COMMUNITY]->(top)
WITH collect(e) AS entities
UNWIND entities AS a UNWIND entities AS b
WITH a, b WHERE a.id < b.id
CREATE (a)-[:NEAR {description: 'near', weight: 1.0}]->(b)""",
}
VECTORS = [[1.0, 0.1, 0.0, 0.0], [0.9, 0.2, 0.0, 0.0], [0.1, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.2]]

# copies of the first good node with all its edges, each with a value of its own; of another chunk
# they would stand before all else, and what they mention would be common
MARK_GOOD = "MATCH (n) SET n:Good"
FIRST = """
MATCH (n:Good:$($label))
RETURN properties(n) AS properties ORDER BY coalesce(n.id, n.community) LIMIT 1"""
SPOIL_NODES = """
MATCH (good:Good:$($label)) WITH good ORDER BY coalesce(good.id, good.community) LIMIT 1
UNWIND $rows AS row
CREATE (n:$([label IN labels(good) WHERE label <> 'Good'])) SET n = row
WITH good, n
CALL (good, n) {
  MATCH (good)-[r]->(other) CREATE (n)-[copy:$(type(r))]->(other) SET copy = properties(r)
}
CALL (good, n) {
  MATCH (good)<-[r]-(other) CREATE (n)<-[copy:$(type(r))]-(other) SET copy = properties(r)
}
RETURN count(*) AS made"""
SPOIL_EDGES = """
MATCH (a)-[r:$($label)]->(b) WITH a, r, b ORDER BY a.id, b.id LIMIT 1
UNWIND $values AS value
CREATE (a)-[odd:$(type(r))]->(b)
SET odd = properties(r), odd[$name] = value
RETURN count(*) AS made"""


async def build(database: Connection, schema: str) -> None:
    """Have the good graph, and nothing else."""
    await database.write("MATCH (n) DETACH DELETE n", {})
    await database.write(GRAPHS[schema], {"vectors": VECTORS, "key": project_key(PROJECT)})
    await database.write(MARK_GOOD, {})  # ids of deleted nodes are given again: they tell no order


async def spoil(database: Connection, label: str, name: str, values: list[Any]) -> None:
    """Add a copy of a good node, or edge, for each value, with the value as its property."""
    if label in {"RELATED", "NEAR"}:
        made = await database.write(SPOIL_EDGES, {"label": label, "name": name, "values": values})
    else:
        good = (await database.read(FIRST, {"label": label})).records[0]["properties"]
        copies = [{**good, **_key(label, name, i), name: value} for i, value in enumerate(values)]
        made = await database.write(SPOIL_NODES, {"label": label, "rows": copies})
    assert made.records[0]["made"] == len(values)


def _key(label: str, name: str, number: int) -> dict[str, Any]:
    return (
        {"community": f"{name} {number}"}
        if label == "__Community__"
        else {"id": f"{name} {number}"}
    )


def stores(database: Connection, schema: str) -> list[Neo4jGraph]:
    """Return one that scores every chunk, and one that asks the index within its communities."""
    return [
        Neo4jGraph(database, IndexNames(), "soft", None, schema),
        Neo4jGraph(database, IndexNames(), "hard", INDEXED, schema),
    ]


def check_primer(found: Sequence[Community]) -> None:
    assert {0, 1, 9} <= {c.id for c in found}
    assert {type(c.id) for c in found} <= {int, str}
    assert {type(c.level) for c in found} <= {int, type(None)}
    assert {type(c.summary) for c in found} == {str}


def check_followup(found: Evidence) -> None:
    # a copy of one may stand in its place
    assert {"alpha beta 0", "alpha beta 1"} <= {c.text for c in found.chunks}
    names = [text for r in found.relationships for text in (r.source, r.target, r.description)]
    assert {type(name) for name in names} == {str}
    check_chunks(found.chunks)


def check_chunks(chunks: Sequence[Chunk]) -> None:
    told = [text for c in chunks for text in (c.id, c.text, c.document_name, c.heading)]
    assert {type(text) for text in told} == {str}
    assert {type(c.page) for c in chunks} <= {int, str, type(None)}
    assert {c.start for c in chunks} <= {None, 5}
    assert {c.source_uri for c in chunks} == {""}
    placed = [(c.place, c.places) for c in chunks if c.place is not None or c.places is not None]
    assert all(type(place) is int and 1 <= place <= places for place, places in placed)
    assert {c.text for c in chunks} <= {*(f"alpha beta {n}" for n in range(4)), *TEXTS}


TEXTS = ("", *(value for value in VALUES.values() if isinstance(value, str)))


@pytest.mark.parametrize("schema", ["default", pytest.param("v1", marks=pytest.mark.deep)])
async def test_no_value_of_any_property_fails_a_request_or_hides_what_is_good(
    database: Connection, schema: str
) -> None:
    await build(database, schema)
    await Neo4jPreparer(database, IndexNames(), schema_named(schema)).prepare(DIMENSIONS)
    for label, names in NODES[schema].items():
        # good copies of a chunk would crowd out the others, so there each property comes alone
        for together in [(name,) for name in names] if label == "__Chunk__" else [names]:
            await build(database, schema)
            for name in together:
                await spoil(database, label, name, list(VALUES.values()))
            for store in stores(database, schema):
                followed = await ask_followup(store, PROJECT, QUESTION, VECTOR, (0, 1, 9))
                check_followup(followed)
                voters = [chunk.id for chunk in followed.chunks]
                check_primer(await ask_primer(store, PROJECT, VECTOR, 200, voters))


async def test_what_searches_leave_out_is_named_by_prepare(database: Connection) -> None:
    await build(database, "default")
    await spoil(database, "__Chunk__", "text", [5, DAY])
    await spoil(database, "__Chunk__", "embedding", [[1.0, math.inf, 0.0, 0.0]])
    await spoil(database, "__Community__", "summary", [42])
    await spoil(database, "__Entity__", "title", [["x"]])
    await spoil(database, "__Entity__", "description", [5])
    await spoil(database, "__Document__", "title", [["x"]])

    preparer = Neo4jPreparer(database, IndexNames())
    report = await preparer.prepare(DIMENSIONS)
    told = "\n".join((*report.problems, *report.vectors))
    odd = "of a type that is not read: "
    for said in (
        f"Some __Chunk__ nodes (2 of 7) have a `text` {odd}",
        "(INTEGER)",
        "(DATE)",
        "Some __Chunk__ nodes (1 of 7) have an embedding with NaN, infinity",
        f"Some __Community__ nodes (1 of 4) have a `summary` {odd}'summary 0' (INTEGER).",
        f"Some __Entity__ nodes (1 of 6) have a `title` {odd}'title 0' (LIST<STRING>).",
        f"Some __Entity__ nodes (1 of 6) have a `description` {odd}'description 0' (INTEGER).",
        f"Some __Document__ nodes (1 of 5) have a `title` {odd}'title 0' (LIST<STRING>).",
    ):
        assert said in told
    check_primer(await ask_primer(stores(database, "default")[0], PROJECT, VECTOR))
