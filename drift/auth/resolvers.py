"""Who sends a request, one way for each AUTH_MODE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from drift.auth import principal
from drift.auth.caller import EVERYBODY, Caller
from drift.auth.keyring import KeyRing
from drift.auth.project_keys import KeysError
from drift.core.errors import NotConfiguredError, UnauthenticatedError
from drift.model.health import Readiness

KEY_HEADER = "x-api-key"
_HOW = f"Send a key in the header {KEY_HEADER}, or as `Authorization: Bearer KEY`."


class RequestHeaders(Protocol):
    """The headers of a request, of which one may be there several times."""

    def getlist(self, key: str) -> list[str]:
        """Return every value of a header, whatever the case of its name."""


class Resolver(Protocol):
    """Tells who sends a request, from its headers alone."""

    async def caller(self, headers: RequestHeaders) -> Caller:
        """Return the caller.

        Raises:
            UnauthenticatedError: the headers show nobody who is known.
            ForbiddenError: they show somebody who may use no project.
            NotConfiguredError: there is nothing yet to compare them with.
        """

    def readiness(self) -> Readiness:
        """Return how well callers can be told apart."""


class FunctionKeys:
    """Mode `function`: the platform lets in whoever has a function key, to every project."""

    async def caller(self, headers: RequestHeaders) -> Caller:  # noqa: ARG002 - the platform has read them
        """Return who may use everything."""
        return EVERYBODY

    def readiness(self) -> Readiness:
        """Return ok: nothing is needed for it."""
        return Readiness.ok("function keys, every project")


@dataclass(frozen=True, slots=True)
class OwnKeys:
    """Mode `keys`: named keys of PROJECT_KEYS; `setting` is where they come from."""

    ring: KeyRing
    setting: str

    async def caller(self, headers: RequestHeaders) -> Caller:
        """Return who comes with the key of the headers."""
        key = presented_key(headers)
        try:
            keys = await self.ring.keys()
        except KeysError as error:
            problems = tuple(f"{self.setting}: {problem}." for problem in error.problems)
            raise NotConfiguredError(problems) from error

        return keys.caller(key)

    def readiness(self) -> Readiness:
        """Return whether the keys are those of now."""
        standing = self.ring.readiness()
        return Readiness(standing.level, f"{self.setting} {standing.reason}".strip())


@dataclass(frozen=True, slots=True)
class EasyAuth:
    """Mode `easyauth`: callers whom the platform has authenticated with Entra ID."""

    tenant_id: str
    project_claim: str | None

    async def caller(self, headers: RequestHeaders) -> Caller:
        """Return whom the platform names."""
        shown = presented_principal(headers)
        return principal.caller_behind(shown, self.tenant_id, self.project_claim)

    def readiness(self) -> Readiness:
        """Return ok: the platform authenticates before a request arrives."""
        return Readiness.ok("Entra ID")


def presented_key(headers: RequestHeaders) -> bytes:
    """Return the key of a request, without the spaces around it.

    Raises:
        UnauthenticatedError: there is none, or several, of which a gateway may have seen another.
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


def presented_principal(headers: RequestHeaders) -> str:
    """Return what the platform's authentication says of the caller, or UnauthenticatedError."""
    values = headers.getlist("x-ms-client-principal")
    if len(values) != 1:
        reason = "several principals" if values else "no principal"
        raise UnauthenticatedError("Sign in with Entra ID first.", reason)
    return values[0]
