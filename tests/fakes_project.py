"""What one project holds in memory, and the searches over it that the graph does in Cypher."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from drift.core.errors import GraphMisconfiguredError
from drift.core.names import name_parts, name_words, normalised_title, search_terms, title_keys
from drift.core.source_uri import first_shown
from drift.graph.writing.records import (
    ChunkRecord,
    CommunityRecord,
    DocumentRecord,
    EntityRecord,
    RelationRecord,
)
from drift.model.graph import Chunk, Community, CommunityId, Mention, PrimerQuery, Vector
from drift.search.ranking import MIN_MASS

SAMPLES = 3
STEPS = 3
DAMPING = 0.85
MAX_SEEDS = 12
WORDS_FOR_ONE = 3
HEADING_WEIGHT = 0.5


@dataclass
class Project:
    """What one project holds.

    `held` are the (document, chunk) edges, `nested` the (community, parent) edges that the records
    do not name.
    """

    documents: dict[str, DocumentRecord] = field(default_factory=dict)
    chunks: dict[str, ChunkRecord] = field(default_factory=dict)
    held: set[tuple[str, str]] = field(default_factory=set)
    entities: dict[str, EntityRecord] = field(default_factory=dict)
    relations: list[RelationRecord] = field(default_factory=list)
    communities: dict[CommunityId, CommunityRecord] = field(default_factory=dict)
    nested: set[tuple[CommunityId, CommunityId]] = field(default_factory=set)
    fingerprint: str = ""
    embedding_models: tuple[str, ...] = ()
    writes: int = 0

    def mentions(self) -> dict[str, list[str]]:
        """Entity ids by chunk."""
        found: dict[str, list[str]] = defaultdict(list)
        for entity in self.entities.values():
            for chunk in dict.fromkeys(entity.chunk_ids):
                if chunk in self.chunks:
                    found[chunk].append(entity.id)
        return found

    def parents(self) -> set[tuple[CommunityId, CommunityId]]:
        """Every (community, parent) edge between communities that are there."""
        own = {(c.community, c.parent) for c in self.communities.values() if c.parent is not None}
        return {
            (c, p) for c, p in own | self.nested if c in self.communities and p in self.communities
        }

    def below(self, tops: Iterable[CommunityId]) -> set[str]:
        """Ids of the chunks anywhere below these communities."""
        reached, edges = {c for c in tops if c in self.communities}, self.parents()
        while more := {child for child, parent in edges if parent in reached} - reached:
            reached |= more
        return {k for c in reached for k in self.communities[c].chunk_ids if k in self.chunks}

    def document(self, chunk_id: str) -> tuple[str, int]:
        """The title, else the id, of the first document that holds the chunk, and its chunks."""
        holders = [self.documents[d] for d, k in self.held if k == chunk_id]
        named = ((d.title if (d.title or "").strip() else d.id, d.id) for d in holders)
        name, id_ = min(named, default=("unknown", ""))
        return name, sum(d == id_ for d, _ in self.held)

    def name_words(self, chunk_id: str) -> set[str]:
        """The words of the names of its documents that its heading does not hold."""
        holders = [self.documents[d] for d, k in self.held if k == chunk_id]
        heading = self.chunks[chunk_id].heading or ""
        named = (name_words(str(d.title or ""), str(d.id), heading) for d in holders)
        return {word for words in named for word in words.split()}

    def source_uri(self, chunk_id: str) -> str:
        """The address of that document, as far as it is one."""
        held = self.documents.get(self.document_id(chunk_id))
        return first_shown([held.version.source_uri]) if held else ""

    def document_id(self, chunk_id: str) -> str:
        """The id of that document, empty for none."""
        holders = [self.documents[d] for d, k in self.held if k == chunk_id]
        named = ((d.title if (d.title or "").strip() else d.id, d.id) for d in holders)
        return min(named, default=("", ""))[1]

    def chunk(self, chunk_id: str, score: float) -> Chunk:
        """The chunk as a search returns it."""
        record = self.chunks[chunk_id]
        name, places = self.document(chunk_id)
        is_placed = type(record.ordinal) is int and 0 <= record.ordinal < places
        return Chunk(
            chunk_id,
            record.text or "",
            name,
            score,
            record.heading if isinstance(record.heading, str) else "",
            record.ordinal + 1 if is_placed else None,
            places if is_placed else None,
            start=record.start,
            source_uri=self.source_uri(chunk_id),
            first_line=record.first_line,
            document_id=self.document_id(chunk_id),
        )

    def nearest(self, vector: Vector, ids: Iterable[str]) -> list[tuple[str, float]]:
        """(chunk id, similarity 0..1), best first, of those with a vector of this length."""
        usable = [k for k in ids if is_usable(self.chunks[k].embedding, len(vector))]
        scored = [(k, similarity(self.chunks[k].embedding, vector)) for k in usable]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))

    def drop_loose_chunks(self) -> None:
        """Forget chunks that no document holds."""
        kept = {k for _, k in self.held}
        self.chunks = {k: c for k, c in self.chunks.items() if k in kept}


def is_usable(vector: Vector, dimensions: int) -> bool:
    """True for a vector of this length with a direction.

    Finite numbers in 32 bits, not zeros alone.
    """
    return (
        len(vector) == dimensions
        and all(abs(x) < 3.4e38 for x in vector)
        and math.hypot(*vector) > 1e-30
    )


@lru_cache(maxsize=4096)  # the projects of a test share a few vectors
def similarity(a: Vector, b: Vector) -> float:
    """Cosine mapped to 0..1, as Neo4j gives it; like Neo4j it refuses what is not finite."""
    if not all(map(math.isfinite, a)):
        raise GraphMisconfiguredError(
            "One of the embeddings is not finite: run `python -m drift prepare`."
        )
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return (1 + dot / (math.hypot(*a) * math.hypot(*b))) / 2


def best_communities(project: Project, query: PrimerQuery) -> list[tuple[CommunityRecord, float]]:
    known, edges = project.communities, project.parents()
    steps = [_step_up(known[child].level, known[parent].level) for child, parent in edges]
    upwards, nested = -1 if sum(steps) < 0 else 1, {child for child, _ in edges}

    def height(c: CommunityRecord) -> float:
        return (
            math.inf if edges and c.community not in nested else upwards * (_number(c.level) or 0.0)
        )

    usable = [c for c in known.values() if is_usable(c.embedding, len(query.vector))]
    if not usable:
        return []
    heights = sorted((height(c) for c in usable), reverse=True)
    floor = heights[min(len(heights), (query.top_k + 1) // 2) - 1]
    scored = [(c, similarity(c.embedding, query.vector)) for c in usable if height(c) >= floor]
    return sorted(
        scored, key=lambda pair: (-height(pair[0]), -pair[1], key_order(pair[0].community))
    )[: query.top_k]


def _number(level: object) -> float | None:
    """Return what Cypher's toFloatOrNull makes of a level."""
    try:
        return float(level) if isinstance(level, str | int | float) else None
    except ValueError:
        return None


