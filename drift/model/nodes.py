"""People's own nodes, as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from drift.model.graph import Vector

Taking = Literal["marked", "unmarked", "unowned"]
"""Which nodes are looked at: those marked as people's own, those of the project that are not marked
yet too, or those of no project as well."""

Properties = Mapping[
    str, str | bool | int | float | list[str] | list[bool] | list[int] | list[float]
]


@dataclass(frozen=True, slots=True)
class Embedded:
    """A vector, the model that made it, and the hash of that model with the text."""

    vector: Vector
    model: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class OwnNode:
    """A node of people's own: a label of theirs, and properties beside those that we keep."""

    id: str
    label: str
    properties: Properties


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A stored node: its label, and the hash of the text that its vector is of."""

    label: str
    text_hash: str = ""


@dataclass(frozen=True, slots=True)
class LabelledNode:
    """A node as it stands: the texts that are searched, and whose vector it has.

    `id` names it to people: its own, or the graph's where it has none. `is_known` tells whether it
    has all that a searchable node has, but for the vector, `is_foreign` whether another program
    made it.
    """

    element_id: str
    id: str
    texts: Mapping[str, object]
    is_known: bool
    has_vector: bool
    text_hash: str
    is_foreign: bool = False
