"""Vectors of a version for what lacks one: a project's texts, or those of a whole graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from drift.graph.connection import Connection
from drift.graph.cypher.legs import PERSONAL
from drift.graph.cypher.schema import Schema
from drift.graph.versions import VectorVersion
from drift.graph.writing.rows import parts
from drift.indexing.batch_embedder import MAX_EMBEDDED_CHARS, BatchEmbedder
from drift.local.ingest.by_model.writing import embedded_text
from drift.local.ingest.communities import between
from drift.local.prepare import vector_statements as statements
from drift.model.graph import Vector
from drift.nodes.node_text import searchable_text, text_hash

NODES_A_BATCH = 256
"""Nodes that are embedded and written at once; what is written stays when a run breaks."""
TOPICS_A_BATCH = 16
"""The same of topics, which are read with the vectors of their chunks."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TextCount:
    """How many texts there are, how many of them lack a vector, and about how long those are."""

    number: int = 0
    lacking: int = 0
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Filling:
    """Embeds what lacks a vector of the version, in one project, or in all for None.

    With `means`, topics get the vectors that ingestion gives them, of their chunks' as well.
    """

    connection: Connection
    schema: Schema
    version: VectorVersion
    project_id: str | None = None
    means: bool = False

    async def texts(self, label: str) -> TextCount:
        """Count the texts of a label; errors as for any read."""
        everywhere = self.project_id is None
        text = statements.count_texts(self.schema, label, self.version, everywhere=everywhere)
        row = (await self._rows(text, longest=MAX_EMBEDDED_CHARS))[0]
        return TextCount(row["texts"], row["lacking"], row["characters"])

    async def bare(self, label: str) -> list[list[str]]:
        """Return the nodes without a vector, in batches; a topic comes after those below it."""
        means, everywhere = self._means(label), self.project_id is None
        rows = await self._rows(
            statements.bare_nodes(
                self.schema, label, self.version, everywhere=everywhere, means=means
            )
        )
        size = TOPICS_A_BATCH if means else NODES_A_BATCH
        return [
            [row["id"] for row in part]
            for _, level in groupby(rows, key=itemgetter("level"))
            for part in parts(list(level), size)
        ]

    async def write(self, label: str, keys: Sequence[str], embedder: BatchEmbedder) -> int:
        """Embed and write these; return how many were written, since some may have changed.

        IngestError when the model's vectors are of another length; other errors as the ports do.
        """
        means = self._means(label)
        text = statements.read_texts(self.schema, label, self.version, means=means)
        read = await self._rows(text, keys=list(keys))
        said = {row["key"]: _said(label, row) for row in read if row["says"]}
        embedded = {key: one for key, one in said.items() if one}
        made = await embedder.embed(list(embedded.values()))
        vectors = dict(zip(embedded, made, strict=True))
        rows = [self._row(label, row, said.get(row["key"], ""), vectors) for row in read]
        rows = [row for row in rows if row["vector"] or row["more"]]
        text = statements.write_vectors(self.schema, label, self.version)
        result = await self.connection.write(text, {"rows": rows, **self._asked})
        return int(result.records[0]["written"])

    def _row(self, label: str, row: Row, said: str, vectors: Mapping[str, Vector]) -> Row:
        vector, more = vectors.get(row["key"]), {}
        if row["members"]:
            weights = np.array([weight for _, weight in row["members"]], dtype=np.float64)
            members = np.array([vector for vector, _ in row["members"]], dtype=np.float64)
            mean = (weights @ members / weights.sum()).tolist()
            more[self.version.named("mean")] = mean
            vector = vector and between(vector, mean)
        if label == PERSONAL and vector:
            hashed = text_hash(said, self.version.model, self.version.dimensions)
            more[self.version.named("embedding_hash")] = hashed
        told = {name: row[name] for name in ("key", "text", "heading")}
        return {**told, "vector": list(vector) if vector else None, "more": more}

    def _means(self, label: str) -> bool:
        return self.means and label == "__Community__"

    @property
    def _asked(self) -> dict[str, object]:
        return {"asked": {"project_id": self.project_id}}

    async def _rows(self, text: str, **values: object) -> list[dict[str, Any]]:
        return await self.connection.rows(text, {**self._asked, **values})


def _said(label: str, row: Row) -> str:
    """Return the text of a node to embed, as those who wrote it do."""
    if label == "__Entity__":
        return embedded_text(row["heading"], row["text"])
    if label == PERSONAL:
        return searchable_text({"title": row["heading"], "description": row["text"]})
    return f"{row['heading']}\n{row['text']}".removeprefix("\n")
