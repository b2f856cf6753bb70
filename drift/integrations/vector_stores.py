"""A project as a vector store of OpenAI's API: what its search asks, and what it gets."""

from __future__ import annotations

import json

from starlette.responses import Response

from drift.contracts import vector_stores as shapes
from drift.contracts.evidence import EvidenceResponse, PassageOut
from drift.contracts.request import RetrieveRequest
from drift.core.errors import DriftError, FieldProblem, InvalidRequestError
from drift.http import http
from drift.integrations import chat_completions

_LONGEST_VALUE = 512
"""Characters of an attribute, by OpenAI's contract; a longer one is left out."""


def question_of(request: shapes.VectorStoreSearch, project_id: str) -> RetrieveRequest:
    """Return what is asked of a project; InvalidRequestError where it cannot be."""
    if request.filters:
        problem = FieldProblem("filters", "must be left out: there is no filter yet")
        raise InvalidRequestError((problem,))
    top_k = request.max_num_results or 10
    body = {"query": _text(request), "project_id": project_id, "top_k": top_k}
    return http.parse(json.dumps(body).encode(), RetrieveRequest)


def reranks(request: shapes.VectorStoreSearch) -> bool:
    """Tell whether a reranker may order what is found."""
    return (request.ranking_options or shapes.RankingOptions()).ranker != "none"


def page(request: shapes.VectorStoreSearch, found: EvidenceResponse) -> Response:
    """Return the passages over the threshold, the best first."""
    least = (request.ranking_options or shapes.RankingOptions()).score_threshold or 0.0
    near = [_result(passage) for passage in found.passages if passage.score >= least]
    return http.read(shapes.VectorStorePage(search_query=[_text(request)], data=near))


def problem(error: DriftError, retrieval_id: str) -> Response:
    """Return an error in OpenAI's shape."""
    return chat_completions.problem(error, retrieval_id, {"project_id": "vector_store_id"})


def _text(request: shapes.VectorStoreSearch) -> str:
    return request.query if isinstance(request.query, str) else "\n".join(request.query)


def _result(passage: PassageOut) -> shapes.VectorStoreResult:
    told = passage.model_dump(exclude={"text", "score", "document_id", "document_name", "via"})
    told |= {"via": ", ".join(passage.via)}
    return shapes.VectorStoreResult(
        file_id=passage.document_id,
        filename=passage.document_name,
        score=passage.score,
        attributes={
            name: value
            for name, value in told.items()
            if value not in ("", -1) and len(str(value)) <= _LONGEST_VALUE
        },
        content=[shapes.TextContent(text=passage.text)],
    )
