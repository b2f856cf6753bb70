"""Vectors as a store beside the graph holds them."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

OWN = "own"
"""The kind of people's own nodes, beside those of `found_nodes.OF_INGESTION`."""


@dataclass(frozen=True)
class VectorRow:
    """A node with its vector: its `kind` and `label`, its id as text, and the embedded text."""

    project_id: str
    kind: str
    label: str
    node_id: str
    text: str
    vector: Sequence[float]

    @property
    def key(self) -> str:
        """The key of the row in the store."""
        return hashed(self.project_id, self.kind, self.node_id)

    @cached_property
    def digest(self) -> str:
        """A hash of its vector, label and text."""
        packed = struct.pack(f"<{len(self.vector)}f", *self.vector)
        return hashed(packed.hex(), self.label, self.text)[:32]


def hashed(*parts: str) -> str:
    """Return a SHA-256 hash of these parts, in which no id can end a store's filter."""
    return hashlib.sha256("\x00".join(parts).encode(errors="surrogatepass")).hexdigest()
