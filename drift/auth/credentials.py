"""Pure: what a request shows of who sends it."""

from __future__ import annotations

from typing import Protocol

from drift.core.errors import UnauthenticatedError

KEY_HEADER = "x-api-key"
PRINCIPAL_HEADER = "x-ms-client-principal"
_HOW = f"Send a key in the header {KEY_HEADER}, or as `Authorization: Bearer KEY`."


class Headers(Protocol):
    """The headers of a request, of which one may be there several times."""

    def getlist(self, key: str) -> list[str]:
        """Return every value of a header, whatever the case of its name."""
        ...


def presented_key(headers: Headers) -> bytes:
    """Return the key of a request, without the spaces around it.

    Raises:
        UnauthenticatedError: there is none, or there are two that differ: a gateway may have looked
            at the other one.
    """
    keys = {value.strip() for value in headers.getlist(KEY_HEADER)}
    for value in headers.getlist("authorization"):
        scheme, _, key = value.strip().partition(" ")
        if scheme.lower() == "bearer":
            keys.add(key.strip())

    keys.discard("")
    if not keys:
        raise UnauthenticatedError(_HOW, "no key")
    if len(keys) > 1:
        raise UnauthenticatedError(f"The request has different keys. {_HOW}", "several keys")
    # Servers read the bytes of headers as Latin-1.
    return keys.pop().encode("latin-1", errors="replace")


def presented_principal(headers: Headers) -> str:
    """Return what the platform's authentication says of the caller, as it came.

    Raises:
        UnauthenticatedError: it says nothing, or says it twice.
    """
    values = headers.getlist(PRINCIPAL_HEADER)
    if len(values) != 1:
        reason = "several principals" if values else "no principal"
        raise UnauthenticatedError("Sign in with Entra ID first.", reason)
    return values[0]
