"""Requests from bytes; results, errors and events to bytes and responses."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from drift.contracts.answer import FieldErrorOut, Problem, RetrieveResponse
from drift.contracts.evidence import EvidenceAnswer
from drift.contracts.rag import RagResponse
from drift.contracts.request import MAX_BODY_BYTES
from drift.core.errors import (
    BusyError,
    DocumentStoreError,
    DriftError,
    FieldProblem,
    ForbiddenError,
    InvalidRequestError,
    NotConfiguredError,
    ProjectHeldError,
    QuotaError,
    StoppingError,
    TooLargeError,
    UnauthenticatedError,
    UnsupportedMediaTypeError,
)
from drift.core.logs import log
from drift.telemetry import arrivals

JSON = "application/json"
PROBLEM_JSON = "application/problem+json"
EVENT_STREAM = "text/event-stream"
BEAT_SECONDS = 15.0
"""Silence after which a stream says that it is alive."""
OPEN = b": open\n\n"
BEAT = b": beat\n\n"
MAX_PROBLEMS = 32
"""Broken fields that are named: an error must not be many times the body that it is about."""
MAX_NAME_CHARACTERS = 100
_RETRIED = BusyError | DocumentStoreError | NotConfiguredError | ProjectHeldError | StoppingError
"""Errors that say when to come again."""
_SAID = {
    "missing": "is required",
    "string_type": "must be text",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than": "must be over {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be under {lt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "uuid_type": "must be a UUID",
    "uuid_parsing": "must be a UUID",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
}
"""What is wrong with a field, by pydantic's types of errors."""


_Body = TypeVar("_Body", bound=BaseModel)


def check_size(length: int, most: int = MAX_BODY_BYTES) -> None:
    """Raise TooLargeError for a body of more than `most` bytes, 64 KiB where nothing is said."""
    if length > most:
        raise TooLargeError(f"The body may have at most {most} bytes.")


