"""Indexing documents one by one from a program of yours, by the settings of the environment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from drift.auth.caller import EVERYBODY
from drift.contracts.attributes import DocumentAttributes
from drift.http import settings
from drift.http.provider import ServiceProvider
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
        services = ServiceProvider(lambda: settings.load({"ENABLE_INDEXING": True}))
        try:
            service = await services.get()
            made = await service.indexer(EVERYBODY.project(project_id))
            yield replace(made, wait_s=wait_s)
        finally:
            await services.close()
