"""Vectors that GraphRAG has made: read where they stand, and taken where our model made them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from drift.core.errors import IngestError
from drift.graph.writing.rows import parts
from drift.indexing.reading_process import Guard, guarded
from drift.local.ingest.graphrag.cells import text
from drift.local.ingest.graphrag.tables import column_types, done, is_list, query
from drift.local.ingest.topics import cosines
from drift.local.say import Say
from drift.model.graph import Vector
from drift.nodes.embedding_calls import EmbeddingCalls

KINDS = ("text_unit_text", "entity_description", "community_full_content")
"""What GraphRAG embeds, by the names of its tables of vectors."""
SAMPLED = 8
SAME_TEXT = 0.9
"""Of so many texts our vector has to be as near as this, as a cosine, to the one that is there."""
_ROWS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of one length by what they are of, and the file that they stand in."""

    place: str
    rows: Mapping[str, int] = field(default_factory=dict)
    values: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))

    def of(self, key: str) -> Vector | None:
        """Return the vector of a thing by its id, if there is one."""
        row = self.rows.get(key)
        return None if row is None else tuple(self.values[row].tolist())


def read_vectors(folder: Path, guard: Guard = guarded) -> tuple[dict[str, Vectors], dict[str, str]]:
    """Return the vectors of each kind that stand beside the tables, and a note on others.

    IngestError when they cannot be read, or are of several lengths.
    """
    found: dict[str, Path] = {}
    for file in (*sorted(folder.glob("lancedb/*.lance")), *sorted(folder.glob("*.parquet"))):
        name = file.name.rpartition(".")[0].replace("-", "_").replace(".", "_")
        found |= {kind: file for kind in KINDS if name.endswith(kind)}

    notes: dict[str, str] = {}
    lance = {kind: file for kind, file in found.items() if file.suffix == ".lance"}
    if lance and find_spec("lancedb") is None:
        found = {kind: file for kind, file in found.items() if kind not in lance}
        notes["lancedb"] = "its vectors are made anew: without `pip install lancedb` none is read"

    read = {kind: done(guard, file, partial(_vectors_in, file)) for kind, file in found.items()}
    for told in read.values():
        if isinstance(told, str):
            raise IngestError(told)
    return {kind: told for kind, told in read.items() if isinstance(told, Vectors)}, notes


def _vectors_in(file: Path) -> Vectors | str:
    if file.suffix == ".lance":
        rows = _of_lance(file)
    else:
        types = column_types(file)
        own = next((name for name in ("embedding", "vector") if name in types), None)
        if "id" not in types or own is None:
            return f"{file} has no columns id and embedding: it has {', '.join(types)}."
        if not is_list(types[own]):
            return f"{file}: the column {own} is {types[own][:60]}, and not lists of numbers."
        rows = query(f'SELECT id, "{own}" FROM read_parquet(?)', file)  # noqa: S608 - ours

    ids: list[str] = []
    kept: list[npt.NDArray[np.float32]] = []
    lengths: set[int] = set()
    for some in parts(rows, _ROWS_AT_ONCE):
        part = [(key, vector) for key, vector in some if vector]
        lengths |= {len(vector) for _, vector in part}
        if len(lengths) > 1:
            told = " and ".join(f"{length:,}" for length in sorted(lengths))
            return f"{file} has vectors of {told} floats: no search can compare them."
        with np.errstate(over="ignore"):  # what is beyond 32 bits is infinite, and not usable
            listed = [[math.nan if x is None else x for x in vector] for _, vector in part]
            values = np.array(listed, np.float64).astype(np.float32).reshape(len(part), -1)
        usable = np.isfinite(values).all(axis=1) & values.any(axis=1)
        named = ((text(key) or "") for key, _ in part)
        ids += [key for key, is_usable in zip(named, usable, strict=True) if is_usable]
        kept.append(values[usable])

    if not ids:
        return Vectors(str(file))
    return Vectors(str(file), {key: row for row, key in enumerate(ids)}, np.concatenate(kept))


def _of_lance(folder: Path) -> list[tuple[Any, Any]]:
    table = import_module("lancedb").connect(str(folder.parent)).open_table(folder.stem)
    own = "vector" if "vector" in table.schema.names else "embedding"
    read = table.to_arrow().select(["id", own])
    return list(zip(read["id"].to_pylist(), read[own].to_pylist(), strict=True))


async def fitting(
    stored: Vectors | None, texts: Mapping[str, str], calls: EmbeddingCalls, say: Say
) -> Vectors:
    """Return the vectors if our model made them, of these texts; else none, and say so.

    GraphRAG writes down nowhere which model that was. So some texts, the shortest ones, are
    embedded and compared.
    """
    if stored is None or not stored.rows:
        return Vectors("")

    own, length = stored.values.shape[1], calls.dimensions
    if own != length:
        say(f"{stored.place}: its vectors have {own:,} floats and not {length:,}: made anew.")
        return Vectors("")

    known = (text for text in texts.items() if text[0] in stored.rows)
    sampled = sorted(known, key=lambda text: len(text[1]))[:SAMPLED]
    made = (await calls.embed([text for _, text in sampled])).vectors
    pairs = zip((stored.of(key) or () for key, _ in sampled), made, strict=True)
    nearest = [float(cosines([there], [ours])[0]) for there, ours in pairs]
    if not nearest or min(nearest) < SAME_TEXT:
        say(f"{stored.place}: its vectors are another model's: made anew.")
        return Vectors("")
    return stored
