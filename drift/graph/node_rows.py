"""What the rows of a search of nodes say; what is of a wrong type counts as missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from drift.graph.cypher.legs import INGESTED
from drift.graph.cypher.nearest import THRESHOLD
from drift.graph.rows import community_id, document_name, is_key, text_of
from drift.model.found_nodes import (
    ENTITY,
    MOST_CHARACTERS,
    FoundNode,
    FoundNodes,
    RelatedNode,
    ScoreThreshold,
)

Row = Mapping[str, Any]


def found_nodes(records: Sequence[Row], labels: Sequence[str]) -> FoundNodes:
    """Return the nodes that are there and have a key; one of several labels is called as asked."""
    shown = [
        record["row"] for record in records if record["is_there"] and is_key(record["row"]["id"])
    ]
    threshold = score_threshold(records[0]["threshold"]) if records else None
    return FoundNodes(tuple(_node(row, labels) for row in shown), threshold)


def _node(row: Row, labels: Sequence[str]) -> FoundNode:
    title = _title(row)
    return FoundNode(
        str(community_id(row["id"])),
        _type(row, labels),
        title,
        text_of(row["text"])[: MOST_CHARACTERS - len(title)],
        2 * row["similarity"] - 1,
        tuple(
            RelatedNode(
                str(community_id(one["id"])), _type(one, labels), _title(one), one["relation"]
            )
            for one in row["related"]
            if is_key(one["id"])
        ),
    )


def _type(row: Row, labels: Sequence[str]) -> str:
    """Return what a node is called: as ingestion calls it, else by a label of its own."""
    for label in row["labels"]:
        if label in INGESTED:
            return INGESTED[label]
    own = sorted(label for label in row["labels"] if not label.startswith("__"))
    return next((label for label in own if label in labels), own[0] if own else ENTITY)


def _title(row: Row) -> str:
    """Return the title or name; of a chunk its document and heading; without any the id."""
    if row["document"] is not None:
        name, heading = document_name(row["document"]), " ".join(text_of(row["heading"]).split())
        title = heading if heading.startswith(name) else f"{name}: {heading}".removesuffix(": ")
    else:
        title = " ".join(text_of(row["title"]).split()) or str(community_id(row["id"]))
    return title[:MOST_CHARACTERS] or "untitled"


def score_threshold(stored: Row | None) -> ScoreThreshold | None:
    """Return what was measured of the project; None where that is damaged."""
    if stored is None:
        return None

    score, texts = stored["score_threshold"], stored["score_threshold_texts"]
    dimensions, model = stored["score_threshold_dimensions"], stored["score_threshold_model"]
    if type(texts) is not int or type(dimensions) is not int:
        return None

    names = ("score_threshold", "score_floor", "score_unrelated")
    known, floor, unrelated = (
        value if isinstance(value, float) and math.isfinite(value) else None
        for value in map(stored.__getitem__, names)
    )
    written_at = stored["score_threshold_written_at"]
    if score != known or not isinstance(written_at, int | None):
        return None

    return ScoreThreshold(score, texts, dimensions, text_of(model), floor, unrelated, written_at)


def threshold_properties(threshold: ScoreThreshold) -> dict[str, Any]:
    """Return what stands at a project's node for it."""
    return {stored: getattr(threshold, name) for stored, name in THRESHOLD.items()}
