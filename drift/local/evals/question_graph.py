"""A question set as a project's graph: each passage is a chunk."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from drift.core.names import normalised_title
from drift.local.evals.embedders import TextEmbedder
from drift.local.evals.question_sets import Passage, QuestionSet
from drift.local.ingest.communities import find_communities
from drift.local.ingest.entities import FoundEntity, Reading, ReadSentence
from drift.local.ingest.graph_records import (
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    EntityRecord,
    KnowledgeBatch,
    RelationRecord,
)
from drift.local.ingest.knowledge import community_record, fingerprint, stable_id
from drift.local.ingest.prose import sentences
from drift.local.ingest.relations import Relation
from drift.local.ingest.summaries import summarise
from drift.local.ingest.writers import GraphWriter

LOADER_VERSION = "1"
"""Part of the fingerprint: a change of these rules makes the next run load everything anew."""

PASSAGES_A_BATCH = 128
_SOURCE = "question set"


def project_of(own: QuestionSet) -> str:
    """Return the project that holds the set."""
    return f"recall-{own.name}"


async def load_set(own: QuestionSet, writer: GraphWriter, embedder: TextEmbedder) -> bool:
    """Make the set's project hold exactly this set; tell whether anything had to be written.

    Raises:
        GraphMisconfiguredError, GraphUnavailableError: as the port does.
    """
    project_id = project_of(own)
    documents = [_document(passage, embedder) for passage in own.passages]
    stamp = fingerprint({d.id: d.content_hash for d in documents}, embedder.name)
    state = await writer.project_state(project_id)
    if state.fingerprint == stamp:
        return False

    if gone := sorted(set(state.documents) - {d.id for d in documents}):
        await writer.remove_documents(project_id, gone)

    missing = [
        (document, passage)
        for document, passage in zip(documents, own.passages, strict=True)
        if state.documents.get(document.id) != document.content_hash
    ]
    for start in range(0, len(missing), PASSAGES_A_BATCH):
        written, passages = zip(*missing[start : start + PASSAGES_A_BATCH], strict=True)
        vectors = await embedder.passages([_text(passage) for passage in passages])
        chunks = [
            replace(chunk_of(passage), embedding=vector)
            for passage, vector in zip(passages, vectors, strict=True)
        ]
        await writer.write_documents(project_id, DocumentBatch(written, tuple(chunks)))

    knowledge = derive(own, stamp)
    summaries = await embedder.passages([community.summary for community in knowledge.communities])
    communities = [
        replace(community, embedding=vector)
        for community, vector in zip(knowledge.communities, summaries, strict=True)
    ]
    await writer.write_knowledge(project_id, replace(knowledge, communities=tuple(communities)))

    return True


def _text(passage: Passage) -> str:
    """Return the passage as a document: its title is its first line."""
    return f"{passage.title}\n{passage.text}"


def _document(passage: Passage, embedder: TextEmbedder) -> DocumentRecord:
    told = json.dumps(
        [LOADER_VERSION, embedder.name, _text(passage), passage.entities, passage.triples]
    )
    return DocumentRecord(
        passage.id, passage.title, _SOURCE, hashlib.sha256(told.encode()).hexdigest()
    )


def chunk_of(passage: Passage) -> ChunkRecord:
    """Return the passage's one chunk, without its embedding; both have the same id."""
    return ChunkRecord(passage.id, passage.id, 0, passage.title, _text(passage))


def derive(own: QuestionSet, stamp: str) -> KnowledgeBatch:
    """Return entities and relations as the set states them, and communities without embeddings."""
    entities = _entities(own.passages)
    found = tuple(entities[key] for key in sorted(entities))
    readings = tuple(_reading(passage, entities) for passage in own.passages)
    edges = _edges(own.passages)
    groups = find_communities(readings, found, _undirected(edges))
    summaries = summarise(groups, readings, found)

    ids = {key: stable_id(project_of(own), "entity", key) for key in entities}
    passage_ids = [passage.id for passage in own.passages]
    return KnowledgeBatch(
        tuple(
            EntityRecord(
                ids[entity.key],
                entity.title,
                entity.description,
                tuple(passage_ids[place] for place in sorted(entity.chunks)),
            )
            for entity in found
        ),
        tuple(
            RelationRecord(ids[edge.source], ids[edge.target], edge.description, edge.weight)
            for edge in edges
        ),
        tuple(
            community_record(group, summary, ids, passage_ids)
            for group, summary in zip(groups, summaries, strict=True)
        ),
        stamp,
    )


def _entities(passages: Sequence[Passage]) -> dict[str, FoundEntity]:
    titles: dict[str, str] = {}
    places: defaultdict[str, dict[int, float]] = defaultdict(dict)
    said: dict[str, str] = {}
    for place, passage in enumerate(passages):
        for title in passage.entities:
            key = normalised_title(title)
            titles.setdefault(key, title)
            places[key][place] = 1.0
        for triple in passage.triples:
            said.setdefault(normalised_title(triple[0]), " ".join(triple))

    return {
        key: FoundEntity(key, title, said.get(key, ""), places[key])
        for key, title in titles.items()
    }


def _reading(passage: Passage, entities: dict[str, FoundEntity]) -> Reading:
    keys = [normalised_title(title) for title in passage.entities]
    own = []
    for sentence in sentences(passage.text):
        text = normalised_title(sentence.text)
        named = frozenset(key for key in keys if key in text)
        own.append(ReadSentence(sentence.text, sentence.whole, named))

    weights = {key: 1 / len(entities[key].chunks) for key in keys}
    return Reading(chunk_of(passage), tuple(own), weights)


def _edges(passages: Sequence[Passage]) -> list[Relation]:
    """Return one relation for each ordered pair; its weight is how often it is stated."""
    told: dict[tuple[str, str], str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for passage in passages:
        for subject, predicate, object_ in passage.triples:
            pair = normalised_title(subject), normalised_title(object_)
            if all(pair) and pair[0] != pair[1]:
                counts[pair] += 1
                told.setdefault(pair, f"{subject} {predicate} {object_}")

    return [Relation(*pair, float(count), told[pair]) for pair, count in counts.items()]


def _undirected(edges: Iterable[Relation]) -> list[Relation]:
    """Return one relation for each unordered pair: clustering knows no direction."""
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    for edge in edges:
        weights[min(edge.source, edge.target), max(edge.source, edge.target)] += edge.weight
    return [
        Relation(source, target, weight, "") for (source, target), weight in sorted(weights.items())
    ]
