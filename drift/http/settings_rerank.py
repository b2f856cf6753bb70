"""Settings of the reranker, which searches alone ask."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from drift.http.settings_base import Addresses, ApiKey, Required, address


class RerankSettings(Addresses):
    """The reranker."""

    rerank_url: Annotated[Required, address("http", "https")] | None = None
    """a reranker of Cohere's API, whose scores are half of a passage's rank
    ([recall.md](recall.md#a-reranker)): `https://api.cohere.com`, in Foundry
    `https://NAME.services.ai.azure.com`, or an address that ends in `/rerank`"""
    rerank_model: Annotated[Required | None, Field(validate_default=True)] = None
    """its model, on Azure the deployment's name; needed with `RERANK_URL`"""
    rerank_key: ApiKey = None
    """its API key; unset in Foundry: Entra ID"""

    @field_validator("rerank_model")
    @classmethod
    def _is_named(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and info.data.get("rerank_url"):
            raise ValueError("is needed with RERANK_URL")
        return value
