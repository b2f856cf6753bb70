"""What a caller gets in place of an answer: a problem, and the fields that caused it."""

from __future__ import annotations

from pydantic import BaseModel


class FieldErrorOut(BaseModel):
    """One broken field of a request."""

    field: str
    message: str


class Problem(BaseModel):
    """An error body, `application/problem+json` (RFC 9457).

    `limit` names the limit of a key that is used up, as PROJECT_KEYS calls it.
    """

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    retrieval_id: str
    errors: list[FieldErrorOut] | None = None
    limit: str | None = None
