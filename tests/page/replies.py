"""What the page is told in place of the function's own words, where a test wants others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Page, Route

Event = tuple[str, Any]
PROBLEM = "application/problem+json"


def stream(*events: Event) -> str:
    """Return events as they are sent."""
    return "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)


def citation(number: int, **about: Any) -> dict[str, Any]:
    """Return a citation of a chunk."""
    own = {"chunk_id": f"chunk-{number}", "span": f"Words of passage {number}."}
    return {**own, "document_name": f"Document {number}", "place": f"{number} of 400", **about}


def node(number: int, parent: int | None = None, **about: Any) -> dict[str, Any]:
    """Return a follow-up of the trace."""
    return {
        "id": number, "parent": parent, "question": f"What is said of part {number}?",
        "target_communities": [], "pass": 1, "verdict": "answered", "confidence": 0.8,
        "state": "answered", "chunk_ids": [], "seconds": 1.5, **about,
    }  # fmt: skip


LARGE = 1000
"""Communities of a large project."""
USAGE = {
    "chat_calls": 7, "embedding_calls": 2, "prompt_tokens": 14_000, "completion_tokens": 1_200,
    "graph_round_trips": 8, "wall_seconds": 12.3,
    "cost": {"amount": 0.0213, "currency": "USD", "prices": "2026-08-21"},
}  # fmt: skip


def answer(
    text: str, facts: Sequence[tuple[str, Sequence[Any]]] = (), **more: Any
) -> dict[str, Any]:
    """Return the document of an answer."""
    return {
        "final_answer": text,
        "key_facts": [{"fact": fact, "citations": list(cited)} for fact, cited in facts],
        "residual_uncertainty": "",
        "verdict": {"verdict": "answered", "confidence": 0.9},
        "usage": USAGE,
        "trace": {"followups": [node(0), node(1, 0)]},
        **more,
    }


def problem(status: int, code: str, detail: str = "The server's own words.") -> dict[str, Any]:
    """Return an error's document."""
    return {
        "type": "about:blank", "title": "-", "status": status, "detail": detail, "code": code,
        "retrieval_id": "0b9d",
    }  # fmt: skip


def large_project() -> dict[str, Any]:
    """Return 1,000 communities with 1,500 edges between them."""
    rows = []
    for one in range(LARGE):
        level = 3 if one < 5 else 2 if one < 40 else 1 if one < 250 else 0
        count = {3: 0, 2: 5, 1: 35, 0: 210}[level]
        start = {3: 0, 2: 0, 1: 5, 0: 40}[level]
        parents = [start + one % count] if count else []
        if one % 2 and count:
            parents.append(start + (one * 7 + 3) % count)
        rows.append(
            {"id": one, "level": level, "title": f"Community {one}", "summary": "About it.",
             "members": 1 + one % 37 + 100 * level, "parents": parents}
        )  # fmt: skip
    return {"communities": rows, "next": None}


async def answering(
    page: Page, body: str | Mapping[str, Any], path: str = "**/retrieve", **options: Any
) -> None:
    """Have every question answered with a stream, or with an error's document."""
    await page.unroute(path)

    async def reply(route: Route) -> None:
        if isinstance(body, str):
            await route.fulfill(body=body, content_type="text/event-stream", **options)
        else:
            await route.fulfill(
                body=json.dumps(body), status=body["status"], content_type=PROBLEM, **options
            )

    await page.route(path, reply)


async def telling(page: Page, text: str) -> None:
    """Have every question answered with a sentence and its passage."""
    await answering(page, stream(("result", answer(text, [(text, [citation(1)])]))))


async def reading(page: Page, prefix: str, body: Mapping[str, Any], **options: Any) -> None:
    """Have what is read under a path answered with a document."""

    async def reply(route: Route) -> None:
        await route.fulfill(
            body=json.dumps(body), status=body.get("status", 200),
            content_type=PROBLEM if "code" in body else "application/json", **options,
        )  # fmt: skip

    await page.route(lambda url: urlsplit(url).path.startswith(prefix), reply)
