"""Random projects in pairs.

The one beside a project has the same ids, texts and vectors, but a graph of its own.

Hypothesis draws the shape of a pair, a generator seeded by the shape draws what it is made of:
hundreds of graphs in seconds. What is the other tenant's says so wherever a search could bring it
to light.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from hypothesis import strategies as st

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
from drift.model.graph import CommunityId
from tests.contract.graph_backends import vector

MARK = "A twin's "
"""What the other tenant's titles and descriptions begin with; it sorts before the first tenant's
own."""
VECTORS = tuple(vector(1, step / 12, 0.2) for step in range(24))
"""Their cosines to each other differ by far more than rounding does, or not at all."""

WORDS = ("zephyr", "quokka", "basalt", "tundra")
TITLES = ("alder", "birch", "alder birch", "cedar", *(f"name {i}" for i in range(40)))
QUESTION_NAMES = "what has the alder birch to do with cedar and name 5?"
"""Names of entities alone: a word of a document's name ("d3") would be weighed by the index."""
QUESTION_WORDS = "zephyr or basalt?"
QUESTION_BARE = "what?"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a pair looks like; `seed` decides the rest."""

    seed: int
    chunks: int
    entities: int
    levels: int
    hub: bool = False
    named: bool = False
    root_is_zero: bool = False
    sameness: float = 0.8  # the share of the other tenant's chunks that are copies

    @property
    def key(self) -> str:
        """The shape in a word, for names of projects."""
        return f"{self.seed}-{self.chunks}-{self.entities}-{self.levels}"


SHAPES = st.builds(
    Shape,
    seed=st.integers(0, 2**32 - 1),
    chunks=st.one_of(
        *[st.integers(1, 28)] * 7, st.integers(60, 90)
    ),  # more than a vector search's pool, now and then
    entities=st.integers(0, 16),
    levels=st.integers(0, 4),
    hub=st.booleans(),
    named=st.booleans(),
    root_is_zero=st.booleans(),
    sameness=st.sampled_from((0.0, 0.5, 0.9, 1.0)),
)


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything one project holds, as a writer takes it."""

    documents: DocumentBatch
    knowledge: KnowledgeBatch


def pair(shape: Shape) -> tuple[Contents, Contents]:
    """Return a project and the other one.

    Its ids are the same, its chunks mostly, what connects them is not.
    """
    chance = Random(shape.seed)  # noqa: S311 - test data
    chunks = _chunks(shape, chance)
    mine = _contents(shape, chance, chunks, mark="")
    copies = [c if chance.random() < shape.sameness else _changed(c, chance) for c in chunks]
    # Nearer to every question's vector than most of the project's own.
    extra = [
        ChunkRecord(
            f"x{i:02}", chance.choice(chunks).document_id, 0, "", chance.choice(WORDS), VECTORS[0]
        )
        for i in range(chance.randrange(12))
    ]
    other = replace(shape, root_is_zero=chance.random() < 0.5)
    return mine, _contents(other, chance, [*copies, *extra], mark=MARK)


def _chunks(shape: Shape, chance: Random) -> list[ChunkRecord]:
    documents = [f"d{i}" for i in range(chance.randint(1, 4))]
    chunks = [
        ChunkRecord(
            id=f"k{i:02}",
            document_id=chance.choice(documents),
            ordinal=0,
            heading="",
            text=" ".join(chance.sample(WORDS, 2)),
            # The first has one always: a project without any vector is refused.
            embedding=chance.choice(VECTORS) if i == 0 or chance.random() < 0.95 else (),
        )
        for i in range(shape.chunks)
    ]
    twice = chance.sample(chunks, min(2, len(chunks)))  # in two documents, perhaps
    return chunks + [
        replace(c, document_id=other)
        for c in twice
        if (other := chance.choice(documents)) != c.document_id
    ]


def _changed(chunk: ChunkRecord, chance: Random) -> ChunkRecord:
    return replace(chunk, text=f"{MARK}{chance.choice(WORDS)}", embedding=chance.choice(VECTORS))


def _contents(shape: Shape, chance: Random, chunks: list[ChunkRecord], mark: str) -> Contents:
    ids = list(dict.fromkeys(c.id for c in chunks))
    one = {c.id: c for c in chunks}  # a chunk is the same in each of its documents
    chunks = [replace(one[c.id], document_id=c.document_id) for c in chunks]
    documents = [
        DocumentRecord(
            d,
            f"{mark}Title of {d}" if mark or chance.random() < 0.8 else "",
            "source",
            DocumentVersion(f"hash of {d}"),
        )
        for d in dict.fromkeys(c.document_id for c in chunks)
    ]
    entities = [_entity(i, ids, chance, mark) for i in range(shape.entities)]
    if shape.hub:
        entities.append(EntityRecord("hub", "Hub", f"{mark}about the hub", tuple(ids)))
    return Contents(
        DocumentBatch(tuple(documents), tuple(chunks)),
        KnowledgeBatch(
            tuple(entities),
            _relations(entities, chance, mark),
            _communities(shape, chance, ids, [e.id for e in entities], mark),
            "fingerprint",
        ),
    )


def _entity(number: int, chunk_ids: list[str], chance: Random, mark: str) -> EntityRecord:
    wanted = chance.choice((1, 1, 2, 3, len(chunk_ids) // 2))
    return EntityRecord(
        f"e{number:02}",
        TITLES[number % len(TITLES)].title(),
        f"{mark}about {number}",
        tuple(chance.sample(chunk_ids, min(wanted, len(chunk_ids)))),
    )


def _relations(
    entities: list[EntityRecord], chance: Random, mark: str
) -> tuple[RelationRecord, ...]:
    pairs = {
        (chance.choice(entities).id, chance.choice(entities).id)
        for _ in range(2 * len(entities))
        if entities
    }
    return tuple(
        RelationRecord(a, b, f"{mark}{a} to {b}", chance.choice((0.5, 1.0, 2.0)))
        for a, b in sorted(pairs)
        if a != b
    )


def _communities(
    shape: Shape, chance: Random, chunk_ids: list[str], entity_ids: list[str], mark: str
) -> tuple[CommunityRecord, ...]:
    """A tree with branches of different depth.

    A level's parent may be missing, or two levels up.
    """
    made: list[CommunityRecord] = []
    above: list[CommunityId] = []
    for height in reversed(range(shape.levels)):
        row = []
        for _ in range(chance.randint(1, 2 * (shape.levels - height))):
            number = len(made)
            id_: CommunityId = f"c{number}" if shape.named else number
            parent = chance.choice(above) if above and chance.random() < 0.85 else None
            members = chunk_ids if height == 0 or chance.random() < 0.3 else []
            made.append(
                CommunityRecord(
                    id_,
                    (shape.levels - 1 - height) if shape.root_is_zero else height,
                    parent,
                    f"{mark}title {id_}",
                    f"{mark}summary {id_}",
                    tuple(chance.sample(entity_ids, len(entity_ids) // 3)),
                    tuple(chance.sample(members, len(members) // 3)),
                    chance.choice(VECTORS) if chance.random() < 0.9 else (),
                )
            )
            row.append(id_)
        above += row
    return tuple(made)
