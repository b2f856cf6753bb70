"""A small exported folder, written as an export does, to change and to count anew."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from drift.local.exchange.folder import (
    EDGES,
    MANIFEST,
    NODES,
    FolderWriter,
    Manifest,
    vectors_among,
    vectors_file,
)
from drift.local.exchange.values import encode_all

FIRST = [0.25, 0.5]
EMBEDDING = vectors_file("embedding")
OWN = {
    "name": "Mira\u0000",
    "project_key": "JIRA-ABC",
    "generation": 9,
    "until": "Friday",
    "stamp": [1, 2],
    "means": [],
    "mean/x": [0.5],
    "meaning": [0.5],
    "mean": [0.25],
    "writer_until": 2**62,
    "staged_labels": ["__Project__"],
    "left_out_of": "p2",
    "restoring": True,
    "text": 7,
    "least": [math.inf, 1.0],
    "a`b": -(2**63),
}
NODE_ROWS: list[tuple[str, object, list[str], dict[str, Any]]] = [
    ("__Document__", "a.md", ["Document"], {"title": "A", "chunks": 1, "updated_at": 5}),
    ("__Document__", "off.md", [], {"is_off": True, "source": "/x"}),
    ("__Chunk__", "k1", ["__Node__", "Mine"], {"text": "alpha", "ordinal": 0, "embedding": FIRST}),
    ("__OffChunk__", "k2", [], {"text": "beta", "defines": ['["URL", "u", "t", "d"]']}),
    ("__Entity__", "e1", ["Tool"], {"generation": 3, "title": "Alpha", "title_key": "alpha"}),
    ("__Community__", 1, [], {"generation": 2, "until": 9, "level": 1, "embedding": FIRST}),
    ("__Community__", 2, [], {"level": 0, "mean": FIRST, "rank": 1.5}),
    ("__ModelReply__", "r", [], {"kind": "k", "model": "m", "parts": [], "text": "", "tokens": 3}),
    ("__DriftNode__", "mira", ["Ärztin`x"], OWN),
    ("__Node__", "mira", [], {"embedding_hash": "h", "embedding_model": "m"}),
]
EDGE_ROWS = [
    ("HAS_CHUNK", 0, 2, {"run": "x"}),
    ("HAS_CHUNK", 1, 3, {}),
    ("HAS_ENTITY", 2, 4, {}),
    ("RELATED", 4, 4, {"weight": 1.5, "description": "knows"}),
    ("IN_COMMUNITY", 2, 6, {}),
    ("IN_COMMUNITY", 6, 5, {}),
    ("NEXT_CHUNK", 2, 2, {"why": [True]}),
    ("RELATED", 8, 2, {"weight": "heavy"}),
]
PROJECT = {
    "generation": 3,
    "written_at": 1_700_000_000_000,
    "vectors_at": "milvus 3:5",
    "skipped": ['["f", "", "", "", "", "is empty"]'],
    "embedding_models": ["m"],
    "name": "of others",
}
Files = dict[str, Any]
Change = Callable[[Files], object]


@cache
def _whole() -> dict[str, bytes]:
    """Return the files of a folder with a node of every kind, as an export writes them."""
    manifest = Manifest(project_id="p", properties=PROJECT, versions=["v2 of m\n1 with 8 floats"])
    with TemporaryDirectory() as place, ExitStack() as stack:
        into = FolderWriter(Path(place), manifest, stack)
        for kind, key, labels, told in NODE_ROWS:
            name = {"__Community__": "community", "__ModelReply__": "key"}.get(kind, "id")
            vectors = vectors_among(kind, told)
            kept = {name: value for name, value in told.items() if name not in vectors}
            row = {"kind": kind, "key": key, "labels": [*labels, kind], "in_project": True}
            into.node({**row, "properties": encode_all(kept | {name: key})}, vectors)
        for type_, start, end, properties in EDGE_ROWS:
            ends = {"from": [*NODE_ROWS[start][:2]], "to": [*NODE_ROWS[end][:2]]}
            into.edge({"type": type_, **ends, "properties": encode_all(properties)})
        into.end()
        return {path.name: path.read_bytes() for path in Path(place).iterdir()}


def made(folder: Path, change: Change = bool) -> Path:
    """Write such a folder as somebody who has changed it, and counts and hashes it anew."""
    folder.mkdir(exist_ok=True)
    files: Files = {**_whole()}
    files |= {name: [*map(json.loads, files[name].splitlines())] for name in (NODES, EDGES)}
    files[MANIFEST] = json.loads(files[MANIFEST])
    change(files)
    for name in (NODES, EDGES):
        files[name] = b"".join(
            one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n"
            for one in files[name]
        )
    for name, content in files.items():
        hashes = files[MANIFEST].get("files")
        if isinstance(hashes, dict) and name in hashes:
            hashes[name] = hashlib.sha256(content).hexdigest()
        if name != MANIFEST:
            (folder / name).write_bytes(content)
    (folder / MANIFEST).write_text(json.dumps(files[MANIFEST]))
    return folder


def put(*steps: str | int, to: object) -> Change:
    """Return what gives a place in the files another value, or takes it out (KeyError)."""

    def change(files: Files) -> None:
        *above, name = steps
        place: Any = files
        for one in above:
            place = place[one]
        if to is KeyError:
            del place[name]
        else:
            place[name] = to

    return change
