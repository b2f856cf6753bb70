"""Errors in the shape of OpenAI's API."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from drift.contracts.chat_completions import ChatError, ChatErrorDetail
from drift.core.errors import DriftError, InvalidRequestError, NotFoundError
from drift.http import http

_SENT_AS = {"query": "messages", "project_id": "model"}


def problem(
    error: DriftError, retrieval_id: str, sent_as: Mapping[str, str] = _SENT_AS
) -> Response:
    """Return an error in OpenAI's shape, with the status and headers of every route.

    `sent_as` has the names of fields where a caller knows them by another.
    """
    response = http.problem(error, retrieval_id, told_as(error, sent_as))
    if response.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
        # OpenAI's clients would repeat a search that failed
        response.headers["x-should-retry"] = "false"
    return response


def no_such_route(error: DriftError, retrieval_id: str) -> Response:
    """Return that OpenAI has a path and this service has not, as OpenAI says it of its own."""
    told = told_as(error)
    if isinstance(error, NotFoundError):
        told.error.code = "unknown_url"
    return http.problem(error, retrieval_id, told)


def told_as(error: DriftError, sent_as: Mapping[str, str] = _SENT_AS) -> ChatError:
    """Return an error as OpenAI's clients read it; `sent_as` as for `problem`."""
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    fallback = "invalid_request_error" if error.status < 500 else "server_error"  # noqa: PLR2004 - HTTP's own
    field, detail = None, error.detail
    if isinstance(error, InvalidRequestError) and error.problems:
        field = error.problems[0].field.partition(".")[0]
        field = sent_as.get(field, field)
        detail = f"{field or 'The body'} {error.problems[0].message}."
    is_model = isinstance(error, NotFoundError) and sent_as is _SENT_AS
    code = "model_not_found" if is_model else error.code
    kind = kinds.get(error.status, fallback)
    return ChatError(error=ChatErrorDetail(message=detail, type=kind, param=field, code=code))
