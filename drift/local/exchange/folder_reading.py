"""An exported folder as it is read: all of it is checked before anything of it is written."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from pydantic import ValidationError

from drift.contracts.request import project_id_problem
from drift.core.errors import IngestError
from drift.graph.cypher.clauses import FORMAT
from drift.graph.writing.clauses import OFF
from drift.local.exchange.folder import EDGES, MANIFEST, NODES, VERSION, Manifest, Row, vectors_file
from drift.local.exchange.rules import (
    MOST_KEY_BYTES,
    require_edge,
    require_node,
    require_project,
)
from drift.local.exchange.values import decode_all

_NODE = {"kind", "key", "labels", "in_project", "properties", "vectors"}
_EDGE = {"type", "from", "to", "properties"}
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class ExportedFolder:
    """A folder whose files are those that its manifest tells of, to become a project of this id."""

    place: Path
    manifest: Manifest
    properties: Row
    project_id: str

    def nodes(self, look: Callable[[Row], None] | None = None) -> Iterator[Row]:
        """Yield the nodes as they were written, `vectors` as rows of `name` and `floats`.

        `look` may raise ValueError for one.

        Raises:
            IngestError: naming a line that no export writes.
        """
        with ExitStack() as stack:
            files = {
                name: stack.enter_context((self.place / vectors_file(name)).open("rb"))
                for name in self.manifest.vectors
            }
            checked = partial(self._node, files)
            yield from _lines(self.place / NODES, _NODE, checked, look)

    def edges(self, look: Callable[[Row], None] | None = None) -> Iterator[Row]:
        """Yield the edges as they were written; `look` and errors as for `nodes`."""
        return _lines(self.place / EDGES, _EDGE, _edge, look)

    def check(self) -> None:
        """Read all of it; IngestError for what no export writes, with its file and line."""
        found = _ReadSoFar()
        for _ in self.nodes(found.node):
            pass
        for _ in self.edges(found.edge):
            pass
        if problem := found.problem(self.manifest):
            raise IngestError(f"{self.place} is none that an export writes: {problem}.")

    def _node(self, files: Mapping[str, BinaryIO], row: Row) -> Row:
        generation = self.properties.get("generation", 0)
        room = MOST_KEY_BYTES - len(self.project_id.encode())
        require_node(row, generation, room)
        if type(row["vectors"]) is not dict:
            raise ValueError("`vectors` has to be an object")

        vectors, empty = [], {}
        for name, length in row["vectors"].items():
            lengths = self.manifest.vectors.get(name, {})
            if type(length) is not int or str(length) not in lengths or name in row["properties"]:
                raise ValueError(f"{name[:60]!r} is no vector that {MANIFEST} counts")
            floats = np.frombuffer(files[name].read(4 * length), "<f4")
            if len(floats) < length or not np.isfinite(floats).all():
                raise ValueError(f"its {name[:60]!r} holds what is no number")
            if length:
                vectors.append({"name": name, "floats": floats.tolist()})
            else:  # as an earlier release wrote a list of nothing
                empty[name] = list[float]()
        lengths_of = Counter((n, str(length)) for n, length in row["vectors"].items())
        properties = row["properties"] | empty
        return row | {"properties": properties, "vectors": vectors, "lengths": lengths_of}


@dataclass(slots=True)
class _ReadSoFar:
    """The rows of a folder that were read so far, to compare later ones with."""

    nodes: set[tuple[str, object]] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    lengths: Counter[tuple[str, str]] = field(default_factory=Counter)
    documents_off: set[object] = field(default_factory=set)
    chunks_off: set[object] = field(default_factory=set)
    above: dict[object, set[object]] = field(default_factory=dict)

    def node(self, row: Row) -> None:
        kind, key = row["kind"], row["key"]
        if (kind, key) in self.nodes:
            raise ValueError("a line before it has the same kind and key")
        self.nodes.add((kind, key))
        self.kinds[kind] += 1
        self.lengths += row["lengths"]
        if kind == "__Document__" and row["properties"].get("is_off"):
            self.documents_off.add(key)
        if kind == OFF:
            self.chunks_off.add(key)

    def edge(self, row: Row) -> None:
        self.types[row["type"]] += 1
        (start, source), (end, target) = row["from"], row["to"]
        for one in ((start, source), (end, target)):
            if one not in self.nodes:
                raise ValueError(f"{NODES} has no node {one[0][:60]!r} {str(one[1])[:60]!r}")
        if row["type"] == "HAS_CHUNK" and end == OFF and source in self.documents_off:
            self.chunks_off.discard(target)
        if row["type"] == "IN_COMMUNITY" and start == end == "__Community__":
            self.above.setdefault(source, set()).add(target)

    def problem(self, manifest: Manifest) -> str:
        """Return the fault of all rows together; nothing when there is none."""
        lengths = {
            (name, length): number
            for name, of_length in manifest.vectors.items()
            for length, number in of_length.items()
        }
        counts = (self.kinds, self.types, self.lengths)
        if counts != (manifest.nodes, manifest.edges, lengths):
            return f"it holds other numbers of nodes, edges or vectors than {MANIFEST} counts"
        if self.chunks_off:
            some = str(min(self.chunks_off, key=str))[:60]
            return f"{OFF} {some!r} is of no document that is off"
        try:
            TopologicalSorter(self.above).prepare()
        except CycleError as error:
            return f"community {str(error.args[1][0])[:60]!r} is in itself, by those above it"
        return ""


def read_manifest(folder: Path, project_id: str | None = None) -> ExportedFolder:
    """Return a folder once all of its files are what it says of them; lines are not read.

    Without an id the project has the one that it had.

    Raises:
        IngestError: naming what is missing, of another version, or damaged; or an id that cannot
            be used.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise IngestError(f"{folder} holds no exported project: there is no {MANIFEST} in it.")
    try:
        told = json.loads(path.read_bytes())
        version = told["version"]
        if type(version) is int and version != VERSION:
            raise IngestError(
                f"{path} is of version {str(version)[:20]}, and this release reads version "
                f"{VERSION}: restore it with the release that wrote it."
            )
        manifest = Manifest.model_validate(told)
        properties = decode_all(manifest.properties)
        require_project(properties)
        if (number := properties.get("format", FORMAT)) > FORMAT:
            raise IngestError(
                f"{path} is of a project of format {number}, and this release writes formats up to "
                f"{FORMAT}: restore it with a newer release."
            )
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        why = _in_words(error)
        raise IngestError(f"{path} is no manifest of an export, or was changed: {why}.") from None

    project_id = manifest.project_id if project_id is None else project_id
    if problem := project_id_problem(project_id):
        raise IngestError(f"The project's id cannot be used: {problem}.")
    _check_files(folder, manifest)
    return ExportedFolder(folder, manifest, properties, project_id)


