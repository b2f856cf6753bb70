"""Settings of who may ask, and of the page."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, field_validator, model_validator

from drift.auth import project_keys
from drift.contracts.documents import MOST_DOCUMENT_MB
from drift.http.settings_base import AnyCase, SettingsGroup, checked_by

AuthMode = Annotated[
    Literal["function", "keys", "easyauth"],
    AnyCase,
    BeforeValidator(lambda value: value.strip() if isinstance(value, str) else value),
]
NO_KEYS = "AUTH_MODE=keys needs PROJECT_KEYS or PROJECT_KEYS_SECRET, one of them"


_HOST_NAME = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d+)?")


def _host_names(value: str) -> None:
    if not all(map(_HOST_NAME.fullmatch, _listed(value))):
        raise ValueError("must be host names with commas between, without https:// and paths")


def _listed(value: str | None) -> list[str]:
    return [one.strip() for one in (value or "").split(",") if one.strip()]


DocumentSize = Annotated[int, Field(ge=1, le=MOST_DOCUMENT_MB)]


class AccessSettings(SettingsGroup):
    """Who may ask.

    These are read apart from the others: nobody is told what is wrong with those before it is known
    who asks.
    """

    auth_mode: AuthMode = "function"
    """who may ask: `function` (the platform's function keys, every project), `keys` (named keys of
    yours) or `easyauth` (Entra ID); [access.md](access.md)"""
    auth_tenant_id: str | None = None
    """the Entra tenant whose callers are let in, in mode `easyauth`"""
    project_claim: str | None = None
    """a claim whose values are projects that the caller may read, in mode `easyauth`"""
    project_keys: SecretStr | None = None
    """the keys of mode `keys`, as JSON"""
    project_keys_secret: str | None = None
    """the address of a Key Vault secret that holds them, in place of `PROJECT_KEYS`; read again
    every 60 s"""
    azure_client_id: str | None = None
    """user-assigned managed identity; unset: your own login"""
    mcp_hosts: Annotated[str, checked_by(_host_names)] | None = None
    """host names that [`/mcp`](mcp.md) answers to besides the function's own, such as a custom
    domain, with commas between; the first is the one that its OAuth metadata names"""
    website_hostname: str | None = None
    """the function's own host name; the platform sets it"""
    website_auth_prm_default_with_scopes: str | None = None
    """the scopes that MCP clients ask tokens for, with commas between, in mode `easyauth`; App
    Service reads it too"""
    website_auth_enabled: str | None = None
    """the platform sets it where its authentication is on, and nobody else should; mode `easyauth`
    answers 503 unless it is `true`"""
    enable_metrics: bool = False
    """`true` opens `GET /metrics` to whoever may ask
    ([observability.md](observability.md#prometheus-and-grafana)); it answers 404 otherwise"""

    @field_validator("*", mode="before")
    @classmethod
    def _resolved(cls, value: object) -> object:
        if isinstance(value, str) and value.startswith("@Microsoft.KeyVault("):
            raise ValueError(
                "is an unresolved Key Vault reference: check the identity's access to the vault "
                "and the secret's name"
            )
        return value

    @field_validator("project_keys")
    @classmethod
    def _usable_keys(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None or not value.get_secret_value().strip():
            return None
        project_keys.parse(value.get_secret_value())
        return value

    @field_validator("project_keys_secret")
    @classmethod
    def _secret(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(
            r"https://[A-Za-z0-9.-]+(:\d+)?/secrets/[A-Za-z0-9-]{1,127}(/[0-9a-f]{32})?", value
        ):
            raise ValueError("must be the address of a secret, https://VAULT/secrets/NAME")
        return value

    @model_validator(mode="after")
    def _mode_has_what_it_needs(self) -> Self:
        given = [self.project_keys, self.project_keys_secret]
        if self.auth_mode == "keys" and given.count(None) != 1:
            raise ValueError(NO_KEYS)
        if self.auth_mode == "easyauth" and not self.auth_tenant_id:
            raise ValueError("AUTH_MODE=easyauth needs AUTH_TENANT_ID")
        return self

    @property
    def own_names(self) -> tuple[str, ...]:
        """The host names that the function is called by, the one to tell others first."""
        return (*_listed(self.mcp_hosts), *_listed(self.website_hostname))

    @property
    def token_scopes(self) -> list[str]:
        """The scopes of WEBSITE_AUTH_PRM_DEFAULT_WITH_SCOPES."""
        return _listed(self.website_auth_prm_default_with_scopes)


class PageSettings(SettingsGroup):
    """What the page to ask in has to know; it is there also where others are missing."""

    auth_mode: AuthMode = "function"
    enable_rag_search: bool = True
    enable_indexing: bool = False
    max_document_mb: DocumentSize = 1
    graph_schema: str = "default"
    oai_model: str = ""

    @property
    def takes_documents(self) -> bool:
        """Whether `POST /documents` is open; a graph of other tools has no projects to add to."""
        return self.enable_indexing and self.graph_schema == "default"


class ReadingSettings(SettingsGroup):
    """What reading takes."""

    reading_memory_mb: Annotated[int, Field(ge=128)] = 1024
    """memory that one file may take to read, beyond the process that reads it (Linux alone: other
    systems have no such limit)"""
    max_document_mb: DocumentSize = 1
    """the largest document that `POST /documents` takes, up to 50; `drift serve` takes 50 where
    this is unset"""

    @property
    def reading_s(self) -> float:
        """How long a document may take to read: 20 seconds, and two for each MB above the first."""
        return 18.0 + 2.0 * self.max_document_mb
