"""An answer that is none, as the error that the service raised."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
from pydantic import ValidationError

from drift.contracts.answer import Problem
from drift.core.errors import (
    BusyError,
    ConflictError,
    DriftError,
    FieldProblem,
    ForbiddenError,
    InvalidRequestError,
    NotConfiguredError,
    NotFoundError,
    QuotaError,
    RequestError,
    UnauthenticatedError,
    UpstreamError,
)


class UnavailableError(UpstreamError):
    """The service gave a client no whole answer: it cannot be reached, or it broke off."""

    code = "unavailable"


_BY_STATUS: dict[int, type[DriftError]] = {
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    429: BusyError,
    503: UnavailableError,
}


def _all(family: type[DriftError]) -> Iterator[type[DriftError]]:
    yield family
    for kind in family.__subclasses__():
        yield from _all(kind)


def error_of(response: httpx2.Response) -> DriftError:
    """Return the error that a response tells, whose body has been read."""
    status = response.status_code
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:  # of a gateway, or of another server
        said = f"The server answered with HTTP {status}, and is perhaps not this service."
        problem = Problem(title="", status=status, detail=said, code="", retrieval_id="")
    return error_from(problem, response.headers.get("retry-after", ""))


def error_from(problem: Problem, retry_after: str = "") -> DriftError:
    """Return the error of a problem document; of an unknown code, that of the status.

    What the service keeps to itself (the reason of a refusal) is empty.
    """
    by_code = {kind.code: kind for kind in _all(DriftError) if "code" in vars(kind)}
    family = RequestError if 400 <= problem.status < 500 else UpstreamError  # noqa: PLR2004 - HTTP's own
    kind = by_code.get(problem.code) or _BY_STATUS.get(problem.status, family)
    error = kind.__new__(kind)
    DriftError.__init__(error, problem.detail)
    if isinstance(error, InvalidRequestError):
        error.problems = tuple(FieldProblem(p.field, p.message) for p in problem.errors or ())
    elif isinstance(error, NotConfiguredError):
        error.problems = (problem.detail,)
    elif isinstance(error, UnauthenticatedError):
        error.reason = ""
    elif isinstance(error, ForbiddenError):
        error.project_id, error.right, error.caller = None, "", ""
    elif isinstance(error, QuotaError):
        error.limit = problem.limit or ""
    if retry_after.isdecimal():
        vars(error)["retry_after_s"] = int(retry_after)
    return error
