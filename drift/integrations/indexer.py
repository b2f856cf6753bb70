"""Indexing documents one by one from a program of yours, by the settings of the environment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from drift.contracts.attributes import DocumentAttributes
from drift.http import settings, wiring
from drift.indexing import indexer
from drift.indexing.indexer import Indexed

__all__ = ["DocumentAttributes", "Indexed", "Indexer"]


class Indexer(indexer.Indexer):
    """Adds documents to a project and takes them out, as `POST /documents` does."""

    @classmethod
    @asynccontextmanager
    async def from_env(
        cls, project_id: str, wait_s: float = 600.0
    ) -> AsyncIterator[indexer.Indexer]:
        """Give what indexes a project's documents, with connections that close with the block.

        An ingest of the project is waited for up to `wait_s` seconds.

        Raises:
            NotConfiguredError: settings are missing or wrong; all are named.
        """
        values = settings.load()
        chat, model = await asyncio.to_thread(wiring.build_models, values)
        graph = wiring.build_graph(values)
        try:
            made = wiring.build_indexer(values, graph, model.of_passages, project_id)
            yield replace(made, wait_s=wait_s)
        finally:
            await chat.aclose()
            await model.client.close()
            await graph.close()
