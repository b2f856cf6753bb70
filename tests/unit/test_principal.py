"""Principals of App Service's authentication: of one tenant, with roles or a claim."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.auth.caller import Caller
from drift.auth.principal import caller_of, parse
from drift.core.errors import ForbiddenError, UnauthenticatedError

TENANT = "11111111-2222-3333-4444-555555555555"
LONG_TENANT = "http://schemas.microsoft.com/identity/claims/tenantid"
LONG_ROLE = "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"


def header(*claims: tuple[str, str], **fields: Any) -> str:
    principal = {
        "auth_typ": "aad",
        "role_typ": "roles",
        "claims": [{"typ": typ, "val": val} for typ, val in claims],
        **fields,
    }
    return base64.b64encode(json.dumps(principal).encode()).decode()


def somebody(*claims: tuple[str, str], claim: str | None = None) -> Caller:
    known = (("tid", TENANT), ("oid", "somebody"))
    return caller_of(parse(header(*known, *claims)), TENANT, claim)


def test_roles_give_rights_on_projects() -> None:
    caller = somebody(("roles", "read:team-*"), ("roles", "write:a"), (LONG_ROLE, "read:b"))
    assert caller.name == "somebody"
    assert caller.may("team-x", "read")
    assert caller.may("a", "write")
    assert caller.may("b", "read")
    assert not caller.may("a", "read")
    assert not caller.may("team-x", "write")


def test_a_claim_names_projects_and_the_bare_role_lets_them_be_written() -> None:
    claims = (("project", "a"), ("project", "b*"), ("other", "c"))
    assert somebody(*claims, claim="project").may("bb", "read")
    assert not somebody(*claims, claim="project").may("a", "write")
    assert not somebody(*claims, claim="project").may("c", "read")
    assert somebody(*claims, ("roles", "write"), claim="project").may("a", "write")


def test_without_project_claim_no_claim_gives_a_project() -> None:
    with pytest.raises(ForbiddenError):
        somebody(("project", "a"))


@pytest.mark.parametrize("role", ["read", "read:", "Read:a", "read:a*b", "read:" + "x" * 129])
def test_a_role_that_says_nothing_clear_gives_nothing(role: str) -> None:
    with pytest.raises(ForbiddenError) as refused:
        somebody(("roles", role))
    assert (refused.value.caller, refused.value.project_id) == ("somebody", None)


@pytest.mark.parametrize(
    "claims",
    [
        (("oid", "x"), ("roles", "read:a")),
        (("tid", "99999999-2222-3333-4444-555555555555"), ("oid", "x"), ("roles", "read:a")),
        (("tid", TENANT), (LONG_TENANT, "other"), ("oid", "x"), ("roles", "read:a")),
        (("tid", TENANT), ("roles", "read:a")),
        (),
    ],
    ids=["no tenant", "another", "two", "nobody", "no claims"],
)
def test_who_is_not_of_the_tenant_is_nobody(claims: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(UnauthenticatedError):
        caller_of(parse(header(*claims)), TENANT, None)


def test_a_tenant_is_the_same_in_capitals_and_under_its_long_name() -> None:
    claims = ((LONG_TENANT, TENANT.upper()), ("oid", "x"), ("roles", "read:a"))
    assert caller_of(parse(header(*claims)), TENANT, None).may("a", "read")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not base64!",
        base64.b64encode(b"[]").decode(),
        header(auth_typ="google"),
        header(claims=None),
        header(claims=[{"typ": "tid"}]),
        header(claims=[{"typ": "tid", "val": {"deep": []}}]),
        base64.b64encode(b"[" * 20_000).decode(),
    ],
)
def test_what_cannot_be_read_is_nobody(text: str) -> None:
    with pytest.raises(UnauthenticatedError):
        parse(text)


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda b: base64.b64encode(b).decode()))
def test_no_header_raises_anything_else(text: str) -> None:
    with pytest.raises(UnauthenticatedError):
        parse(text)
