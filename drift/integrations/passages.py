"""Passages for retrievers of frameworks, found by a service in this process."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any
from uuid import uuid4

from drift.auth.caller import EVERYBODY
from drift.contracts.evidence import PassageOut
from drift.contracts.filter import Filter
from drift.contracts.request import MAX_QUERY_CHARACTERS, ProjectRequest
from drift.http.provider import ServiceProvider

_services = ServiceProvider()

AnyFilter = Filter | dict[str, Any] | None
"""Which documents may be used: a filter, or the same as JSON has it."""


async def find(
    project: str,
    question: str,
    top_k: int,
    services: ServiceProvider = _services,
    only: AnyFilter = None,
) -> list[PassageOut]:
    """Return the passages nearest to a question, best first, by the service of the running loop.

    Raises:
        ValueError: the project's id, the question, `top_k` (1 to 50) or `only` is not usable.
        DriftError: settings are missing, or a server failed.
    """
    question = question[-MAX_QUERY_CHARACTERS:]
    asked = {"query": question, "project_id": project, "top_k": top_k, "filter": only}
    request = ProjectRequest.model_validate(asked)
    service = await services.get()
    finding = await service.start_evidence(EVERYBODY.project(project), request, str(uuid4()))
    return (await finding).passages


def find_now(project: str, question: str, top_k: int, only: AnyFilter = None) -> list[PassageOut]:
    """Return the same where no event loop runs, with connections of its own; errors as for `find`.

    Raises:
        LookupError: a loop runs here.
    """
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise LookupError("An event loop runs here: await the asynchronous method instead.")

    async def find_and_close() -> list[PassageOut]:
        services = ServiceProvider()
        try:
            return await find(project, question, top_k, services, only)
        finally:
            await services.close()

    return asyncio.run(find_and_close())


async def close() -> None:
    """Close the connections of the running loop."""
    await _services.close()