def _check_files(folder: Path, manifest: Manifest) -> None:
    """Compare the files with their hashes, and with the counts of the manifest."""
    lines = {NODES: sum(manifest.nodes.values()), EDGES: sum(manifest.edges.values())}
    sizes = {
        vectors_file(name): 4 * sum(int(length) * rows for length, rows in of_length.items())
        for name, of_length in manifest.vectors.items()
    }
    if manifest.files.keys() != {*lines, *sizes}:
        raise IngestError(f"{folder / MANIFEST} names other files than it counts: it was changed.")

    for name, wanted in manifest.files.items():
        path, read, ends = folder / name, 0, 0
        if not path.is_file():
            raise IngestError(f"{path} is missing: the export is not whole.")
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(1024 * 1024):
                digest.update(block)
                read, ends = read + len(block), ends + block.count(b"\n")
        if digest.hexdigest() != wanted:
            raise IngestError(f"{path} is damaged: its SHA-256 is another one than {MANIFEST}'s.")
        if (lines.get(name, ends), sizes.get(name, read)) != (ends, read):
            raise IngestError(f"{path} holds another number of rows than {MANIFEST} counts.")


def _edge(row: Row) -> Row:
    for name in ("from", "to"):
        end = row[name]
        is_end = isinstance(end, list) and len(end) == 2 and isinstance(end[0], str)  # noqa: PLR2004
        if not is_end or type(end[1]) not in {str, int, float}:
            raise ValueError(f"`{name}` has to be a kind and a key")
    require_edge(row)
    return row


def _lines(
    path: Path,
    fields: set[str],
    checked: Callable[[Row], Row],
    look: Callable[[Row], None] | None,
) -> Iterator[Row]:
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            try:
                row = checked(_row(text, fields))
                if look is not None:
                    look(row)
            except (ValueError, RecursionError) as error:
                raise IngestError(
                    f"Line {number} of {path} is none that an export writes: {_in_words(error)}."
                ) from None
            yield row


def _row(text: bytes, fields: set[str]) -> Row:
    row: Any = json.loads(text.decode())
    if not isinstance(row, dict) or row.keys() != fields:
        raise ValueError(f"it has to be an object of {', '.join(sorted(fields))}")
    if type(row["properties"]) is not dict:
        raise ValueError("`properties` has to be an object")
    return {**row, "properties": decode_all(row["properties"])}


def _in_words(error: Exception) -> str:
    match error:
        case ValidationError():
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            return f"{place[:60]!r}: {first['msg'].lower()}"[:_SHOWN]
        case RecursionError():
            return "it is nested too deeply"
        case KeyError() | TypeError():
            return "it names no version"
        case _:
            return str(error)[:_SHOWN]
