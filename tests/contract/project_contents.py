"""What a project holds, by its content: told without ids, which may depend on what was before.

A file that was once stored under another id keeps what was made under that one, so ids of
documents, chunks, entities and topics differ from those of a project made afresh. Nothing else may.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from drift.graph.cypher.expressions import of_generation
from drift.graph.writing.rows import found_by
from drift.indexing.indexer import SOURCE
from drift.indexing.records import possible_ids
from tests.contract.graph_backends import Neo4jBackend

NODES = """
OPTIONAL MATCH (p:__Project__ {id: $p})
RETURN p {.*} AS project, COLLECT {
  MATCH (n) WHERE n.project_id = $p AND NOT n:__Project__
  WITH [l IN labels(n) WHERE l STARTS WITH '__'] AS labels, EXISTS { (n)-[:IN_PROJECT]->(p) } AS own
  RETURN [labels, own]
} AS nodes
"""
DOCUMENTS = """
MATCH (d:__Document__ {project_id: $p})
WHERE d.chunks >= 0
RETURN d.id AS id, d.source AS source, d.title AS title, d.path AS path, d.embedding AS embedding,
  coalesce(d.is_off, false) AS is_off, d.chunks AS chunks, COLLECT {
    MATCH (d)-[:HAS_CHUNK]->(ch)
    WHERE NOT ch:__StagedChunk__
    WITH ch ORDER BY ch.ordinal
    RETURN ch {.id, .heading, .text, .start, .end, .first_line, .name_words, .embedding,
      labels: [l IN labels(ch) WHERE l STARTS WITH '__'],
      holders: COUNT { (ch)<-[:HAS_CHUNK]-() }}
  } AS held
ORDER BY id
"""
ENTITIES = f"""
MATCH (e:__Entity__ {{project_id: $p}})
WHERE {of_generation("e", "$generation")}
RETURN e {{.id, .title, .description, .type, .path, .first_line, .last_line, .title_key}} AS entity,
  [l IN labels(e) WHERE l <> '__Entity__'] AS labels, e.embedding AS embedding,
  [(ch)-[:HAS_ENTITY]->(e) | ch.id] AS chunks,
  [(d:__Document__)-[r]-(e) | [d.id, type(r)]] AS documents,
  [(e)-[r:RELATED]->(other) | [other.title, r.description]] AS related
"""
COMMUNITIES = f"""
MATCH (c:__Community__ {{project_id: $p}})
WHERE {of_generation("c", "$generation")}
RETURN c {{.community, .level, .title, .summary, .says, .chunks, .mean, .embedding}} AS community,
  [(n)-[:IN_COMMUNITY]->(c) WHERE n:__Chunk__ OR n:__OffChunk__ | n.id] AS members,
  [(below:__Community__)-[:IN_COMMUNITY]->(c)
    WHERE {of_generation("below", "$generation")} | below.community] AS below,
  [(c)-[:IN_COMMUNITY]->(above:__Community__)
    WHERE {of_generation("above", "$generation")} | above.community] AS above
