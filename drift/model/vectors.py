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
    """A node with its vector: its `kind` and `label`, its id as text, and what was embedded."""

    project_id: str
    kind: str
    label: str
    node_id: str
    text: str
    vector: Sequence[float]

    @property
    def key(self) -> str:
        """What tells it from every other row of the store."""
        return hashed(self.project_id, self.kind, self.node_id)

    @cached_property
    def digest(self) -> str:
        """What changes with its vector, label or text."""
        packed = struct.pack(f"<{len(self.vector)}f", *self.vector)
        return hashed(packed.hex(), self.label, self.text)[:32]


def hashed(*parts: str) -> str:
    """Return 64 hexadecimal digits that tell these parts: no id can end a store's filter."""
    return hashlib.sha256("\x00".join(parts).encode(errors="surrogatepass")).hexdigest()
