"""A project as an external knowledge base of Dify: its request, its records, its errors."""

from __future__ import annotations

import json
import re
from typing import Any

from starlette.responses import Response

from drift.contracts.dify import (
    COMPARISONS,
    Condition,
    DifyError,
    DifyRecord,
    DifyRequest,
    DifyResponse,
    RetrievalSetting,
    number,
)
from drift.contracts.evidence import EvidenceResponse, PassageOut
from drift.contracts.filter import METADATA, TEXTS, TIMES
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
    asked, body = request.metadata_condition, dict[str, Any]()
    if asked and asked.conditions:
        filters = [_filter(one) for one in asked.conditions]
        body["filter"] = {"type": asked.logical_operator or "and", "filters": filters}
    setting = request.retrieval_setting or RetrievalSetting()
    top_k = min(setting.top_k or 4, 50)  # Dify's usual number, and the most of a request
    body |= {"query": request.query, "project_id": request.knowledge_id or None, "top_k": top_k}
    return http.parse(json.dumps(body).encode(), RetrieveRequest)


def _filter(asked: Condition) -> dict[str, Any]:
    """Return a condition in our grammar; a name that is no key of ours is one of metadata."""
    operator, value = asked.comparison_operator, asked.value
    if operator not in COMPARISONS:
        told = f"must not ask for `{operator[:20]}`; known are {', '.join(COMPARISONS)}"
        raise InvalidRequestError((FieldProblem("metadata_condition", told),))
    names = [asked.name] if isinstance(asked.name, str) else asked.name
    own = [name in TEXTS or name in TIMES or re.fullmatch(METADATA, name) for name in names]
    keys = [name if is_own else f"metadata.{name}" for name, is_own in zip(names, own, strict=True)]
    compared = [
        {
            "type": COMPARISONS[operator],
            "key": key,
            "value": number(value) if operator in "=≠<>≤≥" and key not in TEXTS else value,
        }
        for key in keys
    ]
    return {"type": "or", "filters": compared}


def records(request: DifyRequest, found: EvidenceResponse) -> Response:
    """Return the passages over the threshold, the best first.

    Raises:
        NotFoundError: the project holds nothing: without conditions some passage is the nearest.
    """
    asked = request.metadata_condition
    if not found.passages and not (asked and asked.conditions):
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
        sent_as = {"project_id": "knowledge_id", "filter": "metadata_condition"}
        fields = [(p.field, sent_as.get(p.field.partition(".")[0]), p) for p in error.problems]
        told = "; ".join(f"{known or field} {problem.message}" for field, known, problem in fields)
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
