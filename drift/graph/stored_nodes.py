"""People's own nodes and their vectors, as properties and rows."""

from __future__ import annotations

import uuid
from typing import Any

from drift.auth.caller import Project
from drift.graph.versions import FIRST, VectorVersion
from drift.model.nodes import Embedded, LabelledNode, OwnNode


def stored_properties(
    project: Project, node: OwnNode, embedded: Embedded | None, version: VectorVersion
) -> dict[str, Any]:
    """Return all properties that the node has in the graph, but for its time."""
    stored = {**node.properties, "id": node.id, "project_id": project.id}
    return stored | vector_properties(embedded, version) if embedded else stored


def vector_properties(embedded: Embedded | None, version: VectorVersion) -> dict[str, Any]:
    """Return the properties of a vector; without one they are null."""
    stored: dict[str, Any] = {
        version.vector: list(embedded.vector) if embedded else None,
        version.named("embedding_hash"): embedded.text_hash if embedded else None,
    }
    if version == FIRST:
        stored["embedding_model"] = embedded.model if embedded else None
    return stored


def labelled_row(
    node: LabelledNode, embedded: Embedded | None, version: VectorVersion
) -> dict[str, Any]:
    """Return the row of a node that has a label of people's own, and no id of ours yet."""
    return {
        "element_id": node.element_id,
        "texts": dict(node.texts),
        "new_id": str(uuid.uuid4()),
        "embedded": vector_properties(embedded, version),
    }
