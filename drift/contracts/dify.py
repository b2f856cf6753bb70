"""A project as an external knowledge base: the bodies of Dify's contract."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, Strict


class RetrievalSetting(BaseModel):
    """How many records are wanted, and how near they must be."""

    model_config = ConfigDict(extra="ignore")

    top_k: Annotated[int, Strict()] = Field(default=4, ge=1)
    score_threshold: Annotated[float, Strict()] | None = Field(default=None, ge=0, le=1)


class MetadataCondition(BaseModel):
    """Conditions on documents, which no project can be asked for yet."""

    model_config = ConfigDict(extra="ignore")

    conditions: list[dict[str, Any]] | None = None


class DifyRequest(BaseModel):
    """A question to the project `knowledge_id`; empty where that needs no name."""

    model_config = ConfigDict(extra="ignore")

    knowledge_id: str = ""
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
