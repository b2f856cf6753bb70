"""The labels that a search of nodes looks at, each with the index that it asks.

People's own nodes have a label that no other program writes: what has it is ours to change and
to delete. An earlier release gave them `:__Node__`, as LlamaIndex does with all of its nodes: there
the hash of the embedded text tells ours from theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

from drift.model.found_nodes import CHUNK, COMMUNITY, ENTITY
from drift.model.vectors import OWN

PERSONAL = "__DriftNode__"
"""The label of people's own nodes, beside the one that they gave."""
EARLIER = "__Node__"
"""The label that an earlier release gave them."""

OF_INGESTION = "__Chunk__|__Entity__|__Community__|__Document__|__Project__"
"""Labels of what is never a node of people's own."""

INGESTED = {"__Chunk__": CHUNK, "__Entity__": ENTITY, "__Community__": COMMUNITY}
"""What nodes of ingestion are called, by label."""
KINDS = INGESTED | {PERSONAL: OWN}
"""The kinds of what a store of vectors beside the graph has, by label."""
GIVEN = "$asked.hits"
"""In the place of an index: the ids of what such a store found, by kind, the best first."""


def key_of(label: str) -> str:
    """Return the property that tells the nodes of a label apart."""
    return "community" if label == "__Community__" else "id"


def of_earlier_release(n: str) -> str:
    """Return the condition that a node was made searchable by an earlier release of ours."""
    return f"""({n}:{EARLIER} AND NOT {n}:{PERSONAL}|Chunk|{OF_INGESTION}
    AND {n}.embedding_hash IS :: STRING NOT NULL AND {n}.embedding_model IS :: STRING NOT NULL
    AND {n}.project_id IS :: STRING NOT NULL AND {n}.id IS NOT NULL)"""


def is_personal(n: str) -> str:
    """Return the condition that a node is one of people's own."""
    return f"({n}:{PERSONAL} OR {of_earlier_release(n)})"


@dataclass(frozen=True, slots=True)
class Leg:
    """One label that is searched; without an index all nodes of the project are scored.

    `searches` says that the server searches it inside a project by itself, and `indexed` over which
    label the index is, where that is another one.
    """

    label: str
    index: str | None = None
    searches: bool = False
    indexed: str = ""
