"""Clustered synthetic projects to measure the graph on.

Tenants of unequal size share their topics, and all of them mention one hub entity. A chunk's vector
is its leaf community's centre with noise, both in a space of few dimensions that is turned into the
wanted one, as embeddings of real text are; a leaf's centre lies near its parent's. Texts are words
of a long-tailed vocabulary with the words and the entities of their leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from drift.model.graph import Vector

Floats = NDArray[np.float32]

MAKER_VERSION = "1"
"""Part of the fingerprint: a change of these rules makes the next run load everything anew."""

TENANTS = {"large": 0.90, "middle": 0.08, "small": 0.02}
"""Share of the chunks of each."""

CHUNKS_A_LEAF = 25
CHUNKS_AN_ENTITY = 5
ENTITIES_A_LEAF = CHUNKS_A_LEAF // CHUNKS_AN_ENTITY
LEVELS = 3
FAN_OUT = 8
"""Communities below one of the next level."""

_LATENT = 64
_CENTRE_SCALES = (0.5, 0.45, 0.4)
"""Of the levels, from the top."""
_CHUNK_NOISE = 0.5
_QUESTION_NOISE = 0.45
_FULL_RANK_NOISE = 0.25


HUB = "Hub Entity"
COMMON_WORDS = 4000
WORDS_OF_A_LEAF = 25
"""Words that only the chunks and questions of one leaf use."""

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


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
        rng = self.chance("chunks")
        latent = self._centres[self.leaf_of] + _noise(rng, self.chunks, _CHUNK_NOISE)
        return self._raised(latent, rng)

    def below(self, level: int) -> NDArray[np.int64]:
        """Return for each chunk its community at `level`, counted from the first of that level."""
        numbers: NDArray[np.int64] = self.leaf_of // FAN_OUT**level
        return numbers

    def community_id(self, level: int, number: int) -> int:
        """Return the id of a community."""
        return sum(self.widths[:level]) + number

    @cached_property
    def community_vectors(self) -> list[Floats]:
        """The embeddings of each level's communities: the direction of what lies below each."""
        by_level = []
        for level, width in enumerate(self.widths):
            starts = np.searchsorted(self.below(level), np.arange(width))
            by_level.append(_unit(np.add.reduceat(self.vectors, starts, axis=0)))
        return by_level

    def nearest_chunks(
        self, vector: Vector, most: int, level: int = 0, below: int | None = None
    ) -> list[str]:
        """Return the ids of the `most` chunks with the greatest cosine, best first.

        With `below`, only chunks below this community of `level`.
        """
        places = np.arange(self.chunks)
        if below is not None:
            places = places[self.below(level) == below]
        scores = self.vectors[places] @ np.asarray(vector, np.float32)
        return [f"c{place}" for place in places[np.argsort(-scores, kind="stable")[:most]]]

    def nearest_communities(self, vector: Vector, level: int) -> list[int]:
        """Return the numbers of a level's communities, the nearest to the vector first."""
        scores = self.community_vectors[level] @ np.asarray(vector, np.float32)
        return [int(number) for number in np.argsort(-scores, kind="stable")]

    def queries(self, most: int) -> list[Query]:
        """Return questions about random leaves."""
        rng = self.chance("questions")
        leaves = rng.integers(self.widths[0], size=most)
        vectors = self._raised(self._centres[leaves] + _noise(rng, most, _QUESTION_NOISE), rng)
        return [
            Query(self._question(int(leaf), number, rng), tuple(vectors[number].tolist()))
            for number, leaf in enumerate(leaves)
        ]

    def _question(self, leaf: int, number: int, rng: np.random.Generator) -> str:
        entities = rng.choice(ENTITIES_A_LEAF, 2, replace=False)
        places = [(leaf * ENTITIES_A_LEAF + int(entity)) % self.entities for entity in entities]
        one, other = (title(place) for place in places)
        of_leaf = rng.choice(WORDS_OF_A_LEAF, 4, replace=False)
        words = " ".join(leaf_word(leaf, int(place)) for place in of_leaf)
        common = word(int(rng.integers(50)))
        hub = f" of {HUB}" if number % 4 == 0 else ""
        return f"How does {one} work with {other}{hub} on {words} and {common}?"

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
        directions = np.random.default_rng([self.seed, 99])
        turn = directions.standard_normal((_LATENT, self.dims), np.float32)
        noise = _noise(rng, len(latent), _FULL_RANK_NOISE, self.dims)
        return _unit(latent @ (turn / np.sqrt(self.dims)) + noise)

    def chance(self, what: str) -> np.random.Generator:
        """Return the random numbers that one part of the project is made from."""
        return np.random.default_rng([self.seed, *what.encode(), *self.tenant.encode()])


def projects(total: int, dims: int, seed: int) -> Sequence[SyntheticProject]:
    """Return the tenants of one database, the largest first."""
    return [SyntheticProject(tenant, total, dims, seed) for tenant in TENANTS]


def word(number: int) -> str:
    """Return a pronounceable word: common ones have two syllables."""
    first, rest = number % len(_SYLLABLES), number // len(_SYLLABLES)
    return _SYLLABLES[first] + (word(rest - 1) if rest > 0 else "n")


def leaf_word(leaf: int, number: int) -> str:
    """Return one of the words of a leaf."""
    return word(COMMON_WORDS + leaf * WORDS_OF_A_LEAF + number)


def title(entity: int) -> str:
    """Return the title of an entity; a negative number is the hub."""
    if entity < 0:
        return HUB
    return f"{word(10 * entity + 7).capitalize()} {word(entity + COMMON_WORDS).capitalize()}"


def _noise(rng: np.random.Generator, rows: int, length: float, dims: int = _LATENT) -> Floats:
    """Return random rows whose length is about `length`."""
    return rng.standard_normal((rows, dims), np.float32) * np.float32(length / np.sqrt(dims))


def _unit(rows: Floats) -> Floats:
    unit: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
