"""A caller, the projects that it may use, and the project that a request is about.

Nobody but `Caller.project` makes a `Project`, and whatever reads or writes data takes one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from drift.contracts.filter import Filter, combined
from drift.core.errors import FieldProblem, ForbiddenError, InvalidRequestError
from drift.telemetry import arrivals

Right = Literal["read", "write"]
RIGHTS: tuple[Right, ...] = ("read", "write")
EVERY = "*"  # behind a beginning: every project whose id begins so; alone: every project


@dataclass(frozen=True, slots=True)
class Grant:
    """Rights on the projects of a pattern: an id, or the beginning of ids followed by `*`.

    With a filter, only the documents that fit it may be read.
    """

    pattern: str
    rights: frozenset[Right]
    filter: Filter | None = None

    def covers(self, project_id: str) -> bool:
        """Tell whether the pattern means this project."""
        if self.is_one_project:
            return project_id == self.pattern
        return project_id.startswith(self.pattern.removesuffix(EVERY))

    @property
    def is_one_project(self) -> bool:
        """True when the pattern is the id of one project."""
        return not self.pattern.endswith(EVERY)


def pattern_problem(pattern: str) -> str | None:
    """Return what is wrong with a pattern, None when nothing is."""
    if not 1 <= len(pattern) <= 128:  # noqa: PLR2004 - as long as a project's id
        return "must have 1 to 128 characters"
    if EVERY in pattern[:-1]:
        return "may have `*` at its end only"
    if re.search("[\x00-\x1f\ud800-\udfff]", pattern):
        return "must not contain control characters or lone surrogates"

    return None


class Quota(BaseModel):
    """What a key may use; None: as much as it wants."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    requests_per_minute: Annotated[int, Field(ge=1, le=10_000)] | None = None
    tokens_per_day: Annotated[int, Field(ge=1, le=10**12)] | None = None


NO_QUOTA = Quota()


@dataclass(frozen=True, slots=True)
class Project:
    """A project that the caller may use in the way it asked for.

    Where there is a filter, nothing but the documents that fit it may be read.
    """

    id: str
    caller: Caller
    filter: Filter | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, by a name that may be logged, and what it was granted."""

    name: str
    grants: tuple[Grant, ...] = ()
    quota: Quota = NO_QUOTA

    @property
    def reach(self) -> str:
        """Return all that decides what the caller is shown, as text: who has another shares no run.

        Whatever bounds a caller belongs in here.
        """
        granted = [
            (one.pattern, sorted(one.rights), one.filter.model_dump_json() if one.filter else "")
            for one in self.grants
        ]
        return json.dumps([self.name, sorted(granted)])

    def may(self, project_id: str, right: Right) -> bool:
        """Tell whether the caller has a right on a project, whether or not that exists."""
        return any(right in grant.rights and grant.covers(project_id) for grant in self.grants)

    def project(self, project_id: str | None, right: Right = "read") -> Project:
        """Return the project that a request names, or the caller's only one.

        Raises:
            InvalidRequestError: none is named, and the caller has not exactly one.
            ForbiddenError: the caller has no such right on it; it is not looked whether it exists.
        """
        named = self.only_project if project_id is None else project_id
        if named is None:
            wanted = (
                "is required: name a project, one that `GET /projects` lists. It may be left out "
                "where exactly one may be read, or where the setting RAG_PROJECT names one"
            )
            raise InvalidRequestError((FieldProblem("project_id", wanted),))
        if not self.may(named, right):
            raise ForbiddenError(named, right, self.name)
        arrivals.tell(project_id=named)
        return Project(named, self, self.filter_of(named, right))

    def filter_of(self, project_id: str, right: Right) -> Filter | None:
        """Return what any of the grants on a project lets through; None for all of it."""
        grants = [one for one in self.grants if right in one.rights and one.covers(project_id)]
        filters = [one.filter for one in grants]
        return None if None in filters else combined("or", filters)

    @property
    def only_project(self) -> str | None:
        """The id of the caller's project, where it has exactly one and that is named whole."""
        patterns = {grant.pattern for grant in self.grants}
        one = next(iter(self.grants)) if len(patterns) == 1 else None
        return one.pattern if one and one.is_one_project else None

    def readable(self, project_ids: Iterable[str]) -> list[str]:
        """Return those of the projects that the caller may read, in their order."""
        return [project_id for project_id in project_ids if self.may(project_id, "read")]


EVERYBODY = Caller("function key", (Grant(EVERY, frozenset(RIGHTS)),))
"""Who comes with one of the platform's function keys, which open every project."""

NOBODY = Caller("nobody")  # whose requests open nothing
