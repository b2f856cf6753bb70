"""Chunks with their vectors as rows of JSON lines or Parquet, a document's rows beside each other.

Whatever Spark, Ray or a warehouse has made is read here, a document at a time.
"""

from __future__ import annotations

import asyncio
import glob
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from importlib.util import find_spec
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import AfterValidator, Field, StringConstraints, ValidationError
from pydantic_core import from_json

from drift.contracts.body import Body, plain_text
from drift.contracts.documents import DocumentId, NewDocument
from drift.core.errors import IngestError
from drift.graph.vector_models import has_direction
from drift.graph.writing.records import (
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
)
from drift.indexing.links import addresses_in
from drift.indexing.records import chunk_id, embedding_of

MADE = "chunks:"
"""What the name of a source begins with whose chunks were made elsewhere."""
RULES = "made.1"
ENDINGS = (".jsonl", ".ndjson", ".json", ".parquet")
MOST_LINE_BYTES = 4_000_000
MOST_CHARACTERS = 32_000
MOST_CHUNKS = 10_000
"""Of one document: it is in memory as a whole."""
_ROWS_AT_ONCE = 500

_T = TypeVar("_T")
_Short = Annotated[str, StringConstraints(max_length=1000), AfterValidator(plain_text)]
_Text = StringConstraints(pattern=r"\S", max_length=MOST_CHARACTERS)
_Placed = tuple[str, "MadeChunk", NewDocument]


class MadeChunk(Body):
    """What a row says of its chunk; its other fields are those of `NewDocument`."""

    document: DocumentId
    text: Annotated[str, _Text, AfterValidator(plain_text)]
    embedding: list[float]
    id: _Short = ""
    heading: _Short = ""
    page: Annotated[int, Field(ge=1, le=2**53)] | None = None


