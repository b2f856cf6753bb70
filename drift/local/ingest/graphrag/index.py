"""A GraphRAG index as our records, with a note on each kind of row that leads nowhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from drift.core.errors import IngestError
from drift.graph.writing.records import (
    IMPORTED,
    ChunkRecord,
    CommunityRecord,
    DocumentRecord,
    DocumentVersion,
    EntityRecord,
    RelationRecord,
)
from drift.indexing.documents import sha256
from drift.indexing.reading_process import Guard, guarded, words_of
from drift.local.ingest.files import printable
from drift.local.ingest.graphrag.hierarchy import heights_of, own_members
from drift.local.ingest.graphrag.placing import placed
from drift.local.ingest.graphrag.tables import Row, find_tables, read_table, require_keys
from drift.local.ingest.graphrag.vectors import Vectors, read_vectors

RULES = "graphrag 1"
"""How an index is read: what other rules made is written again."""
_NAMED = 3


@dataclass(slots=True)
class GraphRagIndex:
    """An index as records without vectors; `source` names it among a project's sources.

    `vectors` are those that it holds, by kind, and `texts` what they were made of, by kind and id.
    `reports` are the ids of the communities' reports. `notes` tell what of it is not in here.
    """

    source: str
    documents: tuple[DocumentRecord, ...]
    chunks: tuple[ChunkRecord, ...]
    entities: tuple[EntityRecord, ...]
    relations: tuple[RelationRecord, ...]
    communities: tuple[CommunityRecord, ...]
    vectors: Mapping[str, Vectors]
    texts: Mapping[str, Mapping[str, str]]
    reports: Mapping[int, str]
    notes: Mapping[str, str]


def read_index(folder: Path, guard: Guard = guarded) -> GraphRagIndex:
    """Return the index in a folder; each file of it is read under the guard.

    IngestError when it is none of GraphRAG 1 to 3, is empty, or contradicts itself.
    """
    try:
        files = find_tables(folder.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise IngestError(f"{printable(str(folder))} cannot be read: {words_of(error)}.") from error
    tables = {name: read_table(file, name, guard) for name, file in files.items()}
    place = files["documents"].parent
    vectors, not_read = read_vectors(place, guard)
    reader, digest = _TableReader(files, tables), _digest(place)
    source = f"{IMPORTED}{printable(str(place))}"
    documents = tuple(
        DocumentRecord(
            id_, title, source, DocumentVersion(sha256(f"{digest}{id_}".encode()), RULES)
        )
        for id_, title in reader.titles.items()
    )
    chunks, entities = tuple(reader.chunks()), tuple(reader.entities())
    relations, communities = tuple(reader.relations()), tuple(reader.communities())
    if not chunks:
        raise IngestError(f"{files['text_units']} holds no text of a document that is there.")

    for file in sorted(place.glob("*covariates.parquet")):
        reader.notes[file.name] = "claims are not read: no search here looks at them"
    reports = tables["community_reports"]
    texts = {
        "text_unit_text": {row["id"]: row["text"] for row in tables["text_units"] if row["text"]},
        "entity_description": {one.id: f"{one.title}:{one.description}" for one in entities},
        "community_full_content": {
            r["id"]: r["full_content"] for r in reports if r["full_content"]
        },
    }
    report_ids = {row["community"]: row["id"] for row in reports}
    graph = entities, relations, communities
    notes = reader.notes | not_read
    return GraphRagIndex(source, documents, chunks, *graph, vectors, texts, report_ids, notes)


def _digest(folder: Path) -> str:
    """Return a hash of all tables, and of the names of the files that vectors are in."""
    told = hashlib.sha256()
    for file in sorted(folder.glob("*.parquet")):
        with file.open("rb") as content:
            told.update(hashlib.file_digest(content, "sha256").digest())
    lance = sorted(file.relative_to(folder).as_posix() for file in folder.glob("lancedb/**/*"))
    told.update("\0".join(lance).encode(errors="surrogateescape"))
    return told.hexdigest()


@dataclass(slots=True)
class _TableReader:
    """Makes records of rows, each table after those that it refers to."""

    files: Mapping[str, Path]
    tables: Mapping[str, Sequence[Row]]
    notes: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(init=False)
    _chunks: set[str] = field(default_factory=set)
    _entities: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.titles = {row["id"]: _title(row) for row in self.tables["documents"]}

    def note(self, table: str, what: str, lost: Sequence[object]) -> None:
        """Name some of the rows left out of a table, and count them."""
        if lost:
            some = ", ".join(str(one)[:80] for one in lost[:_NAMED])
            said = f"{len(lost):,} {what}, such as {some}"
            file = self.files[table].name
            self.notes[file] = "; ".join(filter(None, (self.notes.get(file), said)))

    def chunks(self) -> Iterator[ChunkRecord]:
        """Yield the text units document by document, in the order in which they were cut."""
        unplaced: list[str] = []
        texts = {row["id"]: row["text"] or "" for row in self.tables["documents"]}
        for document, rows in self._units().items():
            found = placed((row["text"] for row in rows), texts[document])
            for ordinal, (row, (text, start)) in enumerate(zip(rows, found, strict=True)):
                end = None if start is None else start + len(text)
                yield ChunkRecord(row["id"], document, ordinal, "", text, start=start, end=end)
                unplaced += [row["id"]] if start is None else []
        self.note("text_units", "rows stand nowhere in their document's text", unplaced)

    def _units(self) -> dict[str, list[Row]]:
        """Return the rows by document, those that have one and say something new."""
        units: dict[str, list[Row]] = {id_: [] for id_ in self.titles}
        lost: list[str] = []
        said: dict[str, str] = {}
        for row in sorted(self.tables["text_units"], key=lambda row: row["human_readable_id"] or 0):
            named = [row["document_id"], *(row["document_ids"] or ())]
            document = next((one for one in named if one in units), None)
            is_new = bool((row["text"] or "").strip()) and said.get(row["id"]) != row["text"]
            if is_new and document is not None:
                units[document].append(row)
                said.setdefault(row["id"], row["text"])
            else:
                lost.append(row["id"])

        kept = [row["id"] for rows in units.values() for row in rows]
        require_keys(self.files["text_units"], "id", kept)
        self._chunks = set(kept)
        self.note("text_units", "rows have no text, no document or are there twice", lost)
        return units

    def entities(self) -> Iterator[EntityRecord]:
        """Yield the entities, with the chunks that name them."""
        lost: list[str] = []
        for row in self.tables["entities"]:
            named = dict.fromkeys(row["text_unit_ids"] or ())
            lost += (f"{row['title']} -> {one}" for one in named if one not in self._chunks)
            chunks = tuple(one for one in named if one in self._chunks)
            title = row["title"] or row["id"]
            self._entities.setdefault(title, row["id"])
            yield EntityRecord(
                row["id"], title, row["description"] or "", chunks, type=row["type"] or ""
            )
        self.note("entities", "times an entity names a text unit that is not there", lost)

    def relations(self) -> Iterator[RelationRecord]:
        """Yield the relations whose ends are there, each with its first chunk."""
        lost: list[str] = []
        for row in self.tables["relationships"]:
            named = row["source"], row["target"]
            ends = [self._entities[one] for one in named if one in self._entities]
            if len(ends) < len(named):
                lost.append(f"{row['source']} -> {row['target']}")
                continue
            chunks = (one for one in row["text_unit_ids"] or () if one in self._chunks)
            weight = 1.0 if row["weight"] is None else row["weight"]
            told = row["description"] or ""
            yield RelationRecord(ends[0], ends[1], told, weight, chunk_id=next(chunks, ""))
        self.note("relationships", "rows lead to no entity that is there, and are left out", lost)

    def communities(self) -> Iterator[CommunityRecord]:
        """Yield the communities: members stand in the lowest one that has them."""
        rows = {row["community"]: row for row in self.tables["communities"]}
        reports = {row["community"]: row for row in self.tables["community_reports"]}
        parents = _parents(rows)
        heights = heights_of(parents, str(self.files["communities"]))
        lost: list[str] = []
        known = {row["id"] for row in self.tables["entities"]}
        entities = _there(rows, "entity_ids", known, lost)
        chunks = _there(rows, "text_unit_ids", self._chunks, lost)
        self.note("communities", "times a community names a member that is not there", lost)
        strays = [key for key in reports if key not in rows]
        self.note("community_reports", "reports are of no community that is there", strays)
        told = {key: row for key, row in reports.items() if row["summary"]}
        bare = [key for key in rows if key not in told]
        self.note(
            "communities", "communities have no report with a summary, and are not shown", bare
        )
        own_entities = own_members(parents, heights, entities)
        own_chunks = own_members(parents, heights, chunks)
        for key, row in rows.items():
            title = (told[key]["title"] if key in told else None) or f"Community {key}"
            yield CommunityRecord(
                key,
                heights[key],
                parents[key],
                title,
                f"{title}\n{told[key]['summary']}" if key in told else "",
                own_entities[key],
                own_chunks[key],
                says=key in told,
                published_level=row["level"],
            )


def _parents(rows: Mapping[int, Row]) -> dict[int, int | None]:
    """Return the parent of each community, of an index that may name the children instead."""
    above = {key: row["parent"] for key, row in rows.items()}
    above |= {child: key for key, row in rows.items() for child in row["children"] or ()}
    return {key: None if above[key] is None or above[key] < 0 else above[key] for key in rows}


def _there(
    rows: Mapping[int, Row], column: str, known: Container[str], lost: list[str]
) -> dict[int, list[str]]:
    """Return the members of each community that are there; add the others to `lost`."""
    named = {key: row[column] or () for key, row in rows.items()}
    lost += (f"{key} -> {one}" for key, ids in named.items() for one in ids if one not in known)
    return {key: [one for one in ids if one in known] for key, ids in named.items()}


def _title(row: Row) -> str:
    if row["title"]:
        return str(row["title"])
    for told in (row["metadata"], row["raw_data"]):
        try:
            about = json.loads(told) if isinstance(told, str) else told
        except (ValueError, RecursionError):
            continue
        named = [about.get("file_name"), about.get("title")] if isinstance(about, dict) else []
        for name in named:
            if isinstance(name, str) and (title := name.replace("\0", "").strip()):
                return title.encode(errors="replace").decode()  # JSON may hold halves of letters
    return str(row["id"])
