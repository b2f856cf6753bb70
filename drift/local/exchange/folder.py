"""A project in a folder: what it says of itself, its lines and vectors, written and checked.

`project.json` is the manifest. `nodes.jsonl` has a node a line, `edges.jsonl` an edge. Vectors
stand in `vectors-PROPERTY.f32`, floats of 32 bits, little end first, in the order of the nodes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from drift import __version__
from drift.core.errors import IngestError
from drift.local.exchange.values import decode_all, line
from drift.local.ingest.topics import Points

VERSION = 1
MANIFEST, NODES, EDGES = "project.json", "nodes.jsonl", "edges.jsonl"
_NODE = {"kind", "key", "labels", "in_project", "properties", "vectors"}
_EDGE = {"type", "from", "to", "properties"}

Row = dict[str, Any]


class Manifest(BaseModel):
    """What a folder says of itself.

    Nodes are counted by kind, edges by type, and vectors by property and length. `left_out` counts
    edges to what is not of the project. `files` are SHA-256, in hex, by name. `versions` are the
    vectors beside the first ones.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    version: int = VERSION
    drift: str = __version__
    project_id: str
    properties: Row
    nodes: dict[str, int] = Field(default_factory=Counter)
    edges: dict[str, int] = Field(default_factory=Counter)
    vectors: dict[str, dict[str, int]] = Field(default_factory=dict)
    left_out: int = 0
    files: dict[str, str] = Field(default_factory=dict)
    versions: list[str] = Field(default_factory=list)


def vectors_among(properties: Row) -> dict[str, Points]:
    """Return the vectors of a node as floats of 32 bits, but those that would lose something."""
    return {
        name: floats
        for name, value in properties.items()
        if name.startswith(("embedding", "mean"))
        and isinstance(value, list)
        and all(type(one) is float for one in value)
        and (floats := _floats(value)).tolist() == value
    }


def _floats(value: list[float]) -> Points:
    with np.errstate(over="ignore"):
        return np.array(value).astype("<f4")


@contextmanager
def made_whole(folder: Path) -> Iterator[Path]:
    """Give a folder beside this one, which gets its name when the block is done.

    Raises:
        IngestError: the name is taken, or there is no place for it, or no room.
    """
    if os.path.lexists(folder) or not folder.parent.is_dir():
        raise IngestError(f"{folder} has to be a new folder, in one that is there.")

    beside = Path(tempfile.mkdtemp(prefix=".export-", dir=folder.parent))
    try:
        yield beside
        beside.rename(folder)
    except OSError as error:
        raise IngestError(
            f"{folder} cannot be written ({error.strerror or error}): nothing is left of it."
        ) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


class FolderWriter:
    """Writes the files of one folder, and counts in the manifest what it writes."""

    def __init__(self, folder: Path, manifest: Manifest, stack: ExitStack) -> None:
        """Write into the folder; the stack closes the files."""
        self.manifest = manifest
        self._folder = folder
        self._stack = stack
        self._files: dict[str, tuple[BinaryIO, Any]] = {}
        for name in (NODES, EDGES):
            self._write(name, b"")

    def node(self, row: Row, vectors: Mapping[str, Points]) -> None:
        """Write a node with its vectors."""
        lengths = {name: len(floats) for name, floats in vectors.items()}
        self._write(NODES, line({**row, "vectors": lengths}))
        self.manifest.nodes[row["kind"]] += 1
        for name, floats in vectors.items():
            self._write(_vectors_file(name), floats.tobytes())
            self.manifest.vectors.setdefault(name, Counter())[str(len(floats))] += 1

    def edge(self, row: Row) -> None:
        """Write an edge."""
        self._write(EDGES, line(row))
        self.manifest.edges[row["type"]] += 1

    def end(self) -> None:
        """Have all files on the disk, the manifest last."""
        self.manifest.files = {name: told.hexdigest() for name, (_, told) in self._files.items()}
        self._write(MANIFEST, self.manifest.model_dump_json(indent=2).encode())
        for file, _ in self._files.values():
            file.flush()
            os.fsync(file.fileno())

    def _write(self, name: str, content: bytes) -> None:
        if name not in self._files:
            opened = self._stack.enter_context((self._folder / name).open("wb"))
            self._files[name] = opened, hashlib.sha256()
        file, digest = self._files[name]
        file.write(content)
        digest.update(content)


# ------------------------------------------------------------------------------------------ reading
def read_manifest(folder: Path) -> Manifest:
    """Return what a folder says of itself, once all of its files are what it says.

    Raises:
        IngestError: naming what is missing, of another version, or damaged.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise IngestError(f"{folder} holds no exported project: there is no {MANIFEST} in it.")
    try:
        told = json.loads(path.read_bytes())
        version = told["version"]
        manifest = Manifest.model_validate(told) if version == VERSION else None
    except (ValueError, TypeError, LookupError) as error:
        raise IngestError(f"{path} is no manifest of an export, or was changed.") from error

    if manifest is None:
        raise IngestError(
            f"{path} is of version {version}, and this release reads version {VERSION}: restore it "
            f"with the release that wrote it."
        )
    _check(folder, manifest)
    return manifest


def _check(folder: Path, manifest: Manifest) -> None:
    """Compare the files with their hashes, and with what the manifest counts."""
    lines = {NODES: sum(manifest.nodes.values()), EDGES: sum(manifest.edges.values())}
    sizes = {
        _vectors_file(name): 4 * sum(int(length) * rows for length, rows in of_length.items())
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


def read_nodes(folder: Path, manifest: Manifest) -> Iterator[Row]:
    """Yield the nodes as they were written, `vectors` as rows of `name` and `floats`.

    Raises:
        IngestError: naming a line that cannot be read.
    """
    with ExitStack() as stack:
        files = {
            name: stack.enter_context((folder / _vectors_file(name)).open("rb"))
            for name in manifest.vectors
        }
        for row in _lines(folder / NODES, _NODE):
            read = {n: files[n].read(4 * length) for n, length in row["vectors"].items()}
            yield row | {
                "vectors": [
                    {"name": name, "floats": np.frombuffer(floats, "<f4").tolist()}
                    for name, floats in read.items()
                ]
            }


def read_edges(folder: Path) -> Iterator[Row]:
    """Yield the edges as they were written; errors as for `read_nodes`."""
    return _lines(folder / EDGES, _EDGE)


def _lines(path: Path, fields: set[str]) -> Iterator[Row]:
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            try:
                read = json.loads(text)
                row = {name: read[name] for name in fields}
                row["properties"] = decode_all(row["properties"])
            except (ValueError, TypeError, LookupError, AttributeError) as error:
                raise IngestError(f"Line {number} of {path} cannot be read.") from error
            yield row


def _vectors_file(name: str) -> str:
    return f"vectors-{name}.f32"
