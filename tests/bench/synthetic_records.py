"""The records of a synthetic project, and how they are loaded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np

from drift.graph.writing.records import (
    ChunkRecord,
    CommunityRecord,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    EntityRecord,
    KnowledgeBatch,
    RelationRecord,
)
from drift.local.ingest.neo4j.writer import Neo4jWriter
from tests.bench.synthetic import (
    COMMON_WORDS,
    ENTITIES_A_LEAF,
    FAN_OUT,
    LEVELS,
    WORDS_OF_A_LEAF,
    SyntheticProject,
    leaf_word,
    title,
    word,
)

CHUNKS_A_DOCUMENT = 20
CHUNKS_A_BATCH = 1000

Members = tuple[tuple[str, ...], tuple[str, ...]]
"""Ids of a community's entities and of its chunks."""


async def load(project: SyntheticProject, writer: Neo4jWriter) -> bool:
    """Make the tenant hold exactly this project; tell whether anything had to be written.

    Errors as the port raises them.
    """
    if (await writer.project_state(project.project_id)).fingerprint == project.stamp:
        return False
    records = Records(project)
    for batch in records.documents():
        await writer.write_documents(project.project_id, batch)
    await writer.write_knowledge(project.project_id, records.knowledge())
    return True


class Records:
    """What a writer is given of a project."""

    def __init__(self, project: SyntheticProject) -> None:
        """Take the project; records are made when they are asked for."""
        self._project = project

    def documents(self) -> Iterator[DocumentBatch]:
        """Yield the documents with their chunks, CHUNKS_A_BATCH chunks at a time."""
        project, rng = self._project, self._project.chance("texts")
        for start in range(0, project.chunks, CHUNKS_A_BATCH):
            places = range(start, min(project.chunks, start + CHUNKS_A_BATCH))
            chunks = tuple(self._chunk(place, rng) for place in places)
            ids = dict.fromkeys(chunk.document_id for chunk in chunks)
            documents = [
                DocumentRecord(
                    id_, f"Report {id_[1:]}", "synthetic", DocumentVersion(project.stamp)
                )
                for id_ in ids
            ]
            yield DocumentBatch(tuple(documents), chunks)

    def knowledge(self) -> KnowledgeBatch:
        """Return entities, relations and communities."""
        return KnowledgeBatch(
            tuple(self._entities()),
            tuple(self._relations()),
            tuple(self._communities()),
            self._project.stamp,
        )

    def _chunk(self, place: int, rng: np.random.Generator) -> ChunkRecord:
        leaf = int(self._project.leaf_of[place])
        common = (rng.pareto(0.6, 60) * 3).astype(np.int64) % COMMON_WORDS
        of_leaf = rng.integers(WORDS_OF_A_LEAF, size=20)
        words = [word(int(number)) for number in common]
        words += [leaf_word(leaf, int(number)) for number in of_leaf]
        rng.shuffle(words)

        before, after = " ".join(words[:40]).capitalize(), " ".join(words[40:]).capitalize()
        titles = " and ".join(title(entity) for entity in self._mentioned[place])
        return ChunkRecord(
            f"c{place}",
            f"d{place // CHUNKS_A_DOCUMENT}",
            place % CHUNKS_A_DOCUMENT,
            "",
            f"{before}. {titles}. {after}.",
            tuple(self._project.vectors[place].tolist()),
        )

    @cached_property
    def _mentioned(self) -> list[list[int]]:
        """The entities of each chunk, by number.

        Up to three are of its leaf, one is known everywhere, and every second chunk has -1, the
        hub.
        """
        project, rng = self._project, self._project.chance("mentions")
        near = rng.integers(ENTITIES_A_LEAF, size=(project.chunks, 3))
        known = (rng.pareto(1.0, project.chunks) * 5).astype(np.int64) % project.entities
        of_leaf = (near + (project.leaf_of * ENTITIES_A_LEAF)[:, None]) % project.entities
        rows = np.concatenate([of_leaf, known[:, None]], axis=1).tolist()
        return [sorted({*row, -1} if place % 2 else set(row)) for place, row in enumerate(rows)]

    def _entities(self) -> Iterator[EntityRecord]:
        places: dict[int, list[str]] = {}
        for place, mentioned in enumerate(self._mentioned):
            for entity in mentioned:
                places.setdefault(entity, []).append(f"c{place}")
        for entity, chunk_ids in places.items():
            name = title(entity)
            yield EntityRecord(f"e{entity}", name, f"{name} is a part of it.", tuple(chunk_ids))

    def _relations(self) -> Iterator[RelationRecord]:
        """Yield two relations of each entity to near ones, and one to any.

        Every tenth entity has one to the hub as well.
        """
        count, rng = self._project.entities, self._project.chance("relations")
        near = rng.integers(-20, 21, size=(count, 2))
        far = rng.integers(count, size=count)
        for entity in range(count):
            one, other = int(entity + near[entity, 0]), int(entity + near[entity, 1])
            targets = {target % count for target in (one, other, int(far[entity]))} - {entity}
            for target in sorted(targets):
                weight = float(rng.integers(1, 10))
                yield RelationRecord(f"e{entity}", f"e{target}", "works with", weight)
            if entity % 10 == 0:
                yield RelationRecord(f"e{entity}", "e-1", "belongs to", 1.0)

    def _communities(self) -> Iterator[CommunityRecord]:
        for level, width in enumerate(self._project.widths):
            members = self._members() if level == 0 else [((), ())] * width
            for number in range(width):
                yield self._community(level, number, members[number])

    def _community(self, level: int, number: int, members: Members) -> CommunityRecord:
        project = self._project
        has_parent = level + 1 < LEVELS
        first_leaf = number * FAN_OUT**level
        words = " ".join(leaf_word(first_leaf, place) for place in range(WORDS_OF_A_LEAF))
        entity_ids, chunk_ids = members
        return CommunityRecord(
            project.community_id(level, number),
            level,
            project.community_id(level + 1, number // FAN_OUT) if has_parent else None,
            f"Topic {level}.{number}",
            f"All about {words}.",
            entity_ids,
            chunk_ids,
            tuple(project.community_vectors[level][number].tolist()),
        )

    def _members(self) -> list[Members]:
        """Return the members of each leaf."""
        project = self._project
        edges = np.searchsorted(project.leaf_of, np.arange(project.widths[0] + 1)).tolist()
        members = []
        for leaf, (start, end) in enumerate(pairwise(edges)):
            first = leaf * ENTITIES_A_LEAF
            entities = range(first, min(project.entities, first + ENTITIES_A_LEAF))
            entity_ids = tuple(f"e{entity}" for entity in entities)
            members.append((entity_ids, tuple(f"c{place}" for place in range(start, end))))
        return members
