"""What the log says of a call that failed: who was refused what, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping

from drift.core.errors import (
    DriftError,
    ForbiddenError,
    QuotaError,
    StoppingError,
    UnauthenticatedError,
)
from drift.core.logs import log


def log_failure(error: Exception, about: Mapping[str, object], path: str) -> None:
    """Log an error of a call to a path; `about` tells which call it was."""
    if isinstance(error, UnauthenticatedError | ForbiddenError):
        # A key is never part of it.
        refused: dict[str, object] = {"path": path, "code": error.code}
        if isinstance(error, ForbiddenError):
            refused |= {"caller": error.caller, "right": error.right}
            refused |= {"project_id": error.project_id}
        else:
            refused |= {"reason": error.reason}
        log.warning("access_denied", extra={**refused, **about})
    elif not isinstance(error, DriftError):
        log.error("request_crashed", exc_info=error, extra=about)
    elif not isinstance(error, StoppingError | QuotaError):
        # A process that is being stopped is no failure, and a quota has a line of its own.
        log.warning("request_failed", exc_info=error, extra=about)
