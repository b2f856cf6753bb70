"""A project as a vector store: the bodies of OpenAI's search, as far as they are read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field, Strict, StrictBool

from drift.contracts.filter import Filter
from drift.contracts.request import Query, TopK


class RankingOptions(BaseModel):
    """Whether a reranker may order the passages (`none` for no), and how near they must be."""

    ranker: Annotated[str, Field(pattern=r"^(none|auto|default-.{1,40})$")] | None = None
    score_threshold: Annotated[float, Strict(), Field(ge=0, le=1)] | None = None


class VectorStoreSearch(BaseModel):
    """A question to the project of the path; other fields are ignored.

    Several queries are searched as one, a line each. A query is searched as it is, whatever
    `rewrite_query` says. `filters` are a filter as that of `RetrieveRequest`.
    """

    query: Query | Annotated[list[Query], Field(min_length=1, max_length=10)]
    filters: Annotated[
        Filter | None, BeforeValidator(lambda given: None if given == {} else given)
    ] = None
    max_num_results: Annotated[TopK, Strict()] | None = None
    ranking_options: RankingOptions | None = None
    rewrite_query: StrictBool | None = None


class TextContent(BaseModel):
    """The words of a passage."""

    type: Literal["text"] = "text"
    text: str


class VectorStoreResult(BaseModel):
    """A passage of a file; `attributes` say where it stands. A file has as many as were found."""

    file_id: str
    filename: str
    score: float
    attributes: dict[str, str | int | float | bool]
    content: list[TextContent]


class VectorStorePage(BaseModel):
    """All passages that were found, the best first, and the query as it was searched."""

    object: Literal["vector_store.search_results.page"] = "vector_store.search_results.page"
    search_query: list[str]
    data: list[VectorStoreResult]
    has_more: bool = False
    next_page: str | None = None
