"""The reranker of the settings; building it opens no connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drift.http.settings import Settings

if TYPE_CHECKING:
    from drift.llm.rerank import CohereReranker
    from drift.llm.retry import RetryPolicy


def build_reranker(settings: Settings, retry: RetryPolicy) -> CohereReranker | None:
    """Return what gives a search's passages their relevance; None without RERANK_URL."""
    if not settings.rerank_url or not settings.rerank_model:
        return None

    from drift.llm import rerank  # noqa: PLC0415 - OpenAI's SDK loads with it

    url, key = rerank.rerank_url(settings.rerank_url), settings.rerank_key
    client = rerank.build_client(
        url, key.get_secret_value() if key else None, settings.azure_client_id
    )
    return rerank.CohereReranker(client, url, settings.rerank_model, retry)