"""

_MORE = re.compile(r" and [0-9,]+ more$")


def path_of(document_id: str, source: str, outer: str) -> str:
    """Return where the file of a document stands below the outer folder; of no file its own name.

    No folder in there has the name of a source, so what stands before a path is known.
    """
    if source == SOURCE:
        return f"{SOURCE}:{document_id}"
    marks = possible_ids(source, "")[1:]
    path = next((document_id.removeprefix(m) for m in marks if document_id.startswith(m)), "")
    path = path or document_id
    below = PurePosixPath(source).relative_to(outer)
    return str(below / path)


Place = tuple[str, int]
"""A chunk: the path of its document, and its place in there."""


@dataclass
class Contents:
    """What a project holds; `documents` and `vectors` by path, `faults` contradict each other."""

    documents: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    vectors: dict[str, list[list[float]]] = field(default_factory=dict)
    entities: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    fingerprint: str = ""
    models: Sequence[str] | None = None
    faults: list[str] = field(default_factory=list)

    def texts(self, path: str) -> tuple[tuple[str, str], ...]:
        """Return the heading and the text of each chunk of a document."""
        return tuple((heading, text) for heading, text, *_ in self.documents[path][-1])

    def is_off(self, path: str) -> bool:
        """Tell whether a document is switched off."""
        return bool(self.documents[path][1])


async def contents_of(backend: Neo4jBackend, project: str, outer: str) -> Contents:
    """Return what a project holds now, whose files stand in the outer folder."""
    about: dict[str, Any] = {"p": project}
    found = (await backend.connection.rows(NODES, about))[0]
    properties = found["project"] or {}
    about["generation"] = properties.get("generation", 0)
    held = Contents(
        fingerprint=properties.get("fingerprint", ""), models=properties.get("embedding_models")
    )
    reading = _Reading(held, outer)
    for row in await backend.connection.rows(DOCUMENTS, about):
        reading.document(row)
    if not held.fingerprint:
        return held

    for row in await backend.connection.rows(ENTITIES, about):
        reading.entity(row)
    communities = await backend.connection.rows(COMMUNITIES, about)
    reading.communities(communities)
    reading.project(properties, found["nodes"], communities)
    return held


class _Reading:
    """Turns rows into what they say, whatever the ids are."""

    def __init__(self, held: Contents, outer: str) -> None:
        self._held = held
        self._outer = outer
        self._paths: dict[str, str] = {}
        self._places: dict[str, Place] = {}
        self._rows: dict[str, Mapping[str, Any]] = {}

    def _expect(self, is_right: bool, *told: object) -> None:
        if not is_right:
            self._held.faults.append(" ".join(map(str, told)))

    def document(self, row: Mapping[str, Any]) -> None:
        path = path_of(row["id"], row["source"], self._outer)
        self._expect(path not in self._held.documents, "two documents are", path)
        self._expect(row["path"] == row["id"], row["id"], "has the path", row["path"])
        self._expect(row["chunks"] == len(row["held"]), path, "lacks chunks")
        self._paths[row["id"]] = path
        chunks = []
        for place, ch in enumerate(row["held"]):
            words = found_by(row["title"], row["id"], ch["heading"], ch["text"])
            self._expect(ch["name_words"] == words, path, "has the words", ch["name_words"])
            self._expect(ch["holders"] == 1, path, "shares the chunk", ch["text"])
            self._expect(ch["embedding"] is not None, path, "lacks a vector", ch["text"])
            label = "__OffChunk__" if row["is_off"] else "__Chunk__"
            self._expect(ch["labels"] == [label], path, "has a chunk", ch["labels"])
            self._places[ch["id"]] = (path, place)
            self._rows[ch["id"]] = ch
            where = (ch["start"], ch["end"], ch["first_line"])
            chunks.append((ch["heading"], ch["text"], *where))
        self._held.documents[path] = (row["title"], row["is_off"], tuple(chunks))
        vectors = [row["embedding"], *(ch["embedding"] for ch in row["held"])]
        self._held.vectors[path] = [list(one or ()) for one in vectors]

    def entity(self, row: Mapping[str, Any]) -> None:
        entity = row["entity"]
        documents = [(self._paths.get(id_, id_), type_) for id_, type_ in row["documents"]]
        defined_in = self._paths.get(entity["path"], entity["path"])
        self._held.entities[
            entity["title"],
            entity["description"],
            entity["type"],
            entity["title_key"],
            (defined_in, entity["first_line"], entity["last_line"]),
            tuple(row["labels"]),
            row["embedding"] is not None,
            tuple(sorted(self._places.get(id_, (id_, -1)) for id_ in row["chunks"])),
            tuple(sorted(documents)),
            tuple(sorted(map(tuple, row["related"]))),
        ] += 1

    def communities(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Look for each chunk in one topic that is made of its chunks; which one is history.

        A chunk stays in its topic while a project changes, so that topics of one made afresh
        may be others.
        """
        in_topics = Counter(id_ for row in rows for id_ in row["members"])
        for id_, (path, _) in self._places.items():
            wanted = 0 if self._held.is_off(path) else 1
            text = self._rows[id_]["text"]
            self._expect(in_topics[id_] == wanted, path, in_topics[id_], "topics hold", text)

        by_name = {row["community"]["community"]: row for row in rows}

        def below(row: Mapping[str, Any]) -> list[str]:
            return [*row["members"], *(id_ for one in row["below"] for id_ in below(by_name[one]))]

        for row in rows:
            self._community(row, [id_ for id_ in below(row) if id_ in self._rows])

    def _community(self, row: Mapping[str, Any], members: Sequence[str]) -> None:
        one, is_leaf = row["community"], not row["community"]["level"]
        title, counted = one["title"], one["chunks"]
        self._expect(counted == len(row["members"]), title, counted, "counted", row["members"])
        self._expect(bool(row["members"]) == is_leaf, title, "holds", row["members"])
        self._expect(bool(row["below"]) != is_leaf, title, "is above", row["below"])
        self._expect(len(row["above"]) <= 1, title, "is below", row["above"])
        embedded = one["embedding"] is not None
        self._expect(embedded == (one["says"] is not False), title, "has a vector:", embedded)
        titles = {self._held.documents[self._places[id_][0]][0] for id_ in members}
        texts = " ".join(" ".join(self._rows[id_]["text"].split()) for id_ in members)
        strange = list(_strange(one["summary"], titles, texts))
        self._expect(not strange, title, "says", strange, "which its chunks do not")
        vectors = [self._rows[id_]["embedding"] for id_ in members]
        if is_leaf and vectors and all(vectors):
            is_mean = bool(np.allclose(np.mean(vectors, axis=0), one["mean"], atol=1e-4))
            self._expect(is_mean, title, "has another mean than its chunks")

    def project(
        self,
        properties: Mapping[str, Any],
        nodes: Sequence[tuple[list[str], bool]],
        communities: Sequence[object],
    ) -> None:
        counts = Counter(label for labels, _ in nodes for label in labels)
        self._expect(all(own for _, own in nodes), "a node is not in its project", nodes)
        self._expect(properties.get("communities") == len(communities), "communities are counted")
        self._expect(
            properties.get("entities") == self._held.entities.total(), "entities are counted"
        )
        known = len(self._places)
        chunks = counts["__Chunk__"] + counts["__OffChunk__"]
        self._expect(chunks == known, chunks, "chunks, and", known, "of documents")