def declared_length(headers: Mapping[str, str]) -> int:
    """Return the length that a request declares; 0 when it declares none or nonsense."""
    value = headers.get("content-length", "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else 0  # noqa: PLR2004 - fits an int64


def media_type(headers: Mapping[str, str]) -> str:
    """Return the type of a body, without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def check_media_type(headers: Mapping[str, str]) -> None:
    """Raise UnsupportedMediaTypeError for anything but application/json."""
    if media_type(headers) != JSON:
        raise UnsupportedMediaTypeError(f"The content type must be {JSON}.")


def parse(body: bytes, kind: type[_Body]) -> _Body:
    """Return a body as `kind`; InvalidRequestError names the first MAX_PROBLEMS broken fields."""
    repeated: list[str] = []

    def held(pairs: list[tuple[str, object]]) -> dict[str, object]:
        # A gateway that has checked the first of two values has not seen the last.
        read = dict(pairs)
        if len(read) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            repeated.extend(name for name, times in counts.items() if times > 1)
        return read

    try:
        value = json.loads(
            body.decode(), object_pairs_hook=held, parse_constant=_no_number, parse_int=_number
        )
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError((FieldProblem("", f"is not valid JSON: {error}"),)) from None

    if not isinstance(value, dict):
        raise InvalidRequestError((FieldProblem("", "must be a JSON object"),))

    if repeated:
        raise InvalidRequestError(
            tuple(FieldProblem(_shown(n), "is given twice") for n in repeated[:MAX_PROBLEMS])
        )

    try:
        return kind.model_validate(value)
    except ValidationError as error:
        problems = field_problems(error, "is not a field of this request")
        raise InvalidRequestError(tuple(problems)) from None


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")


def _number(digits: str) -> int | float:
    """Return a whole number; Python refuses one of thousands of digits, which no field takes."""
    max_digits = 400
    return int(digits) if len(digits) < max_digits else float(digits)


def field_problems(error: ValidationError, unknown: str) -> list[FieldProblem]:
    """Return what is wrong with each field, the first MAX_PROBLEMS; `unknown` is said of others."""
    problems = []
    for one in error.errors(include_url=False, include_input=False)[:MAX_PROBLEMS]:
        ctx = one.get("ctx", {})
        said = unknown if one["type"] == "extra_forbidden" else _SAID.get(one["type"])
        if said is None:
            raised = ctx.get("error")
            known = isinstance(raised, ValueError)
            message = str(raised) if known else "is not what is expected here"
        else:
            message = said.format_map(ctx)
        problems.append(FieldProblem(_shown(".".join(map(str, one["loc"]))), message))

    return problems


def _shown(name: str) -> str:
    """Return a field's name as an error may show it."""
    name = name.encode(errors="replace").decode()
    return name if len(name) <= MAX_NAME_CHARACTERS else f"{name[:MAX_NAME_CHARACTERS]}…"


def wants_stream(accept: str) -> bool:
    """Tell whether a caller prefers a stream of events, which it named (RFC 9110, 12.5.1)."""
    weights = _weights(accept)
    stream = _weight(weights, EVENT_STREAM)
    named = EVENT_STREAM in weights or "text/*" in weights
    return named and stream > 0 and stream >= _weight(weights, JSON)


def _weights(accept: str) -> dict[str, float]:
    """Return the weight of each media range; what cannot be read is left out."""
    weights = {}
    for part in accept.split(","):
        media_range, *parameters = (word.strip().lower() for word in part.split(";"))
        quality = next(
            (p.partition("=")[2].strip() for p in parameters if p.partition("=")[0].strip() == "q"),
            "1",
        )
        if re.fullmatch(r"0(\.\d{0,3})?|1(\.0{0,3})?", quality):
            weights[media_range] = float(quality)

    return weights


def _weight(weights: Mapping[str, float], media_type: str) -> float:
    """Return what the most specific range says of a type; 0 when none does."""
    family = f"{media_type.partition('/')[0]}/*"
    return next((weights[name] for name in (media_type, family, "*/*") if name in weights), 0.0)


def result(response: RetrieveResponse | EvidenceAnswer | RagResponse) -> Response:
    """Return an answer as HTTP."""
    return Response(response.to_json(), media_type=JSON)


def read(body: BaseModel, status: int = HTTPStatus.OK, **headers: str) -> Response:
    """Return what was read as HTTP; it is of one caller, so nothing on the way keeps it."""
    kept = {"cache-control": "no-store", **headers}
    return Response(body.model_dump_json(), status, kept, JSON)


def problem_body(error: DriftError, retrieval_id: str) -> bytes:
    """Return an error's body, RFC 9457."""
    errors = None
    if isinstance(error, InvalidRequestError):
        errors = [FieldErrorOut(field=p.field, message=p.message) for p in error.problems]

    body = Problem(
        title=HTTPStatus(error.status).phrase,
        status=error.status,
        detail=error.detail,
        code=error.code,
        retrieval_id=retrieval_id,
        errors=errors,
        limit=error.limit if isinstance(error, QuotaError) else None,
    )

    return body.model_dump_json(exclude_none=True).encode()


def problem(error: DriftError, retrieval_id: str, body: BaseModel | None = None) -> Response:
    """Return an error as HTTP; a `body` is that of another program's contract."""
    headers = {"x-retrieval-id": retrieval_id}
    if isinstance(error, _RETRIED):
        headers["retry-after"] = str(error.retry_after_s)
    if isinstance(error, UnauthenticatedError):
        headers["www-authenticate"] = "Bearer"

    if body is not None:
        return Response(body.model_dump_json(), error.status, headers, JSON)
    return Response(problem_body(error, retrieval_id), error.status, headers, PROBLEM_JSON)


def internal_error() -> DriftError:
    """Return what a caller sees of an unforeseen error."""
    return DriftError("An internal error ended the request; its details are in the service's log.")


def log_failure(
    error: BaseException, about: Mapping[str, object], path: str | None = None
) -> DriftError:
    """Log an error of a call to a path, and return what its caller sees of it.

    `about` tells which call it was.
    """
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

    told = error if isinstance(error, DriftError) else internal_error()
    arrivals.tell(code=told.code)
    return told


def event(name: str, data: str | bytes, event_id: str) -> bytes:
    """Return one server-sent event; `data` is JSON on one line."""
    body = data.encode() if isinstance(data, str) else data
    return f"event: {name}\nid: {event_id}\ndata: ".encode() + body + b"\n\n"
