"""Graphs as the tools that people use write them, small, by their documented statements.

What the tools that can be had really write is compared in `test_foreign_tools.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from drift.graph.connection import Connection
from drift.llm.local_embedding import embed

TEXTS = (
    "Ingrid Falk is the harbour master of Nessel.",
    "Quay four is for boats over nine metres.",
    "The crane lifts 14 tonnes and was replaced in October.",
)
SUMMARY = "Ingrid Falk runs quay four in the harbour of Nessel."


@dataclass(frozen=True, slots=True)
class Shape:
    """What a tool writes: Cypher that is given `$texts`, `$vectors`, `$summary` and its vector.

    `counts` are the documents, chunks and communities that are read; `is_bare` says that it has no
    vectors.
    """

    cypher: str
    counts: tuple[int, int, int]
    is_bare: bool = False


SHAPES: Mapping[str, Shape] = {
    "llm-graph-builder": Shape(
        """CREATE (d:Document {fileName: 'harbour.pdf', status: 'Completed'})
WITH d UNWIND range(1, 3) AS n
CREATE (c:Chunk {id: 'c' + n, text: $texts[n - 1], position: n, page_number: n,
  embedding: $vectors[n - 1]})-[:PART_OF]->(d)
WITH collect(c) AS cs, head(collect(d)) AS d
WITH d, cs[0] AS a, cs[1] AS b, cs[2] AS c
CREATE (d)-[:FIRST_CHUNK]->(a), (a)-[:NEXT_CHUNK]->(b), (b)-[:NEXT_CHUNK]->(c),
  (a)-[:SIMILAR {score: 0.95}]->(b),
  (p:__Entity__:Person {id: 'Ingrid Falk', description: 'Harbour master'}),
  (q:__Entity__:Place {id: 'Quay Four'}), (k:__Entity__:Thing {id: 'Crane'}),
  (a)-[:HAS_ENTITY]->(p), (b)-[:HAS_ENTITY]->(q), (c)-[:HAS_ENTITY]->(k),
  (p)-[:MANAGES]->(q), (k)-[:STANDS_AT]->(q),
  (l0:__Community__ {id: '0-1', level: 0, title: 'Harbour', summary: $summary, embedding: $vector}),
  (l1:__Community__ {id: '1-1', level: 1, title: 'Nessel', summary: $summary, embedding: $vector}),
  (p)-[:IN_COMMUNITY]->(l0), (q)-[:IN_COMMUNITY]->(l0), (k)-[:IN_COMMUNITY]->(l0),
  (l0)-[:PARENT_COMMUNITY]->(l1)""",
        (1, 3, 2),
    ),
    "ms-graphrag-neo4j": Shape(
        """CREATE (a:__Chunk__ {id: 'a1', text: $texts[0]}),
  (b:__Chunk__ {id: 'a2', text: $texts[1]}), (c:__Chunk__ {id: 'a3', text: $texts[2]}),
  (p:__Entity__:Person {name: 'INGRID FALK', description: ['Harbour master', 'Keeps the keys']}),
  (q:__Entity__:Place {name: ['QUAY FOUR', 'Quay 4'], description: ['A quay'], summary: 'A quay'}),
  (a)-[:MENTIONS]->(p), (b)-[:MENTIONS]->(q), (c)-[:MENTIONS]->(q),
  (p)-[:RELATIONSHIP {description: 'runs', strength: 8}]->(q),
  (p)-[:SUMMARIZED_RELATIONSHIP {summary: 'Ingrid Falk runs quay four'}]->(q),
  (l0:__Community__ {id: '0-7', level: 0}),
  (l1:__Community__ {id: '1-2', level: 1, title: 'Nessel', summary: $summary}),
  (p)-[:IN_COMMUNITY]->(l0), (q)-[:IN_COMMUNITY]->(l0), (l0)-[:IN_COMMUNITY]->(l1)""",
        (3, 3, 2),
        is_bare=True,
    ),
    "langchain": Shape(
        """UNWIND range(0, 2) AS n
CREATE (d:Document {id: '9f0c' + n, text: $texts[n], source: 'https://example.com/harbour',
  page: n, embedding: $vectors[n]}), (e:Person {id: ['Ingrid Falk', 'Quay Four', 'Crane'][n]}),
  (d)-[:MENTIONS]->(e), (e)-[:WORKS_IN]->(:Place {id: 'Nessel' + n})""",
        (3, 3, 0),
    ),
    "langchain-vector": Shape(
        """UNWIND range(0, 2) AS n
CREATE (:Chunk {id: 'v' + n, text: $texts[n], source: 'harbour.md', embedding: $vectors[n]})""",
        (3, 3, 0),
    ),
    "llama-index": Shape(
        """UNWIND range(0, 2) AS n
CREATE (c:Chunk:__Node__ {id: 'n' + n, text: $texts[n], file_name: 'harbour.md',
    ref_doc_id: 'd' + n, doc_id: 'd' + n, document_id: 'd' + n, embedding: $vectors[n],
    _node_type: 'TextNode', _node_content: '{"id_": "n", "text": ""}'}),
  (e:__Entity__:__Node__:Thing {name: 'Thing ' + n, id: 'Thing ' + n, embedding: $vectors[0],
    triplet_source_id: 'n' + n})
MERGE (f:__Entity__:__Node__:Place {id: 'Nessel', name: 'Nessel'})
CREATE (c)-[:MENTIONS]->(e), (e)-[:STANDS_IN {triplet_source_id: 'n' + n}]->(f)
MERGE (c)-[:MENTIONS]->(f)""",
        (3, 3, 0),
    ),
    "graphiti": Shape(
        """CREATE (a:Episodic {uuid: 'u1', name: 'log 1', content: $texts[0], group_id: 'g'}),
  (b:Episodic {uuid: 'u2', name: 'log 2', content: $texts[1], group_id: 'g'}),
  (d:Episodic {uuid: 'u3', name: 'log 3', content: $texts[2], group_id: 'g'}),
  (e:Entity {uuid: 'e1', name: 'Ingrid Falk', summary: 'Harbour master', group_id: 'g'}),
  (f:Entity {uuid: 'e2', name: 'Quay Four', summary: '', group_id: 'g'}),
  (a)-[:MENTIONS]->(e), (b)-[:MENTIONS]->(f), (d)-[:MENTIONS]->(f),
  (e)-[:RELATES_TO {name: 'RUNS', fact: 'Ingrid Falk runs quay four'}]->(f),
  (c:Community {uuid: 'k1', name: 'Harbour', summary: $summary, group_id: 'g'}),
  (c)-[:HAS_MEMBER]->(e), (c)-[:HAS_MEMBER]->(f)""",
        (3, 3, 1),
        is_bare=True,
    ),
}
"""By the value of GRAPH_SCHEMA that reads them."""


async def write(database: Connection, shape: Shape) -> None:
    """Add such a graph to the database."""
    embedded = await asyncio.to_thread(embed, [*TEXTS, SUMMARY])
    *vectors, vector = ([float(x) for x in one] for one in embedded)
    values = {"texts": list(TEXTS), "vectors": vectors, "summary": SUMMARY, "vector": vector}
    await database.write(shape.cypher, values)
