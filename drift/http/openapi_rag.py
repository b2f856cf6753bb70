"""The description of questions to the nodes, with an example of one and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from drift.contracts.rag import RagRequest, RagResponse
from drift.http.http import EVENT_STREAM, JSON
from drift.http.openapi_parts import headers, problem, ref

PATH = "/api/rag/query"
REQUESTS: tuple[type[BaseModel], ...] = (RagRequest,)
MODELS: tuple[type[BaseModel], ...] = (RagResponse,)

QUESTION = {"question": "Who assigns berths?", "project_id": "handbook"}
ANSWER = {
    "answer": "The Harbour Office assigns every berth [Node 1].",
    "sources": [
        {
            "node_id": "5b1f0c52-7d0e-5b0e-8a52-3f3f7a1f9d01",
            "node_type": "Chunk",
            "title": "Harbour Office > Berths",
            "score": 0.71,
            "text": "The Harbour Office assigns every berth.",
            "cited": True,
            "related": [
                {
                    "node_id": "7d1c3b2a-8e4f-5a6b-8c9d-0e1f2a3b4c5d",
                    "title": "HARBOUR OFFICE",
                    "node_type": "Entity",
                    "relation": "HAS_ENTITY",
                }
            ],
        }
    ],
}
_HIDDEN = "`ENABLE_RAG_SEARCH=false` hides this route (`not_found`)."
_STREAM_TEXT = (
    "With `Accept: text/event-stream` the answer is a stream: `event: answer_delta` with the "
    "`text` that comes next of the answer, `event: answer_replaced` with a `text` in place of all "
    "before, `event: sources` with the `sources`, and exactly one last event, `event: result` with "
    "this document or `event: error` with a Problem."
)


def query(errors: Mapping[str, str]) -> dict[str, Any]:
    """Return the description of a question; `errors` are those of every question, by status."""
    answer = {
        "description": "The answer, with the nodes that it was written from: `[Node n]` is the "
        'n-th of them. Where none is near enough, it is "I don\'t have enough information", '
        f"without sources. {_STREAM_TEXT}",
        "headers": headers(),
        "content": {
            JSON: {"schema": ref(RagResponse), "example": ANSWER},
            EVENT_STREAM: {"schema": {"type": "string"}},
        },
    }
    described = {**errors, "404": _HIDDEN}
    body = {JSON: {"schema": ref(RagRequest), "example": QUESTION}}
    return {
        "operationId": "ragQuery",
        "summary": "Answer a question from the nodes nearest to it, cited by their numbers",
        "requestBody": {"required": True, "content": body},
        "responses": {
            "200": answer,
            **{status: problem(text) for status, text in sorted(described.items())},
        },
    }
