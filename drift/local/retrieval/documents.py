"""Whole documents that are near to a question: by their vectors, and where those tie by words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from drift.answer.references import label_of
from drift.answer.signals import similarity
from drift.contracts.evidence import PassageOut
from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError, NotFoundError
from drift.graph.careful import CarefulReads
from drift.graph.connection import Connection
from drift.graph.cypher.legs import Leg
from drift.graph.cypher.schema import DEFAULT, FIRST_VECTOR
from drift.graph.indexes import IndexNames, WantedIndex, find_index
from drift.graph.inventory import Inventory, Probe
from drift.graph.node_rows import score_threshold
from drift.graph.parameters import BOUNDS, StatementParameters
from drift.graph.rows import chunks_of
from drift.graph.text_query import lucene
from drift.graph.vector_models import require_direction, require_model_of_project
from drift.graph.versions import OwnVectors
from drift.local.prompt_builder import Document
from drift.local.retrieval.document_search import nearest_documents
from drift.model.found_nodes import ScoreThreshold
from drift.model.graph import Vector
from drift.model.tree import Citation
from drift.search.evidence import falling

_WORDED_CHUNKS = 500
"""Chunks of which the words are weighed; of documents without one of these they weigh nothing."""


@dataclass(frozen=True, slots=True)
class FoundDocument(Document):
    """A document that was found, as `prompt_builder.build` takes it.

    `path` is its id and `cosine` that of its vector and the question's, -1 to 1, None where it is
    none of the nearest by that. `confidence` (0 to 1) is a share of a perfect match, as the `match`
    of a reference is. `content` is the text of its best chunk, and `label` says where that stands:
    `path:first-last`, a page or a heading.
    """

    path: str
    title: str
    cosine: float | None


def by_best_passage(
    documents: Sequence[FoundDocument], passages: Sequence[PassageOut]
) -> list[FoundDocument]:
    """Return the documents of the passages in their order, each with its best one.

    Those without a passage follow as they came. No confidence rises with the rank.
    """
    known = {one.path: one for one in documents}
    best: dict[str, FoundDocument] = {}
    for one in passages:
        path = one.document_id
        cosine = known[path].cosine if path in known else None
        shown = FoundDocument(one.label, one.text, one.score, path, one.document_name, cosine)
        best.setdefault(path, shown)

    ordered = [*best.values(), *(one for one in documents if one.path not in best)]
    told = falling([one.confidence for one in ordered])
    return [replace(one, confidence=score) for one, score in zip(ordered, told, strict=True)]


@dataclass(frozen=True, slots=True)
class DocumentFinder:
    """Finds documents over a connection, by questions of this model; building it opens nothing."""

    connection: Connection
    names: IndexNames
    model: str
    dimensions: int
    exact_limit: int | None = None

    async def nearest(
        self, project_id: str, question: str, vector: Vector, most: int, deadline: Deadline
    ) -> list[FoundDocument]:
        """Return up to `most` documents, the nearest first, and of two as near the better worded.

        Raises:
            NotFoundError: there is no such project.
            GraphMisconfiguredError: its documents have no vectors, or those of another model.
            GraphUnavailableError, DeadlineError: as for any read.
        """
        require_direction(vector)
        own = OwnVectors(self.connection, self.model, self.dimensions)
        probe = Probe(own, self.connection, self.names, DEFAULT)
        async with deadline.enforced():
            inventory = await probe.inventory(lambda _: True)
            schema, leg = inventory.schema, _leg(inventory, len(vector))
            exact = StatementParameters(schema, exact_limit=self.exact_limit)
            values = {
                **BOUNDS,
                "asked": {
                    "project_id": project_id,
                    "lucene": "" if inventory.text_problem else lucene(question, project_id),
                    "located": True,
                },
                "vector": list(vector),
                "dimensions": len(vector),
                "top_k": BOUNDS["pool"],
                "most": most,
                "exact_limit": (limit := exact.exact(len(vector), searches=leg.searches)),
                "count_limit": limit + 1,
                "fetch": BOUNDS["rescored"] if leg.searches else 500,
                "fulltext_index": self.names.fulltext,
                "text_pool": _WORDED_CHUNKS,
            }
            text = nearest_documents(leg, schema)
            found = await CarefulReads(self.connection).read(text, values, deadline)

        row = found.records[0]
        if row["project"] is None:
            raise NotFoundError(
                f"There is no project {project_id}: `drift projects` lists what there is."
            )
        require_model_of_project(row, self.model if schema.vector == FIRST_VECTOR else "")
        if not row["documents"]:
            raise GraphMisconfiguredError(
                f"No document of project {project_id} has a vector that can be searched: ingest "
                "documents, or run `drift prepare`, which gives one to those that are there."
            )
        threshold = score_threshold(row["project"])
        fits = threshold is not None and threshold.fits(len(vector), self.model)
        return _documents(row["documents"], threshold if fits else None)


def _leg(inventory: Inventory, dimensions: int) -> Leg:
    """Return how documents are searched: all of the project, where the index does not serve."""
    name, vector = inventory.names.documents, inventory.schema.vector
    index = find_index(WantedIndex(name, "vector", "Document", (vector,)), inventory.indexes)
    serving = index.serving
    if serving is None or not serving.online or serving.has_other_dimensions(dimensions):
        return Leg("__Document__")
    return Leg("__Document__", name, inventory.searches(serving), "Document")


def _documents(
    rows: Sequence[Mapping[str, Any]], threshold: ScoreThreshold | None
) -> list[FoundDocument]:
    documents = []
    for row in rows:
        # One whose chunks went while the statement ran says nothing any more.
        for chunk in chunks_of(row["best"]):
            cosine = 2 * row["similarity"] - 1
            whole = Citation(chunk.id, chunk.text, chunk.document_name, at=0)
            share = similarity(cosine, threshold) or 0.0
            label = label_of(whole, chunk)
            path, title = row["id"], row["title"] or row["id"]
            documents.append(FoundDocument(label, chunk.text, share, path, title, cosine))
    return documents
