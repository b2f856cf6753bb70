"""The query and the path of a GET request: checked by name, decoded exactly once.

The framework's own path has lost what was written: `a%2Fb` and `a/b` look alike there, and a host
in front may have decoded it in its own way. So ids are cut out of the path as it was sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import unquote_plus, unquote_to_bytes

from drift.contracts.request import project_id_problem
from drift.core.errors import FieldProblem, InvalidRequestError, NotFoundError
from drift.http.cursors import FIELD as CURSOR
from drift.http.http import MAX_PROBLEMS

OF_THE_PLATFORM = frozenset({"code", "clientId"})
"""How a function key, and its name, may be given in a URL."""
MAX_ID_CHARACTERS = 2048
MAX_NAME_CHARACTERS = 100
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a page is where nobody says, and at most."""

    default: int
    most: int


LISTS = Bounds(50, 200)
TEXTS = Bounds(20, 100)
"""Of rows that hold a text each."""


class Query:
    """The parameters of one request; each is read once, and what is wrong is told together."""

    def __init__(self, query: bytes, known: Collection[str]) -> None:
        """Read a query string that may hold these parameters.

        Raises:
            InvalidRequestError: naming parameters that are unknown, given twice, or no text.
        """
        pairs = [part.partition("=")[::2] for part in query.decode("latin-1").split("&") if part]
        decoded = [(_text(name), _text(value)) for name, value in pairs]
        times = Counter(name for name, _ in decoded)
        self.problems = [
            FieldProblem(_shown(name), problem)
            for name, count in times.items()
            if (problem := _name_problem(name, count, known))
        ]
        self.problems += [
            FieldProblem(_shown(name), "must be UTF-8 text without NUL characters")
            for name, value in decoded
            if name in known and value is None
        ]
        self._values = {name: value for name, value in decoded if name and value is not None}
        self.check()

    def check(self) -> None:
        """Raise what is wrong so far, if anything is."""
        if self.problems:
            raise InvalidRequestError(tuple(self.problems[:MAX_PROBLEMS]))

    def project_id(self) -> str | None:
        """Return the project that is named, None for none."""
        given = self._values.get("project_id")
        if given is not None and (problem := project_id_problem(given)):
            self.problems.append(FieldProblem("project_id", problem))
        return given

    def limit(self, bounds: Bounds) -> int:
        """Return how many rows are wanted."""
        limit = self._number("limit", bounds.default)
        if limit is None or not 1 <= limit <= bounds.most:
            message = f"must be a whole number from 1 to {bounds.most}"
            self.problems.append(FieldProblem("limit", message))
            return bounds.default
        return limit

    def level(self) -> int | None:
        """Return the level of communities that is wanted, None for all."""
        level = self._number("level", 0)
        if level is None:
            self.problems.append(FieldProblem("level", "must be a whole number, 0 or more"))
        return level if "level" in self._values else None

    def cursor(self) -> str | None:
        """Return the cursor as it was given, None for none."""
        return self._values.get(CURSOR)

    def _number(self, name: str, default: int) -> int | None:
        given = self._values.get(name)
        if given is None:
            return default
        is_number = given.isascii() and given.isdigit() and len(given) <= _DIGITS
        return int(given) if is_number else None


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

    given = _utf8(unquote_to_bytes(path[len(begin) : len(path) - len(end)]))
    if given is None:
        raise _wrong_id("must be UTF-8 text without NUL characters, percent-encoded once")
    if not 1 <= len(given) <= MAX_ID_CHARACTERS:
        raise _wrong_id(f"must have 1 to {MAX_ID_CHARACTERS} characters")
    return given


def project_of_path(path: bytes, route: str) -> str:
    """Return the project's id in a path.

    Raises:
        NotFoundError, InvalidRequestError: as for any id, and by the rule for projects.
    """
    given = path_id(path, route)
    if problem := project_id_problem(given):
        raise InvalidRequestError((FieldProblem("project_id", problem),))
    return given


def _wrong_id(message: str) -> InvalidRequestError:
    return InvalidRequestError((FieldProblem("id", message),))


def _name_problem(name: str | None, times: int, known: Collection[str]) -> str | None:
    if name in OF_THE_PLATFORM:
        return None
    if name not in known:
        return "is not a parameter of this route"
    return "is given twice" if times > 1 else None


def _text(part: str) -> str | None:
    """Return a name or value without its percent signs; None for what is no text."""
    return _utf8(unquote_plus(part, "latin-1").encode("latin-1"))


def _utf8(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


def _shown(name: str | None) -> str:
    """Return a name of a parameter as an error may show it."""
    if name is None:
        return "query"
    return name if len(name) <= MAX_NAME_CHARACTERS else f"{name[:MAX_NAME_CHARACTERS]}…"