def _step_up(child: object, parent: object) -> int:
    low, high = _number(child), _number(parent)
    return 0 if low is None or high is None else (high > low) - (high < low)


def key_order(key: CommunityId) -> tuple[bool, CommunityId]:
    """Cypher sorts strings before numbers."""
    return (not isinstance(key, str), key)


def community(project: Project, scored: tuple[CommunityRecord, float], vector: Vector) -> Community:
    record, score = scored
    near = project.nearest(vector, project.below([record.community]))[:SAMPLES]
    return Community(
        record.community,
        level_of(record),
        record.summary or "",
        score,
        tuple(project.chunk(*pair) for pair in near),
    )


def level_of(record: CommunityRecord) -> int | None:
    level = _number(record.level)
    return None if level is None else int(level)


def _ranked(weights: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(
        ((k, float(w)) for k, w in weights.items() if w > 0), key=lambda pair: (-pair[1], pair[0])
    )


def worded(project: Project, question: str, searched: set[str]) -> list[tuple[str, float]]:
    texts = {k: set(search_terms(project.chunks[k].text or "")) for k in searched}
    headings = {k: set(search_terms(project.chunks[k].heading or "")) for k in searched}
    names = {k: project.name_words(k) for k in searched}
    weights: defaultdict[str, float] = defaultdict(float)
    for term in search_terms(question):
        for words, weight in ((texts, 1.0), (headings, HEADING_WEIGHT), (names, HEADING_WEIGHT)):
            found = [k for k, held in words.items() if term in held]
            for k in found:
                weights[k] += weight * math.log(1 + len(words) / len(found))
    return _ranked(weights)


def rarity_of(project: Project, entity_id: str) -> float:
    found = sum(k in project.chunks for k in set(project.entities[entity_id].chunk_ids))
    return math.log(1 + len(project.chunks) / found) if found else 0.0


def _seeds(project: Project, question: str) -> dict[str, float]:
    asked = set(title_keys(question))
    keys = {e.id: normalised_title(e.title or "") for e in project.entities.values()}
    named = {e: key for e, key in keys.items() if key in asked}
    longest = [
        e for e, key in named.items() if not any(key != k and key in k for k in named.values())
    ]
    longest += [e for e in _named_in_part(keys, set(named.values()), question) if e not in longest]
    rarities = {e: rarity_of(project, e) or 1.0 for e in longest}
    best = sorted(longest, key=lambda e: (-rarities[e], e))[:MAX_SEEDS]
    return {e: rarities[e] / sum(rarities[b] for b in best) for e in best}


def _named_in_part(keys: dict[str, str], whole: set[str], question: str) -> list[str]:
    found = {}
    for part in name_parts(question):
        words = part.split()
        fits = sorted(
            (len(key), e)
            for e, key in keys.items()
            if set(words) <= set(re.findall(r"[\w'’]+", key))
            and len(key.split()) <= WORDS_FOR_ONE * len(words)
        )
        is_clear = fits and all(keys[fits[0][1]] in keys[e] for _, e in fits)
        if is_clear and not any(part in key for key in whole):
            found[part] = fits[0][1]
    return [
        e
        for part, e in found.items()
        if not any(part != other and part in other for other in found)
    ]


def walked(project: Project, question: str, searched: set[str]) -> list[tuple[str, float]]:
    beside: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for chunk, entities in project.mentions().items():
        for e in entities:
            beside["chunk", chunk].append(("entity", e))
            beside["entity", e].append(("chunk", chunk))
    for r in project.relations:
        for here, there in dict.fromkeys(
            ((r.source_id, r.target_id), (r.target_id, r.source_id))
        ):  # to itself: once
            beside["entity", here].append(("entity", there))
    mass: dict[tuple[str, str], float] = {
        ("entity", e): m for e, m in _seeds(project, question).items()
    }
    weights: defaultdict[str, float] = defaultdict(float)
    for _ in range(STEPS):
        mass = _step(project, beside, mass)
        for (kind, id_), m in mass.items():
            if kind == "chunk" and id_ in searched:
                weights[id_] += m
    return _ranked(weights)


def _step(
    project: Project,
    beside: dict[tuple[str, str], list[tuple[str, str]]],
    mass: dict[tuple[str, str], float],
) -> dict[tuple[str, str], float]:
    arrived: defaultdict[tuple[str, str], float] = defaultdict(float)
    for node, m in mass.items():
        around = beside[node]
        if around and m / len(around) >= MIN_MASS:
            for other in around:
                arrived[other] += DAMPING * m / len(around)
    for (kind, id_), m in arrived.items():
        if kind == "entity" and (rarity := rarity_of(project, id_)):
            arrived[kind, id_] = m * rarity / math.log(1 + len(project.chunks))
    return arrived


def shared_mentions(project: Project, chosen: list[str]) -> dict[str, tuple[Mention, ...]]:
    mentions = project.mentions()
    numbers = {e: number for number, e in enumerate(project.entities)}
    common = {e for e, n in Counter(e for k in chosen for e in mentions[k]).items() if n > 1}
    told = Counter((r.source_id, r.target_id) for r in project.relations)

    def mention(e: str, k: str) -> Mention:
        others = len(mentions[k]) - 1
        found = sum(told[e, other] for other in mentions[k])
        return Mention(numbers[e], rarity_of(project, e), found / others if others else 0.0)

    return {k: tuple(mention(e, k) for e in mentions[k] if e in common) for k in chosen}
