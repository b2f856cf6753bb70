"""A graph in memory: GraphStore and GraphWriter with the behaviour of the real one, held to it by the contract tests."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from drift.errors import GraphMisconfiguredError, IngestError
from drift.model import (
    Chunk,
    ChunkRecord,
    Community,
    CommunityId,
    CommunityRecord,
    DocumentBatch,
    DocumentRecord,
    Entity,
    EntityRecord,
    Evidence,
    FollowupQuery,
    GraphHealth,
    IndexState,
    KnowledgeBatch,
    PrimerEvidence,
    PrimerQuery,
    ProjectState,
    RelationRecord,
    Relationship,
    Vector,
)
from drift.ranking import LEAST_MASS, Candidate, Mention, fuse, normalised_title, search_terms, title_keys
from drift.tasks import Deadline

POOL = 60
KEPT = 48
MOST_CHUNKS = 30
SAMPLES = 3
SPARE_CHUNKS = 10
ROOTED = 10
MOST_ENTITIES = 20
MOST_RELATIONS = 30
MOST_NEIGHBORS = 10
STEPS = 3
DAMPING = 0.85
MOST_SEEDS = 12


@dataclass
class Project:
    """What one tenant holds; `held` are the (document, chunk) edges."""

    documents: dict[str, DocumentRecord] = field(default_factory=dict)
    chunks: dict[str, ChunkRecord] = field(default_factory=dict)
    held: set[tuple[str, str]] = field(default_factory=set)
    entities: dict[str, EntityRecord] = field(default_factory=dict)
    relations: list[RelationRecord] = field(default_factory=list)
    communities: dict[CommunityId, CommunityRecord] = field(default_factory=dict)
    fingerprint: str = ""

    def mentions(self) -> dict[str, list[str]]:
        """Entity ids by chunk."""
        found: dict[str, list[str]] = defaultdict(list)
        for entity in self.entities.values():
            for chunk in dict.fromkeys(entity.chunk_ids):
                if chunk in self.chunks:
                    found[chunk].append(entity.id)
        return found

    def below(self, tops: Iterable[CommunityId]) -> set[str]:
        """Ids of the chunks anywhere below these communities."""
        reached = {c for c in tops if c in self.communities}
        while more := {c.community for c in self.communities.values() if c.parent in reached} - reached:
            reached |= more
        return {k for c in reached for k in self.communities[c].chunk_ids if k in self.chunks}

    def document_name(self, chunk_id: str) -> str:
        """The title, else the id, of the first document that holds the chunk."""
        holders = [self.documents[d] for d, k in self.held if k == chunk_id]
        return min((d.title if d.title.strip() else d.id for d in holders), default="unknown")

    def chunk(self, chunk_id: str, score: float) -> Chunk:
        """The chunk as a search returns it."""
        return Chunk(chunk_id, self.chunks[chunk_id].text, self.document_name(chunk_id), score)

    def nearest(self, vector: Vector, ids: Iterable[str]) -> list[tuple[str, float]]:
        """(chunk id, similarity 0..1), best first, of those with a vector of this length."""
        usable = [k for k in ids if len(self.chunks[k].embedding) == len(vector)]
        scored = [(k, similarity(self.chunks[k].embedding, vector)) for k in usable]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))

    def drop_loose_chunks(self) -> None:
        """Forget chunks that no document holds."""
        kept = {k for _, k in self.held}
        self.chunks = {k: c for k, c in self.chunks.items() if k in kept}


def similarity(a: Vector, b: Vector) -> float:
    """Cosine mapped to 0..1, as Neo4j gives it."""
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return (1 + dot / (math.hypot(*a) * math.hypot(*b))) / 2


class FakeGraph:
    """GraphStore and GraphWriter over dictionaries; `failure` is raised by every call while it is set."""

    def __init__(
        self, followup_scope: Literal["soft", "hard"] = "soft", projects: dict[str, Project] | None = None
    ) -> None:
        self.projects = {} if projects is None else projects
        self.hard = followup_scope == "hard"
        self.dimensions: int | None = None
        self.failure: Exception | None = None
        self.round_trips = 0

    # ------------------------------------------------------------------------------------------- reads
    async def primer(self, query: PrimerQuery, deadline: Deadline) -> PrimerEvidence:
        project = self._answer(query.project_id, deadline, query.vector)
        best = _best_communities(project, query)
        if not best:
            near = project.nearest(query.vector, project.chunks)[:SPARE_CHUNKS]
            return PrimerEvidence(chunks=tuple(project.chunk(*pair) for pair in near))
        return PrimerEvidence(tuple(_community(project, c, query.vector) for c in best))

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Evidence:
        project = self._answer(query.project_id, deadline, query.vector)
        scope = project.below(query.communities)
        searched = scope if self.hard and query.communities else set(project.chunks)
        legs = (
            project.nearest(query.vector, searched)[:POOL],
            _worded(project, query.question, searched)[:POOL],
            _walked(project, query.question, searched)[:POOL],
        )
        votes: Counter[str] = Counter()
        for leg in legs:
            for rank, (chunk_id, _) in enumerate(leg):
                votes[chunk_id] += 1 / (60 + rank)  # type: ignore[assignment]
        chosen = sorted(votes, key=lambda k: (-votes[k], k))[:KEPT]
        text, graph = dict(legs[1]), dict(legs[2])
        cosines = dict(project.nearest(query.vector, chosen))
        shared = _shared(project, chosen)
        candidates = [
            Candidate(project.chunk(k, 0.0), cosines.get(k), text.get(k, 0.0), graph.get(k, 0.0), k in scope, shared[k])
            for k in chosen
        ]
        return _with_neighbourhood(project, fuse(candidates, MOST_CHUNKS), chosen, query.vector)

    async def health(self) -> GraphHealth:
        self._answer("", Deadline.after(1))
        names = (
            ("graphrag_comm_index", "vector"),
            ("graphrag_chunk_index", "vector"),
            ("graphrag_chunk_fulltext", "fulltext"),
        )
        if self.dimensions is None:
            return GraphHealth("fake", (), tuple(name for name, _ in names))
        dimensions = self.dimensions
        return GraphHealth(
            "fake",
            tuple(
                IndexState(n, "vector", online=True, dimensions=dimensions)
                if k == "vector"
                else IndexState(n, "fulltext", online=True)
                for n, k in names
            ),
        )

    async def close(self) -> None:
        """Nothing to close."""

    def _answer(self, project_id: str, deadline: Deadline, vector: Vector = ()) -> Project:
        deadline.require()
        self.round_trips += 1
        if self.failure is not None:
            raise self.failure
        if vector:
            self._require_dimensions(len(vector))
        return self.projects.get(project_id, Project())

    # ------------------------------------------------------------------------------------------ writes
    async def prepare(self, dimensions: int) -> tuple[str, ...]:
        if self.dimensions is None:
            self.dimensions = dimensions
            return ("graphrag_chunk_fulltext", "graphrag_comm_index", "graphrag_chunk_index")
        self._require_dimensions(dimensions)
        return ()

    def _require_dimensions(self, wanted: int) -> None:
        if self.dimensions not in (None, wanted):
            raise GraphMisconfiguredError(
                f"The vector index graphrag_comm_index has {self.dimensions} dimensions, but {wanted} are wanted: drop it "
                "and run `python -m drift prepare`."
            )

    async def project_state(self, project_id: str) -> ProjectState:
        project = self._answer(project_id, Deadline.after(1))
        hashes = {d.id: d.content_hash for d in project.documents.values()}
        return ProjectState(hashes, project.fingerprint, {d.id: d.source for d in project.documents.values()})

    async def read_chunks(self, project_id: str) -> tuple[ChunkRecord, ...]:
        project = self._answer(project_id, Deadline.after(1))
        first = {k: min(d for d, held in project.held if held == k) for _, k in project.held}
        records = [replace(project.chunks[k], document_id=d, embedding=()) for k, d in first.items()]
        return tuple(sorted(records, key=lambda c: (c.document_id, c.ordinal, c.id)))

    async def write_documents(self, project_id: str, batch: DocumentBatch) -> None:
        ids = {d.id for d in batch.documents}
        if any(c.document_id not in ids for c in batch.chunks):
            raise IngestError("Chunks belong to documents that are not in the batch.")
        _require_one_length(c.embedding for c in batch.chunks)
        project = self._unfinished(project_id)
        project.documents |= {d.id: d for d in batch.documents}
        project.held = {(d, k) for d, k in project.held if d not in ids} | {(c.document_id, c.id) for c in batch.chunks}
        project.chunks |= {c.id: c for c in batch.chunks}
        project.drop_loose_chunks()

    async def remove_documents(self, project_id: str, document_ids: Sequence[str]) -> None:
        project = self._unfinished(project_id)
        project.documents = {d: record for d, record in project.documents.items() if d not in document_ids}
        project.held = {(d, k) for d, k in project.held if d not in document_ids}
        project.drop_loose_chunks()

    async def write_knowledge(self, project_id: str, batch: KnowledgeBatch) -> None:
        _require_one_length([*(e.embedding for e in batch.entities), *(c.embedding for c in batch.communities)])
        project = self._unfinished(project_id)
        project.entities = {e.id: e for e in batch.entities}
        project.relations = [
            r for r in batch.relations if r.source_id in project.entities and r.target_id in project.entities
        ]
        project.communities = {c.community: c for c in batch.communities}
        project.fingerprint = batch.fingerprint

    def _unfinished(self, project_id: str) -> Project:
        if self.failure is not None:
            raise self.failure
        project = self.projects.setdefault(project_id, Project())
        project.fingerprint = ""
        return project


def _require_one_length(vectors: Iterable[Vector]) -> None:
    if len({len(v) for v in vectors if v}) > 1:
        raise IngestError("Embeddings of one batch have different lengths.")


def _best_communities(project: Project, query: PrimerQuery) -> list[tuple[CommunityRecord, float]]:
    known = project.communities
    edges = [(c.level, known[c.parent].level) for c in known.values() if c.parent in known]
    upwards = -1 if sum((parent > child) - (parent < child) for child, parent in edges) < 0 else 1

    def height(c: CommunityRecord) -> float:
        return math.inf if edges and c.parent not in known else upwards * c.level

    usable = [c for c in known.values() if len(c.embedding) == len(query.vector)]
    if not usable:
        return []
    heights = sorted((height(c) for c in usable), reverse=True)
    floor = heights[min(len(heights), (query.top_k + 1) // 2) - 1]
    scored = [(c, similarity(c.embedding, query.vector)) for c in usable if height(c) >= floor]
    return sorted(scored, key=lambda pair: (-height(pair[0]), -pair[1], pair[0].community))[: query.top_k]


def _community(project: Project, scored: tuple[CommunityRecord, float], vector: Vector) -> Community:
    record, score = scored
    near = project.nearest(vector, project.below([record.community]))[:SAMPLES]
    return Community(
        record.community, record.level, record.summary, score, tuple(project.chunk(*pair) for pair in near)
    )


def _ranked(weights: Counter[str]) -> list[tuple[str, float]]:
    return sorted(((k, float(w)) for k, w in weights.items() if w > 0), key=lambda pair: (-pair[1], pair[0]))


def _worded(project: Project, question: str, searched: set[str]) -> list[tuple[str, float]]:
    words = {k: Counter(search_terms(project.chunks[k].text)) for k in searched}
    weights: Counter[str] = Counter()
    for term in search_terms(question):
        found = [k for k, counted in words.items() if term in counted]
        for k in found:
            weights[k] += math.log(1 + len(words) / len(found))  # type: ignore[assignment]
    return _ranked(weights)


def _rarity(project: Project, entity_id: str) -> float:
    found = sum(k in project.chunks for k in set(project.entities[entity_id].chunk_ids))
    return math.log(1 + len(project.chunks) / found) if found else 0.0


def _seeds(project: Project, question: str) -> dict[str, float]:
    asked = set(title_keys(question))
    keys = {e.id: normalised_title(e.title) for e in project.entities.values()}
    named = {e: key for e, key in keys.items() if key in asked}
    longest = [e for e, key in named.items() if not any(key != k and key in k for k in named.values())]
    rarities = {e: _rarity(project, e) or 1.0 for e in longest}
    best = sorted(longest, key=lambda e: (-rarities[e], e))[:MOST_SEEDS]
    return {e: rarities[e] / sum(rarities[b] for b in best) for e in best}


def _walked(project: Project, question: str, searched: set[str]) -> list[tuple[str, float]]:
    beside: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for chunk, entities in project.mentions().items():
        for e in entities:
            beside["chunk", chunk].append(("entity", e))
            beside["entity", e].append(("chunk", chunk))
    for r in project.relations:
        beside["entity", r.source_id].append(("entity", r.target_id))
        beside["entity", r.target_id].append(("entity", r.source_id))
    mass: dict[tuple[str, str], float] = {("entity", e): m for e, m in _seeds(project, question).items()}
    weights: Counter[str] = Counter()
    for _ in range(STEPS):
        mass = _step(project, beside, mass)
        for (kind, id_), m in mass.items():
            if kind == "chunk" and id_ in searched:
                weights[id_] += m  # type: ignore[assignment]
    return _ranked(weights)


def _step(
    project: Project, beside: dict[tuple[str, str], list[tuple[str, str]]], mass: dict[tuple[str, str], float]
) -> dict[tuple[str, str], float]:
    arrived: defaultdict[tuple[str, str], float] = defaultdict(float)
    for node, m in mass.items():
        around = beside[node]
        if around and m / len(around) >= LEAST_MASS:
            for other in around:
                arrived[other] += DAMPING * m / len(around)
    for (kind, id_), m in arrived.items():
        if kind == "entity" and (rarity := _rarity(project, id_)):
            arrived[kind, id_] = m * rarity / math.log(1 + len(project.chunks))
    return arrived


def _shared(project: Project, chosen: list[str]) -> dict[str, tuple[Mention, ...]]:
    mentions = project.mentions()
    numbers = {e: number for number, e in enumerate(project.entities)}
    common = {e for e, n in Counter(e for k in chosen for e in mentions[k]).items() if n > 1}
    told = Counter((r.source_id, r.target_id) for r in project.relations)

    def mention(e: str, k: str) -> Mention:
        others = len(mentions[k]) - 1
        found = sum(told[e, other] for other in mentions[k])
        return Mention(numbers[e], _rarity(project, e), found / others if others else 0.0)

    return {k: tuple(mention(e, k) for e in mentions[k] if e in common) for k in chosen}


def _with_neighbourhood(project: Project, chunks: tuple[Chunk, ...], chosen: list[str], vector: Vector) -> Evidence:
    mentions = project.mentions()
    counted = Counter(e for k in chosen[:ROOTED] for e in mentions[k])
    mentioned = sorted(counted, key=lambda e: (-counted[e], e))[:MOST_ENTITIES]
    touching = sorted(
        (r for r in project.relations if {r.source_id, r.target_id} & set(mentioned)),
        key=lambda r: (-r.weight, r.target_id),
    )[:MOST_RELATIONS]
    reached = {*mentioned, *(e for r in touching for e in (r.source_id, r.target_id))}
    beside = {k for k, entities in mentions.items() if reached & set(entities)} - set(chosen)
    titles = {e.id: e.title for e in project.entities.values()}
    return Evidence(
        chunks=chunks,
        neighbors=tuple(project.chunk(*pair) for pair in project.nearest(vector, beside)[:MOST_NEIGHBORS]),
        entities=tuple(Entity(e, titles[e], project.entities[e].description, counted[e]) for e in mentioned),
        relationships=tuple(
            Relationship(titles[r.source_id], titles[r.target_id], r.description, r.weight) for r in touching
        ),
    )
