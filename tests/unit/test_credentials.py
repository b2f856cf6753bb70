"""What a request shows: one key, in one of two headers, or what the platform says of the caller."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from drift.auth.resolvers import presented_key, presented_principal
from drift.core.errors import UnauthenticatedError

Raw = list[tuple[str, str]]


def headers(*pairs: tuple[str, str]) -> Headers:
    return Headers(raw=[(name.encode(), text.encode()) for name, text in pairs])


@pytest.mark.parametrize(
    ("pairs", "key"),
    [
        ([("x-api-key", "  k1 ")], b"k1"),
        ([("authorization", "Bearer k1")], b"k1"),
        ([("authorization", "bearer   k1")], b"k1"),
        ([("authorization", "Bearer k1"), ("x-api-key", "k1")], b"k1"),
        ([("authorization", "Basic dTpw"), ("x-api-key", "k1")], b"k1"),
        ([("x-api-key", "a key with spaces")], b"a key with spaces"),
        ([("x-api-key", "schl\u00fcssel")], "schl\u00fcssel".encode()),
    ],
)
def test_a_key_is_found(pairs: Raw, key: bytes) -> None:
    assert presented_key(headers(*pairs)) == key


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([], "no key"),
        ([("authorization", "Bearer")], "no key"),
        ([("authorization", "Basic k1")], "no key"),
        ([("x-api-key", " ")], "no key"),
        ([("cookie", "x-api-key=k1")], "no key"),
        ([("x-functions-key", "k1")], "no key"),
        ([("x-ms-client-principal", "e30=")], "no key"),
        ([("x-api-key", "k1"), ("authorization", "Bearer k2")], "several keys"),
    ],
)
def test_without_exactly_one_the_request_is_refused(pairs: Raw, reason: str) -> None:
    with pytest.raises(UnauthenticatedError) as refused:
        presented_key(headers(*pairs))
    assert refused.value.reason == reason
    assert "k1" not in refused.value.detail


def test_the_platforms_word_counts_once() -> None:
    assert presented_principal(headers(("x-ms-client-principal", "e30="))) == "e30="
    for pairs in ([], [("x-ms-client-principal", "a"), ("x-ms-client-principal", "b")]):
        with pytest.raises(UnauthenticatedError):
            presented_principal(headers(*pairs))
