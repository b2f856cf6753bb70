"""A project as an external knowledge base: the bodies of Dify's contract."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from drift.contracts.request import without_nulls


class _Lenient(BaseModel):
    """A body of which programs send more fields than are read, null for none, numbers as text."""

    model_config = ConfigDict(extra="ignore")

    _no_nulls = model_validator(mode="before")(without_nulls)


class RetrievalSetting(_Lenient):
    """How many records are wanted, and how near they must be."""

    top_k: int = Field(default=4, ge=1)
    score_threshold: float | None = Field(default=None, ge=0, le=1)


class MetadataCondition(_Lenient):
    """Conditions on documents, which no project can be asked for yet."""

    conditions: list[Any] | None = None


class DifyRequest(_Lenient):
    """A question to the project `knowledge_id`."""

    knowledge_id: str
    query: str
    retrieval_setting: RetrievalSetting = RetrievalSetting()
    metadata_condition: MetadataCondition | None = None


class DifyError(BaseModel):
    """An error: 1001, 1002 and 2001 are Dify's own codes, the others those of a Problem."""

    error_code: int | str
    error_msg: str


class DifyRecord(BaseModel):
    """A passage; `metadata` says where it stands."""

    content: str
    score: float
    title: str
    metadata: dict[str, Any]


class DifyResponse(BaseModel):
    """The passages, the best first."""

    records: list[DifyRecord]
