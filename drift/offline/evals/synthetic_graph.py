"""Clustered synthetic projects to measure the graph on.

Tenants of unequal size that share their topics, and a hub entity.

A chunk's vector is its leaf community's centre with noise, both in a space of few dimensions that
is turned into the wanted one, as embeddings of real text are; a leaf's centre lies near its
parent's. Texts are words of a long-tailed vocabulary with the words and the entities of their leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from drift.ports import GraphWriter
from drift.values.graph import Vector
from drift.values.records import (
    ChunkRecord,
    CommunityRecord,
    DocumentBatch,
    DocumentRecord,
    EntityRecord,
    KnowledgeBatch,
    RelationRecord,
)

Floats = NDArray[np.float32]

MAKER_VERSION = "1"
"""Part of the fingerprint: a change of these rules makes the next run load everything anew."""

TENANTS = {"large": 0.90, "middle": 0.08, "small": 0.02}
"""Share of the chunks of each."""

CHUNKS_A_LEAF = 25
FAN_OUT = 8
"""Communities below one of the next level."""
LEVELS = 3
CHUNKS_A_DOCUMENT = 20
CHUNKS_AN_ENTITY = 5
HUB = "Hub Entity"
CHUNKS_A_BATCH = 1000

_LATENT = 64
_CENTRE_SCALES = (0.5, 0.45, 0.4)  # of the levels, from the top
_CHUNK_NOISE = 0.5
_QUESTION_NOISE = 0.45
_FULL_RANK_NOISE = 0.25
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_COMMON_WORDS = 4000
_WORDS_OF_A_LEAF = 25


@dataclass(frozen=True, slots=True)
class Query:
    """A question of the benchmark.

    Its text names entities and words of one leaf, its vector lies near that leaf.
    """

    text: str
    vector: Vector


@dataclass(frozen=True)
class SyntheticProject:
    """One tenant, the same for the same arguments; vectors are of `dims` floats and of length 1."""

    tenant: str
    total: int
    dims: int
    seed: int

    @property
    def project_id(self) -> str:
        """The tenant's id: it names the size of the whole database and the dimensions."""
        return f"bench-{self.total}-{self.dims}-{self.seed}-{self.tenant}"

    @property
    def stamp(self) -> str:
        """The fingerprint of the loaded project."""
        return f"bench {MAKER_VERSION} {self.project_id}"

    @property
    def chunks(self) -> int:
        """How many it has."""
        return max(1, round(self.total * TENANTS[self.tenant]))

    @property
    def widths(self) -> tuple[int, ...]:
        """How many communities each level has, from the leaves up."""
        leaves = -(-self.chunks // CHUNKS_A_LEAF)
        widths = [leaves]
        for _ in range(LEVELS - 1):
            widths.append(-(-widths[-1] // FAN_OUT))
        return tuple(widths)

    @property
    def entities(self) -> int:
        """How many it has, without the hub."""
        return max(4, self.chunks // CHUNKS_AN_ENTITY)

    @cached_property
    def leaf_of(self) -> NDArray[np.int64]:
        """The leaf of each chunk."""
        return np.arange(self.chunks) * self.widths[0] // self.chunks

    @cached_property
    def vectors(self) -> Floats:
        """The chunks' embeddings, a row each."""
        rng = self._rng("chunks")
        latent = self._centres[self.leaf_of] + _noise(rng, self.chunks, _CHUNK_NOISE)
        return self._raised(latent, rng)

    def below(self, level: int) -> NDArray[np.int64]:
        """Return for each chunk its community at `level`, counted from the first of that level."""
        found: NDArray[np.int64] = self.leaf_of // FAN_OUT**level
        return found

    def community_id(self, level: int, number: int) -> int:
        """Return the id of a community."""
        return sum(self.widths[:level]) + number

    @cached_property
    def community_vectors(self) -> list[Floats]:
        """The embeddings of each level's communities: the direction of what lies below each."""
        starts = (
            np.searchsorted(self.below(level), np.arange(width))
            for level, width in enumerate(self.widths)
        )
        return [_unit(np.add.reduceat(self.vectors, own, axis=0)) for own in starts]

    def queries(self, most: int) -> list[Query]:
        """Return questions about random leaves."""
        rng = self._rng("questions")
        leaves = rng.integers(self.widths[0], size=most)
        vectors = self._raised(self._centres[leaves] + _noise(rng, most, _QUESTION_NOISE), rng)
        return [
            Query(self._question(int(leaf), number, rng), tuple(vectors[number].tolist()))
            for number, leaf in enumerate(leaves)
        ]

    # -------------------------------------------------------------------------------------- records
    def documents(self) -> Iterator[DocumentBatch]:
        """Yield the documents with their chunks, CHUNKS_A_BATCH chunks at a time."""
        rng = self._rng("texts")
        for start in range(0, self.chunks, CHUNKS_A_BATCH):
            places = range(start, min(self.chunks, start + CHUNKS_A_BATCH))
            chunks = tuple(self._chunk(place, rng) for place in places)
            ids = dict.fromkeys(chunk.document_id for chunk in chunks)
            yield DocumentBatch(
                tuple(DocumentRecord(i, f"Report {i[1:]}", "synthetic", self.stamp) for i in ids),
                chunks,
            )

    def knowledge(self) -> KnowledgeBatch:
        """Return entities, relations and communities."""
        return KnowledgeBatch(
            tuple(self._entities()),
            tuple(self._relations()),
            tuple(self._communities()),
            self.stamp,
        )

    def _chunk(self, place: int, rng: np.random.Generator) -> ChunkRecord:
        leaf = int(self.leaf_of[place])
        common = (rng.pareto(0.6, 60) * 3).astype(np.int64) % _COMMON_WORDS
        own = rng.integers(_WORDS_OF_A_LEAF, size=20)
        words = [_word(int(w)) for w in common] + [_leaf_word(leaf, int(w)) for w in own]
        rng.shuffle(words)
        titles = " and ".join(_title(e) for e in self._mentioned[place])
        text = (
            f"{' '.join(words[:40]).capitalize()}. {titles}. {' '.join(words[40:]).capitalize()}."
        )
        vector = tuple(self.vectors[place].tolist())
        return ChunkRecord(
            f"c{place}",
            f"d{place // CHUNKS_A_DOCUMENT}",
            place % CHUNKS_A_DOCUMENT,
            "",
            text,
            vector,
        )

    @cached_property
    def _mentioned(self) -> list[list[int]]:
        """The entities of each chunk.

        Three of its leaf, one that is known everywhere, and -1, the hub, in every second.
        """
        rng = self._rng("mentions")
        near = rng.integers(CHUNKS_A_LEAF // CHUNKS_AN_ENTITY, size=(self.chunks, 3))
        known = (rng.pareto(1.0, self.chunks) * 5).astype(np.int64) % self.entities
        first = self.leaf_of * (CHUNKS_A_LEAF // CHUNKS_AN_ENTITY)
        rows = np.concatenate(
            [(near + first[:, None]) % self.entities, known[:, None]], axis=1
        ).tolist()
        return [sorted({*row, -1} if place % 2 else set(row)) for place, row in enumerate(rows)]

    def _entities(self) -> Iterator[EntityRecord]:
        places: dict[int, list[str]] = {}
        for place, mentioned in enumerate(self._mentioned):
            for entity in mentioned:
                places.setdefault(entity, []).append(f"c{place}")
        for entity, chunk_ids in places.items():
            yield EntityRecord(
                f"e{entity}", _title(entity), f"{_title(entity)} is a part of it.", tuple(chunk_ids)
            )

    def _relations(self) -> Iterator[RelationRecord]:
        """Yield two relations of each entity to near ones, one to any, and one of every tenth to the hub."""
        rng = self._rng("relations")
        near = rng.integers(-20, 21, size=(self.entities, 2))
        far = rng.integers(self.entities, size=self.entities)
        for entity in range(self.entities):
            targets = {
                int(entity + near[entity, 0]),
                int(entity + near[entity, 1]),
                int(far[entity]),
            }
            for target in sorted({t % self.entities for t in targets} - {entity}):
                yield RelationRecord(
                    f"e{entity}", f"e{target}", "works with", float(rng.integers(1, 10))
                )
            if entity % 10 == 0:
                yield RelationRecord(f"e{entity}", "e-1", "belongs to", 1.0)

    def _communities(self) -> Iterator[CommunityRecord]:
        for level, width in enumerate(self.widths):
            vectors = self.community_vectors[level]
            members = self._members() if level == 0 else [((), ())] * width
            for number in range(width):
                parent = (
                    self.community_id(level + 1, number // FAN_OUT) if level + 1 < LEVELS else None
                )
                words = " ".join(
                    _leaf_word(number * FAN_OUT**level, w) for w in range(_WORDS_OF_A_LEAF)
                )
                entity_ids, chunk_ids = members[number]
                yield CommunityRecord(
                    self.community_id(level, number),
                    level,
                    parent,
                    f"Topic {level}.{number}",
                    f"All about {words}.",
                    entity_ids,
                    chunk_ids,
                    tuple(vectors[number].tolist()),
                )

    def _members(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        edges = np.searchsorted(self.leaf_of, np.arange(self.widths[0] + 1)).tolist()
        each = CHUNKS_A_LEAF // CHUNKS_AN_ENTITY
        return [
            (
                tuple(f"e{e}" for e in range(leaf * each, min(self.entities, (leaf + 1) * each))),
                tuple(f"c{place}" for place in range(start, end)),
            )
            for leaf, (start, end) in enumerate(pairwise(edges))
        ]

    def _question(self, leaf: int, number: int, rng: np.random.Generator) -> str:
        each = CHUNKS_A_LEAF // CHUNKS_AN_ENTITY
        one, other = (
            _title((leaf * each + int(e)) % self.entities)
            for e in rng.choice(each, 2, replace=False)
        )
        words = " ".join(
            _leaf_word(leaf, int(w)) for w in rng.choice(_WORDS_OF_A_LEAF, 4, replace=False)
        )
        common = _word(int(rng.integers(50)))
        hub = f" of {HUB}" if number % 4 == 0 else ""
        return f"How does {one} work with {other}{hub} on {words} and {common}?"

    # -------------------------------------------------------------------------------------- vectors
    @cached_property
    def _centres(self) -> Floats:
        """The leaves' centres: leaf n of every tenant of a seed is about the same."""
        total = np.zeros((self.widths[0], _LATENT), np.float32)
        leaves = np.arange(self.widths[0])
        for level, scale in zip(reversed(range(LEVELS)), _CENTRE_SCALES, strict=True):
            rng = np.random.default_rng([self.seed, level])
            total += _noise(rng, self.widths[level], scale)[leaves // FAN_OUT**level]
        return total

    def _raised(self, latent: Floats, rng: np.random.Generator) -> Floats:
        """Turn rows of the space of few dimensions into unit vectors of the wanted one."""
        turn = np.random.default_rng([self.seed, 99]).standard_normal(
            (_LATENT, self.dims), np.float32
        )
        return _unit(
            latent @ (turn / np.sqrt(self.dims))
            + _noise(rng, len(latent), _FULL_RANK_NOISE, self.dims)
        )

    def _rng(self, what: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, *what.encode(), *self.tenant.encode()])


async def load(project: SyntheticProject, writer: GraphWriter) -> bool:
    """Make the tenant hold exactly this project; tell whether anything had to be written.

    Errors as the port raises them.
    """
    if (await writer.project_state(project.project_id)).fingerprint == project.stamp:
        return False
    for batch in project.documents():
        await writer.write_documents(project.project_id, batch)
    await writer.write_knowledge(project.project_id, project.knowledge())
    return True


def _noise(rng: np.random.Generator, rows: int, length: float, dims: int = _LATENT) -> Floats:
    """Return random rows whose length is about `length`."""
    return rng.standard_normal((rows, dims), np.float32) * np.float32(length / np.sqrt(dims))


def _unit(rows: Floats) -> Floats:
    found: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found


def _word(number: int) -> str:
    """Return a pronounceable word: common ones have two syllables."""
    first, rest = number % len(_SYLLABLES), number // len(_SYLLABLES)
    return _SYLLABLES[first] + (_word(rest - 1) if rest > 0 else "n")


def _leaf_word(leaf: int, number: int) -> str:
    return _word(_COMMON_WORDS + leaf * _WORDS_OF_A_LEAF + number)


def _title(entity: int) -> str:
    return (
        HUB
        if entity < 0
        else f"{_word(10 * entity + 7).capitalize()} {_word(entity + _COMMON_WORDS).capitalize()}"
    )


def projects(total: int, dims: int, seed: int) -> Sequence[SyntheticProject]:
    """Return the tenants of one database, the largest first."""
    return [SyntheticProject(tenant, total, dims, seed) for tenant in TENANTS]


@lru_cache(maxsize=4096)
def nearest_chunks(
    project: SyntheticProject,
    vector: Vector,
    most: int,
    level: int = 0,
    below: frozenset[int] | None = None,
) -> tuple[str, ...]:
    """Return the ids of the `most` chunks with the greatest exact cosine, best first.

    Only those `below` communities of `level`.
    """
    places = np.arange(project.chunks)
    if below is not None:
        places = places[np.isin(project.below(level), list(below))]
    scores = project.vectors[places] @ np.asarray(vector, np.float32)
    return tuple(f"c{place}" for place in places[np.argsort(-scores, kind="stable")[:most]])


@lru_cache(maxsize=4096)
def nearest_communities(project: SyntheticProject, vector: Vector, level: int) -> tuple[int, ...]:
    """Return the numbers of a level's communities, the nearest to the vector first."""
    scores = project.community_vectors[level] @ np.asarray(vector, np.float32)
    return tuple(int(number) for number in np.argsort(-scores, kind="stable"))
