"""An answer that is none, as the error that the service raised."""

from __future__ import annotations

import httpx2
from pydantic import ValidationError

from drift.contracts.answer import Problem
from drift.core import errors
from drift.core.errors import DriftError, FieldProblem


class UnavailableError(errors.UpstreamError):
    """The service gave a client no whole answer: it cannot be reached, or it broke off."""

    code = "unavailable"


_BY_CODE: dict[str, type[DriftError]] = {
    kind.code: kind
    for kind in (*vars(errors).values(), UnavailableError)
    if isinstance(kind, type) and issubclass(kind, DriftError) and "code" in vars(kind)
}
_BY_STATUS: dict[int, type[DriftError]] = {
    401: errors.UnauthenticatedError,
    403: errors.ForbiddenError,
    404: errors.NotFoundError,
    409: errors.ConflictError,
    429: errors.BusyError,
    503: UnavailableError,
}


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
    family = errors.RequestError if problem.status in range(400, 500) else errors.UpstreamError
    kind = _BY_CODE.get(problem.code) or _BY_STATUS.get(problem.status, family)
    error = kind.__new__(kind)
    DriftError.__init__(error, problem.detail)
    if isinstance(error, errors.InvalidRequestError):
        error.problems = tuple(FieldProblem(p.field, p.message) for p in problem.errors or ())
    elif isinstance(error, errors.NotConfiguredError):
        error.problems = (problem.detail,)
    elif isinstance(error, errors.UnauthenticatedError):
        error.reason = ""
    elif isinstance(error, errors.ForbiddenError):
        error.project_id, error.right, error.caller = None, "", ""
    elif isinstance(error, errors.QuotaError):
        error.limit = problem.limit or ""
    if retry_after.isdecimal():
        vars(error)["retry_after_s"] = int(retry_after)
    return error
