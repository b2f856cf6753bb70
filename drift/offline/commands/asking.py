"""Asking a running function over HTTP, with its progress as a Redis subscriber receives it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx2

from drift.errors import LocalStackError
from drift.offline.commands.watching import Server, Watch

_SAID_HERE = {"progress_publish_failed", "progress_publish_restored", "entra_token_failed"}
"""Events of the function's own log that a command says in words."""

STAND_IN = "drift-extractive"
STAND_IN_REMARK = (
    "A stand-in without a language model answered: it copies the nearest lines of your documents, "
    "and found none close "
    "enough. For a real model set OAI_BASE_URL, OAI_MODEL, OAI_KEY, OAI_EMBED_MODEL_NAME and "
    "VECTOR_INDEX_DIMENSIONS "
    "(README, Settings), ingest again, and ask again."
)


def remark_on(model: str, response: dict[str, Any]) -> str:
    """Return what to say beside an answer without evidence when the local stand-in gave it.

    Else nothing.
    """
    return STAND_IN_REMARK if model == STAND_IN and not response.get("key_facts") else ""


@dataclass(slots=True)
class Asked:
    """An answer as a caller got it.

    HTTP status, JSON document, and the progress messages in order.
    """

    status: int
    response: dict[str, Any]
    progress: list[dict[str, Any]]


async def ask_over_http(
    url: str,
    redis: Callable[[], Server | None],
    body: dict[str, Any],
    show: Callable[[dict[str, Any]], None],
    remark: Callable[[str], None],
) -> Asked:
    """POST the body to `/retrieve` of the function at `url`.

    `show` gets every progress message as it arrives.

    Progress never costs the answer: when it cannot be followed, `remark` gets one line that says
    why.

    Raises:
        LocalStackError: when the function cannot be reached.
    """
    watch = Watch(str(uuid4()), show, remark)
    with _said_once():
        async with watch.following(redis):
            try:
                async with httpx2.AsyncClient(timeout=240, trust_env=False) as client:
                    reply = await client.post(
                        f"{url}/retrieve", json={**body, "retrieval_id": watch.retrieval_id}
                    )
            except httpx2.HTTPError as error:
                raise LocalStackError(
                    f"The function at {url} cannot be reached: {error}."
                ) from error
    return Asked(reply.status_code, reply.json(), watch.received)


@contextmanager
def _said_once() -> Iterator[None]:
    """Keep the function, which runs in this process, from logging what the command says in words."""

    def unsaid(record: logging.LogRecord) -> bool:
        return getattr(record, "event", "") not in _SAID_HERE

    handlers = tuple(logging.getLogger("drift").handlers)
    for handler in handlers:
        handler.addFilter(unsaid)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(unsaid)