def _strange(summary: str, titles: Collection[str], texts: str) -> Iterator[str]:
    """Yield what a summary says that is not in what it is made of, but for single words."""
    for line in summary.splitlines():
        if line.startswith("Documents: "):
            named = _MORE.sub("", line.removeprefix("Documents: ").removesuffix("."))
            # A document with the title of its file is called by its path, as it was stored.
            called = {one: PurePosixPath(one).name for one in named.split("; ")}
            yield from (one for one, file in called.items() if {one, file}.isdisjoint(titles))
        elif not line.startswith("About: ") and " ".join(line.split()) not in texts:
            yield line


def differences(one: Contents, other: Contents) -> list[str]:
    """Return how two projects differ, and where one of them contradicts itself."""
    told = list(one.faults)
    for path in sorted(one.documents.keys() | other.documents.keys()):
        a, b = one.documents.get(path), other.documents.get(path)
        if a != b:
            told.append(f"{path} is {a}, and made afresh {b}")
        elif not _are_alike(one.vectors[path], other.vectors[path]):
            told.append(f"{path} has other vectors than one made afresh")
    told += [f"only made afresh: {entity}" for entity in other.entities - one.entities]
    told += [f"not made afresh: {entity}" for entity in one.entities - other.entities]
    if one.models != other.models:
        told.append(f"its vectors are of {one.models}, and made afresh of {other.models}")
    return told


def _are_alike(ones: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> bool:
    return len(ones) == len(others) and all(
        len(a) == len(b) and math.dist(a, b) < 1e-3 for a, b in zip(ones, others, strict=True)
    )
