"""The labels that a search of nodes looks at, each with the index that it asks.

People's own nodes have a label that no other program writes: what has it is ours to change and
to delete. An earlier release gave them `:__Node__`, as LlamaIndex does with all of its nodes: there
the hash of the embedded text tells ours from theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

PERSONAL = "__DriftNode__"
"""The label of people's own nodes, beside the one that they gave."""
EARLIER = "__Node__"
"""The label that an earlier release gave them."""

OF_INGESTION = "__Chunk__|__Entity__|__Community__|__Document__|__Project__"
"""Labels of what is never a node of people's own."""


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

    `searches` says that the server searches it inside a project by itself.
    """

    label: str
    index: str | None = None
    searches: bool = False
