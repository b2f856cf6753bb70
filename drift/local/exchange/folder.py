"""A project in a folder: what it says of itself, and how its lines and vectors are written.

`project.json` is the manifest. `nodes.jsonl` has a node a line, `edges.jsonl` an edge. Vectors
stand in `vectors-PROPERTY.f32`, floats of 32 bits, little end first, in the order of the nodes.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from drift import __version__
from drift.core.errors import IngestError
from drift.local.exchange.values import line
from drift.local.ingest.topics import Points

VERSION = 1
MANIFEST, NODES, EDGES = "project.json", "nodes.jsonl", "edges.jsonl"
_VECTOR = re.compile(r"embedding(_[a-z0-9][a-z0-9_]*)?")
_MEAN = re.compile(r"mean(_[a-z0-9][a-z0-9_]*)?")

Row = dict[str, Any]
_Count = Annotated[int, Field(ge=0, le=2**53)]
# An earlier release wrote every list of floats of a name that begins so as a vector.
_VectorName = Annotated[str, Field(pattern=r"^(embedding|mean)[^/\x00]{0,243}$")]
_Length = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,5})$")]
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Version = Annotated[str, Field(pattern=r"(?s)^\w[\w.:/@+-]{0,99} of .* with [0-9]+ floats$")]


class Manifest(BaseModel):
    """The manifest of a folder.

    Nodes are counted by kind, edges by type, and vectors by property and length. `left_out` counts
    edges to what is not of the project. `files` are SHA-256, in hex, by name. `versions` are the
    vectors beside the first ones.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    version: int = VERSION
    drift: str = __version__
    project_id: str
    properties: Row
    nodes: dict[str, _Count] = Field(default_factory=Counter)
    edges: dict[str, _Count] = Field(default_factory=Counter)
    vectors: dict[_VectorName, dict[_Length, _Count]] = Field(default_factory=dict)
    left_out: _Count = 0
    files: dict[str, _Digest] = Field(default_factory=dict)
    versions: list[_Version] = Field(default_factory=list)


def vectors_among(kind: str, properties: Row) -> dict[str, Points]:
    """Return the vectors of a node as floats of 32 bits, but those that would lose something."""
    return {
        name: floats
        for name, value in properties.items()
        if (_VECTOR.fullmatch(name) or (kind == "__Community__" and _MEAN.fullmatch(name)))
        and isinstance(value, list)
        and value
        and all(type(one) is float and math.isfinite(one) for one in value)
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
            self._write(vectors_file(name), floats.tobytes())
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


def vectors_file(name: str) -> str:
    """Return the name of the file of a property's vectors."""
    return f"vectors-{name}.f32"
