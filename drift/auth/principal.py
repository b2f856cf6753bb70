"""Pure: what App Service's authentication says of a caller, as a caller.

The platform checks the token and hands the claims on: base64 of a JSON object with `auth_typ`,
`role_typ` and `claims`, a list of `typ` and `val`. App
roles `read:PATTERN` and `write:PATTERN` give rights on projects, and `read:PATTERN?KEY=VALUE&…` on
the documents there that fit. Values of the claim that PROJECT_CLAIM names are patterns that may be
read; the bare role `write` lets them be written. Source: Microsoft Learn, "Work with user
identities in Azure App Service authentication".
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from urllib.parse import parse_qsl

from pydantic import BaseModel, Field

from drift.auth.caller import RIGHTS, Caller, Grant, Right, pattern_problem
from drift.contracts.filter import Filter, equal_to
from drift.core.errors import ForbiddenError, UnauthenticatedError

_SCHEMAS = "http://schemas.microsoft.com"


class Claim(BaseModel):
    """One statement about the caller."""

    typ: str
    val: str


class Principal(BaseModel):
    """Who the platform says is calling."""

    auth_typ: str
    role_typ: str | None = None
    claims: list[Claim] = Field(default_factory=list)

    def values(self, *names: str) -> list[str]:
        """Return the values of a claim under any of its names."""
        return [claim.val for claim in self.claims if claim.typ in names]


def parse(header: str) -> Principal:
    """Return the principal of a header, or raise UnauthenticatedError."""
    refused = "What the platform says of the caller cannot be read."
    try:
        decoded = base64.b64decode(header, validate=True)
        principal = Principal.model_validate_json(decoded)
    except ValueError:
        raise UnauthenticatedError(refused, "malformed principal") from None

    if principal.auth_typ != "aad":
        raise UnauthenticatedError(refused, "not signed in with Entra ID")
    return principal


@lru_cache(maxsize=64)
def caller_behind(header: str, tenant_id: str, project_claim: str | None) -> Caller:
    """Return the caller of a header; errors as for `parse` and `caller_of`."""
    return caller_of(parse(header), tenant_id, project_claim)


def caller_of(principal: Principal, tenant_id: str, project_claim: str | None) -> Caller:
    """Return the caller that a principal is, by its object id, with the projects of its claims.

    Raises:
        UnauthenticatedError: it comes from another tenant, or has no object id.
        ForbiddenError: it has been given no project.
    """
    named = principal.values("tid", f"{_SCHEMAS}/identity/claims/tenantid")
    tenants = {value.lower() for value in named}
    if tenants != {tenant_id.lower()}:
        raise UnauthenticatedError("Sign in with an account of this tenant.", "another tenant")

    subjects = [
        value
        for name in ("oid", f"{_SCHEMAS}/identity/claims/objectidentifier", "azp", "appid")
        for value in principal.values(name)
    ]
    if not subjects:
        raise UnauthenticatedError("The token names nobody.", "no object id")

    grants = tuple(dict.fromkeys(_grants(principal, project_claim)))
    if not grants:
        raise ForbiddenError(None, "read", subjects[0])
    return Caller(subjects[0], grants)


def _filter(condition: str) -> Filter:
    """Return the filter of a role's condition, such as `tag=hr&tag=all`; ValueError for none."""
    return equal_to(parse_qsl(condition, strict_parsing=True, max_num_fields=20))


def _grants(principal: Principal, project_claim: str | None) -> Iterator[Grant]:
    names = ["roles", f"{_SCHEMAS}/ws/2008/06/identity/claims/role", principal.role_typ]
    roles = principal.values(*filter(None, names))
    for role in roles:
        right, _, meant = role.partition(":")
        pattern, asked, condition = meant.partition("?")
        for known in RIGHTS:
            if right == known and pattern_problem(pattern) is None:
                # Whoever writes sees what is there; a condition that says nothing opens nothing.
                with suppress(ValueError):
                    only = _filter(condition) if asked and known == "read" else None
                    if only or not asked:
                        yield Grant(pattern, frozenset({known}), only)

    if project_claim:
        rights: frozenset[Right] = frozenset({"read", "write"} if "write" in roles else {"read"})
        for pattern in principal.values(project_claim):
            if pattern_problem(pattern) is None:
                yield Grant(pattern, rights)
