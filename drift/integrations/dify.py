"""A project as an external knowledge base of Dify: its request, its records, its errors."""

from __future__ import annotations

import json

from starlette.responses import Response

from drift.contracts.dify import DifyError, DifyRecord, DifyRequest, DifyResponse, RetrievalSetting
from drift.contracts.evidence import EvidenceResponse, PassageOut
from drift.contracts.request import RetrieveRequest
from drift.core.errors import (
    DriftError,
    FieldProblem,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnauthenticatedError,
)
from drift.http import http

MALFORMED, REFUSED, NO_KNOWLEDGE = 1001, 1002, 2001
"""Codes of Dify's contract: no usable Authorization header, a wrong one, no such knowledge."""


def question_of(request: DifyRequest) -> RetrieveRequest:
    """Return what is asked; InvalidRequestError where it cannot be."""
    if request.metadata_condition and request.metadata_condition.conditions:
        problem = FieldProblem("metadata_condition", "must be empty: there is no filter yet")
        raise InvalidRequestError((problem,))
    setting = request.retrieval_setting or RetrievalSetting()
    top_k = min(setting.top_k or 4, 50)  # Dify's usual number, and the most of a request
    body = {"query": request.query, "project_id": request.knowledge_id or None, "top_k": top_k}
    return http.parse(json.dumps(body).encode(), RetrieveRequest)


def records(request: DifyRequest, found: EvidenceResponse) -> Response:
    """Return the passages over the threshold, the best first.

    Raises:
        NotFoundError: the project holds nothing: some passage is always the nearest.
    """
    if not found.passages:
        raise NotFoundError(f"There is no knowledge {request.knowledge_id!r}.")
    setting = request.retrieval_setting
    least = (setting.score_threshold if setting else None) or 0.0
    near = [_record(passage) for passage in found.passages if passage.score >= least]
    return http.read(DifyResponse(records=near))


def problem(error: DriftError, retrieval_id: str) -> Response:
    """Return an error as Dify reads it, with the status and headers of every route."""
    code: int | str = error.code
    if isinstance(error, UnauthenticatedError):
        code = MALFORMED if error.reason in {"no key", "several keys"} else REFUSED
    elif isinstance(error, ForbiddenError | NotFoundError):
        code = NO_KNOWLEDGE
    told = error.detail
    if isinstance(error, InvalidRequestError):
        sent_as = {"project_id": "knowledge_id"}
        told = "; ".join(f"{sent_as.get(p.field, p.field)} {p.message}" for p in error.problems)
    return http.problem(error, retrieval_id, DifyError(error_code=code, error_msg=told))


def _record(passage: PassageOut) -> DifyRecord:
    return DifyRecord(
        content=passage.text,
        score=passage.score,
        title=passage.document_name,
        metadata={
            name: value
            for name, value in passage.model_dump(exclude={"text", "score"}).items()
            if value not in ("", -1)  # what is not known
        },
    )