@dataclass(slots=True)
class Checked:
    """What a first reading has found: the hash of each document by its id, and some chunks."""

    documents: dict[str, str] = field(default_factory=dict)
    chunks: int = 0
    has_ids: bool = False
    sample: list[ChunkRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MadeChunks:
    """The rows of a file, or of the files in a folder by their names, to go into this project.

    Their vectors are those of a `model`, of so many `dimensions`.
    """

    place: Path
    project_id: str
    model: str
    dimensions: int

    @property
    def source(self) -> str:
        """The name of the source that they are."""
        return f"{MADE}{self.place.resolve()}"

    async def check(self) -> Checked:
        """Read all of it; errors as for `documents`, and IngestError where it has no row."""
        checked, ids = Checked(), set[str]()
        async for one in in_a_thread(self.documents(self.project_id, ids)):
            (document,) = one.documents
            checked.documents[document.id] = document.version.content_hash
            checked.chunks += len(one.chunks)
            if len(checked.documents) <= SAMPLED:
                checked.sample.append(one.chunks[0])
        if not checked.documents:
            raise IngestError(f"{self.place} holds no chunk: nothing was written.")
        checked.has_ids = bool(ids)
        return checked

    def documents(self, namespace: str, ids: set[str] | None = None) -> Iterator[DocumentBatch]:
        """Yield each document with its chunks; those without an id are named in the namespace.

        `ids` takes those that rows give their chunks.

        Raises:
            IngestError: naming the file and the row that cannot be used.
        """
        seen, taken = set[str](), set[str]() if ids is None else ids
        for id_, rows in groupby(self._chunks(), key=lambda placed: placed[1].document):
            placed = self._limited(rows)
            if id_ in seen:
                problem = f"the rows of document {id_[:60]!r} do not stand beside each other"
                raise _unusable(placed[0][0], f"{problem}: sort them by `document`")
            seen.add(id_)
            for place, chunk, _ in placed:
                if chunk.id in taken:
                    raise _unusable(place, f"the id {chunk.id[:60]!r} stands in a row before it")
                taken |= {chunk.id} - {""}
            yield self._document(namespace, placed)

    @staticmethod
    def _limited(rows: Iterator[_Placed]) -> list[_Placed]:
        placed: list[_Placed] = []
        for row in rows:
            if len(placed) == MOST_CHUNKS:
                raise _unusable(row[0], f"a document has at most {MOST_CHUNKS:,} chunks")
            placed.append(row)
        return placed

    def _chunks(self) -> Iterator[_Placed]:
        """Yield each row with its place and what the first one says of its document."""
        about, told = None, {}
        for place, row in self._rows():
            try:
                said = {n: row[n] for n in row.keys() - MadeChunk.model_fields.keys()}
                chunk = MadeChunk.model_validate({n: row[n] for n in row.keys() - said.keys()})
                if about is None or about.id != chunk.document:
                    about, told = _about(chunk.document, said), said
                self._require(chunk, about, is_same=not said or said == told)
            except ValueError as error:
                raise _unusable(place, _in_words(error)) from None
            yield place, chunk, about

    def _require(self, chunk: MadeChunk, about: NewDocument, *, is_same: bool) -> None:
        if not is_same:
            raise ValueError("it says something else of its document than the first of its rows")
        if about.project_id not in {None, self.project_id}:
            raise ValueError(f"it is of project {about.project_id}, and not of {self.project_id}")
        if (length := len(chunk.embedding)) != self.dimensions:
            wanted = f"{self.dimensions:,} (VECTOR_INDEX_DIMENSIONS)"
            raise ValueError(f"its embedding has {length:,} floats, and not {wanted}")
        if not has_direction(tuple(chunk.embedding)):
            raise ValueError("its embedding is of zeros, or of numbers that 32 bits do not hold")

    def _document(self, namespace: str, placed: Sequence[_Placed]) -> DocumentBatch:
        about = placed[0][2]
        title, key = about.title or about.id, f"{MADE}{about.id}"
        digest = hashlib.sha256(f"{title}\x1f{about.source_uri}".encode())
        chunks: list[ChunkRecord] = []
        repeats: Counter[str] = Counter()
        for ordinal, (_, row, _) in enumerate(placed):
            vector = np.array(row.embedding, "<f4")
            digest.update(repr((row.id, row.heading, row.page, row.text)).encode())
            digest.update(vector.tobytes())
            repeats[row.text] += 1
            chunks.append(
                ChunkRecord(
                    row.id or chunk_id(namespace, key, repeats[row.text], row.text),
                    about.id,
                    ordinal,
                    row.heading or title,
                    row.text,
                    tuple(vector.tolist()),
                    page=row.page,
                    defines=addresses_in(row.text),
                )
            )
        given = about.said()
        model = embedding_of(self.model, self.dimensions)
        version = DocumentVersion(digest.hexdigest(), RULES, model, about.source_uri, given.digest)
        record = DocumentRecord(about.id, title, self.source, version, given.updated_at, key)
        return DocumentBatch((replace(record, attributes=given),), tuple(chunks))

    # ---------------------------------------------------------------------------------------- files
    def _rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for path in self._files():
            try:
                yield from _of_parquet(path) if path.suffix == ".parquet" else _of_lines(path)
            except OSError as error:
                raise IngestError(f"{path} cannot be read: {error.strerror or error}.") from None

    def _files(self) -> list[Path]:
        files = sorted(self.place.iterdir()) if self.place.is_dir() else [self.place]
        files = [one for one in files if one.suffix in ENDINGS and one.is_file()]
        if not files:
            raise IngestError(
                f"{self.place} is no file of chunks, nor a folder of such: its name has to end in "
                f"{', '.join(ENDINGS)}."
            )
        if find_spec("duckdb") is None and any(one.suffix == ".parquet" for one in files):
            raise IngestError(
                "Nothing was read: Parquet needs `pip install 'drift-neo4j[graphrag]'`, JSON lines "
                "need nothing."
            )
        return files


SAMPLED = 8
"""Documents of whose first chunk the vector is compared with one of the configured model."""


async def in_a_thread(items: Iterator[_T]) -> AsyncIterator[_T]:
    """Yield the items, each made in a thread, so that the loop goes on."""
    while (one := await asyncio.to_thread(next, items, None)) is not None:
        yield one


def _of_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open("rb") as file:
        for number, line in enumerate(iter(partial(file.readline, MOST_LINE_BYTES), b""), 1):
            place = f"{path}, line {number:,}"
            if len(line) == MOST_LINE_BYTES:
                raise _unusable(place, f"it is longer than {MOST_LINE_BYTES:,} bytes")
            if not line.strip():
                continue
            try:
                row = from_json(line, allow_inf_nan=False, cache_strings="keys")
            except ValueError as error:
                raise _unusable(place, f"it is no JSON, or was cut ({error})") from None
            if not isinstance(row, dict):
                raise _unusable(place, "it has to be an object")
            yield place, _known(row)


def _of_parquet(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    import duckdb  # noqa: PLC0415 - an extra

    text = "SELECT * FROM read_parquet(?, hive_partitioning = false)"
    number = 0
    try:
        with duckdb.connect(config={"threads": 1, "memory_limit": "1GB"}) as database:
            read = database.execute(text, [glob.escape(str(path))])
            names = list(map(itemgetter(0), read.description or ()))
            while rows := read.fetchmany(_ROWS_AT_ONCE):
                for row in rows:
                    number += 1
                    yield f"{path}, row {number:,}", _known(dict(zip(names, row, strict=True)))
    except duckdb.Error as error:
        why = str(error).partition("\n")[0]
        raise IngestError(f"{path} cannot be read after row {number:,}: {why}") from None


def _about(id_: str, said: Mapping[str, Any]) -> NewDocument:
    return NewDocument.model_validate({**said, "id": id_, "text": "-"})


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row says: a table has a column also where nothing is said, and times."""
    told = {n: v.isoformat() if isinstance(v, date) else v for n, v in row.items() if v is not None}
    if isinstance(held := told.get("metadata"), dict):
        told["metadata"] = {name: value for name, value in held.items() if value is not None}
    return told


def _unusable(place: str, problem: str) -> IngestError:
    return IngestError(f"{place}: {problem}. Nothing of this file was taken.")


def _in_words(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    named = ".".join(map(str, first["loc"]))[:60]
    return f"`{named}`: {first['msg'].removeprefix('Value error, ')[:200]}"
