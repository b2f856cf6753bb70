"""Many small projects, or a few large ones, written in a handful of transactions.

Tests of the writer are elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from drift.core.names import normalised_title
from drift.graph.connection import Connection
from drift.graph.indexes import project_key
from drift.model.graph import Vector
from tests.contract.random_projects import MARK, Contents

ROWS = 5000
Row = dict[str, Any]

_VECTOR = """WITH n, row WHERE row.vector IS NOT NULL
CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector)"""
_NODES = {
    "documents": "CREATE (n:__Document__ {project_id: row.p, id: row.id, title: row.title})",
    "chunks": f"""CREATE (n:__Chunk__ {{
      project_id: row.p, id: row.id, text: row.text, project_key: row.key
    }}) {_VECTOR}""",
    "entities": """CREATE (n:__Entity__ {
      project_id: row.p, id: row.id, title: row.title, title_key: row.title_key,
      description: row.description
    })""",
    "communities": f"""CREATE (n:__Community__ {{
      project_id: row.p, community: row.id, level: row.level, title: row.title,
      summary: row.summary
    }}) {_VECTOR}""",
}
_KEYS = {"__Document__": "id", "__Chunk__": "id", "__Entity__": "id", "__Community__": "community"}


def _edges(source: str, target: str, edge: str) -> str:
    """Return the statement that creates edges from rows of {p, from, to}.

    What is not there gets none.
    """
    (a, b) = (
        f"MATCH ({n}:{label} {{project_id: row.{p}, {key}: row.{end}}}) USING INDEX SEEK "
        f"{n}:{label}(project_id, {key})"
        for n, label, key, p, end in (
            ("a", source, _KEYS[source], "p", "from"),
            ("b", target, _KEYS[target], "q", "to"),
        )
    )
    return f"{a} {b} CREATE (a)-[:{edge} {{description: row.description, weight: row.weight}}]->(b)"


_EDGES = {
    "holds": _edges("__Document__", "__Chunk__", "HAS_CHUNK"),
    "mentions": _edges("__Chunk__", "__Entity__", "HAS_ENTITY"),
    "relations": _edges("__Entity__", "__Entity__", "RELATED"),
    "chunk members": _edges("__Chunk__", "__Community__", "IN_COMMUNITY"),
    "entity members": _edges("__Entity__", "__Community__", "IN_COMMUNITY"),
    "parents": _edges("__Community__", "__Community__", "IN_COMMUNITY"),
}


async def load(connection: Connection, projects: Mapping[str, Contents]) -> None:
    """Create these projects, which must not be there yet."""
    rows: dict[str, list[Row]] = {name: [] for name in (*_NODES, *_EDGES)}
    for id_, contents in projects.items():
        for name, row in _rows(id_, contents):
            rows[name].append(row)
    for name, text in (_NODES | _EDGES).items():
        await _write(connection, text, rows[name])


async def entangle(
    connection: Connection, projects: Mapping[str, Contents], beside: Callable[[str], str]
) -> None:
    """Connect each project with the one beside it, both ways, as no writer would.

    Each own edge twice more, across.
    """
    rows: dict[str, list[Row]] = {name: [] for name in _EDGES}
    for id_, contents in projects.items():
        for name, row in _edge_rows(id_, contents):
            ends = ((id_, beside(id_)), (beside(id_), id_))
            rows[name] += [{**row, "p": p, "q": q, "description": f"{MARK}edge"} for p, q in ends]
    for name, text in _EDGES.items():
        await _write(connection, text, rows[name])


async def remove(connection: Connection, project_ids: Iterable[str]) -> None:
    """Remove these projects."""
    for label in _KEYS:
        text = f"""MATCH (n:{label}) USING INDEX SEEK n:{label}(project_id)
        WHERE n.project_id IN $ids DETACH DELETE n"""
        await connection.write(text, {"ids": list(project_ids)})


async def _write(connection: Connection, text: str, rows: list[Row]) -> None:
    for start in range(0, len(rows), ROWS):
        await connection.write(f"UNWIND $rows AS row {text}", {"rows": rows[start : start + ROWS]})


def _rows(id_: str, contents: Contents) -> Iterator[tuple[str, Row]]:
    documents, knowledge = contents.documents, contents.knowledge
    for d in documents.documents:
        yield "documents", {"p": id_, "id": d.id, "title": d.title}
    for c in {c.id: c for c in documents.chunks}.values():
        row = {
            "p": id_,
            "id": c.id,
            "text": c.text,
            "key": project_key(id_),
            "vector": _floats(c.embedding),
        }
        yield "chunks", row
    for e in knowledge.entities:
        title = {"title": e.title, "title_key": normalised_title(e.title)}
        yield "entities", {"p": id_, "id": e.id, **title, "description": e.description}
    for c in knowledge.communities:
        row = {
            "p": id_,
            "id": c.community,
            "level": c.level,
            "title": c.title,
            "summary": c.summary,
        }
        yield "communities", row | {"vector": _floats(c.embedding)}
    yield from _edge_rows(id_, contents)


def _edge_rows(id_: str, contents: Contents) -> Iterator[tuple[str, Row]]:
    def edge(source: object, target: object, **properties: object) -> Row:
        return {"p": id_, "q": id_, "from": source, "to": target, **properties}

    knowledge = contents.knowledge
    yield from (("holds", edge(c.document_id, c.id)) for c in contents.documents.chunks)
    yield from (
        ("mentions", edge(chunk, e.id)) for e in knowledge.entities for chunk in e.chunk_ids
    )
    for r in knowledge.relations:
        yield (
            "relations",
            edge(r.source_id, r.target_id, description=r.description, weight=r.weight),
        )
    for c in knowledge.communities:
        yield from (("chunk members", edge(chunk, c.community)) for chunk in c.chunk_ids)
        yield from (("entity members", edge(entity, c.community)) for entity in c.entity_ids)
        if c.parent is not None:
            yield "parents", edge(c.community, c.parent)


def _floats(embedding: Vector) -> list[float] | None:
    return list(embedding) or None
