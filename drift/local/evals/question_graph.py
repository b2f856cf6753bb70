"""A question set as a project's graph: each passage is a chunk."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace

from drift.core.names import normalised_title
from drift.graph.writing.records import (
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    EntityRecord,
    KnowledgeBatch,
    RelationRecord,
)
from drift.indexing.batch_embedder import BatchEmbedder
from drift.indexing.documents import sha256
from drift.indexing.records import stable_id
from drift.local.evals.embedders import TextEmbedder
from drift.local.evals.questions import LabelledPassage, QuestionSet
from drift.local.ingest.derivation import embed_communities
from drift.local.ingest.knowledge import derive, fingerprint
from drift.local.ingest.neo4j.writer import Neo4jWriter

LOADER_VERSION = "1"
"""Part of the fingerprint: a change of these rules makes the next run load everything anew."""

PASSAGES_A_BATCH = 128
_SOURCE = "question set"


def project_of(own: QuestionSet) -> str:
    """Return the project that holds the set."""
    return f"recall-{own.name}"


async def load_set(own: QuestionSet, writer: Neo4jWriter, embedder: TextEmbedder) -> bool:
    """Make the set's project hold exactly this set; tell whether anything had to be written.

    Raises:
        GraphMisconfiguredError, GraphUnavailableError: as the port does.
    """
    project_id = project_of(own)
    documents = [_document(passage, embedder) for passage in own.passages]
    stamp = fingerprint(documents, embedder.name)
    state = await writer.project_state(project_id)
    if state.fingerprint == stamp:
        return False

    if gone := sorted(set(state.documents) - {d.id for d in documents}):
        await writer.remove_documents(project_id, gone)

    held = state.documents
    missing = [
        (document, passage)
        for document, passage in zip(documents, own.passages, strict=True)
        if document.id not in held or not held[document.id].is_made_of(document.version)
    ]
    for start in range(0, len(missing), PASSAGES_A_BATCH):
        written, passages = zip(*missing[start : start + PASSAGES_A_BATCH], strict=True)
        vectors = await embedder.passages([_text(passage) for passage in passages])
        chunks = [
            replace(chunk_of(passage), embedding=vector)
            for passage, vector in zip(passages, vectors, strict=True)
        ]
        batch = DocumentBatch(written, tuple(chunks))
        await writer.write_documents(project_id, batch)

    members, _ = await writer.read_members(project_id)
    stored = await writer.read_chunks(project_id, members, embedder.dimensions)
    calls = BatchEmbedder(embedder.of_passages, embedder.dimensions)
    knowledge = await embed_communities(calls, derive(members, stored, stamp))
    await writer.write_knowledge(project_id, with_entities(own, knowledge))

    return True


def _text(passage: LabelledPassage) -> str:
    """Return the passage as a document: its title is its first line."""
    return f"{passage.title}\n{passage.text}"


def _document(passage: LabelledPassage, embedder: TextEmbedder) -> DocumentRecord:
    told = json.dumps(
        [LOADER_VERSION, embedder.name, _text(passage), passage.entities, passage.triples]
    )
    return DocumentRecord(
        passage.id, passage.title, _SOURCE, DocumentVersion(sha256(told.encode()))
    )


def chunk_of(passage: LabelledPassage) -> ChunkRecord:
    """Return the passage's one chunk, without its embedding; both have the same id."""
    return ChunkRecord(passage.id, passage.id, 0, passage.title, _text(passage))


def with_entities(own: QuestionSet, knowledge: KnowledgeBatch) -> KnowledgeBatch:
    """Return the knowledge with entities and relations as the set states them."""
    titles: dict[str, str] = {}
    mentioned: defaultdict[str, dict[str, None]] = defaultdict(dict)
    told: dict[tuple[str, str], str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    described: dict[str, str] = {}
    for passage in own.passages:
        for title in passage.entities:
            titles.setdefault(normalised_title(title), title)
            mentioned[normalised_title(title)][passage.id] = None
        for triple in passage.triples:
            pair = normalised_title(triple[0]), normalised_title(triple[2])
            described.setdefault(pair[0], " ".join(triple))
            if all(pair) and pair[0] != pair[1]:
                counts[pair] += 1
                told.setdefault(pair, " ".join(triple))

    ids = {key: stable_id(project_of(own), "entity", key) for key in titles}
    return replace(
        knowledge,
        entities=tuple(
            EntityRecord(ids[key], titles[key], described.get(key, ""), tuple(mentioned[key]))
            for key in sorted(titles)
        ),
        relations=tuple(
            RelationRecord(ids[a], ids[b], told[a, b], float(count))
            for (a, b), count in counts.items()
            if a in ids and b in ids
        ),
    )
