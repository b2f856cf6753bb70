"""The query and the path of a request: checked by name, decoded exactly once.

The framework's own path has lost what was written: `a%2Fb` and `a/b` look alike there, and a host
in front may have decoded it in its own way. So ids are cut out of the path as it was sent. Its
queries put a sign in the place of bytes that are no text, where these refuse them.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeVar
from urllib.parse import parse_qsl, unquote_to_bytes

from pydantic import ValidationError

from drift.contracts.body import plain_text
from drift.contracts.parameters import Parameters
from drift.core.errors import FieldProblem, InvalidRequestError, NotFoundError
from drift.http.http import MAX_PROBLEMS, field_problems

MAX_ID_CHARACTERS = 2048

_Parameters = TypeVar("_Parameters", bound=Parameters)


def parse_query(query: bytes, kind: type[_Parameters]) -> _Parameters:
    """Return the parameters of a query; InvalidRequestError names those that are wrong."""
    # Bytes that are no text become lone surrogates, which no parameter takes.
    text = query.decode(errors="surrogateescape")
    pairs = parse_qsl(text, keep_blank_values=True, errors="surrogateescape")
    given = [(name if _is_text(name) else "query", value) for name, value in pairs]
    times = Counter(name for name, _ in given if name in kind.model_fields)
    problems = [FieldProblem(name, "is given twice") for name, count in times.items() if count > 1]

    # A function key, and its name, may stand in a URL.
    values = {name: value for name, value in given if name not in {"code", "clientId"}}
    try:
        read = kind.model_validate(values)
    except ValidationError as error:
        problems += field_problems(error, "is not a parameter of this route")
        raise InvalidRequestError(tuple(problems[:MAX_PROBLEMS])) from None

    if problems:
        raise InvalidRequestError(tuple(problems))
    return read


def path_id(path: bytes, route: str) -> str:
    """Return the id in a path as it was sent, where the route has its one `{...}`.

    Raises:
        NotFoundError: the path is not of this route.
        InvalidRequestError: what stands there can be no id.
    """
    before, _, rest = route.partition("{")
    after = rest.partition("}")[2]
    begin, end = f"/{before}".encode(), after.encode()
    # A host may compare routes without case.
    is_of_route = path.lower().startswith(begin) and path.lower().endswith(end)
    if not is_of_route or len(path) < len(begin) + len(end):
        raise NotFoundError("There is nothing under this path.")

    written = unquote_to_bytes(path[len(begin) : len(path) - len(end)])
    given = written.decode(errors="surrogateescape")
    if not _is_text(given):
        raise _wrong_id("must be UTF-8 text without NUL characters, percent-encoded once")
    if not 1 <= len(given) <= MAX_ID_CHARACTERS:
        raise _wrong_id(f"must have 1 to {MAX_ID_CHARACTERS} characters")

    return given


def _wrong_id(message: str) -> InvalidRequestError:
    return InvalidRequestError((FieldProblem("id", message),))


def _is_text(value: str) -> bool:
    try:
        return plain_text(value) == value
    except ValueError:
        return False
