"""Cohere's way to rank texts, of the local model server: by meaning and shared words."""

from __future__ import annotations

from typing import Any

from drift.local.model_server.bodies import Json, RefusedError, tokens
from drift.local.model_server.relevance import affinity

RERANKER = "drift-affinity"
MOST_DOCUMENTS = 1000


def reranked(body: Json) -> Json:
    """Return the documents' places and scores (0 to 1), the most relevant first.

    Raises:
        RefusedError: the request is beyond what this server takes.
    """
    question, documents = body.get("query"), body.get("documents")
    if not isinstance(question, str) or not question.strip():
        raise RefusedError("query must be a text.", "query")
    if not isinstance(documents, list) or not 0 < len(documents) <= MOST_DOCUMENTS:
        raise RefusedError(f"documents must be 1 to {MOST_DOCUMENTS:,} texts.", "documents")

    texts = [_text(document) for document in documents]
    most = body.get("top_n", len(texts))
    if not isinstance(most, int) or most < 1:
        raise RefusedError("top_n must be at least 1.", "top_n")
    scores = [affinity(question, text) for text in texts]
    order = sorted(range(len(texts)), key=lambda place: (-scores[place], place))
    total = sum(map(tokens, texts)) + len(texts) * tokens(question)
    return {
        "id": "rerank",
        "model": body.get("model", RERANKER),
        "results": [{"index": at, "relevance_score": round(scores[at], 6)} for at in order[:most]],
        "usage": {"prompt_tokens": total, "total_tokens": total},
        "meta": {"api_version": {"version": "2"}},
    }


def _text(document: Any) -> str:  # noqa: ANN401 - JSON
    text = document.get("text") if isinstance(document, dict) else document
    if not isinstance(text, str):
        raise RefusedError("documents must be texts, or objects with one.", "documents")
    return text
