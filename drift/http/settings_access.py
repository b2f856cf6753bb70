"""What settings are made of, and those of who may ask and of the page."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    SecretStr,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from drift.auth import project_keys

_PLAINTEXT = {"bolt", "neo4j", "redis", "http"}

Required = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
AnyCase = BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)
"""For a choice that may be written in any case."""


class SettingsGroup(BaseSettings):
    """Settings that are read from arguments and the environment.

    The text below each is its line in docs/settings.md, which `make settings` writes.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_ignore_empty=True, case_sensitive=False
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the library's signature
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments and the environment only: no .env file may change a deployed service."""
        return init_settings, env_settings


class Addresses(SettingsGroup):
    """Addresses of servers.

    The rule is read before them.
    """

    allow_plaintext: bool = False
    """allow unencrypted connections beyond loopback"""


def checked_by(check: Callable[[str], object]) -> AfterValidator:
    """Refuse a text for which `check` raises ValueError."""

    def checked(value: str) -> str:
        check(value)
        return value

    return AfterValidator(checked)


def address(*schemes: str) -> AfterValidator:
    """Refuse what is no address of one of these schemes, or would be spoken to in the open."""
    return AfterValidator(lambda value, info: checked_url(value, schemes, info))


def checked_url(value: str, schemes: Collection[str], info: ValidationInfo) -> str:
    """Return an address of one of these schemes.

    Raises:
        ValueError: it is none, or would be spoken to without encryption.
    """
    wanted = f"must be a URL beginning with one of {', '.join(sorted(f'{s}://' for s in schemes))}"
    try:
        parts = urlsplit(value)
    except ValueError:  # its message would repeat the URL, with the password in it
        raise ValueError(wanted) from None

    if parts.scheme not in schemes or not parts.hostname:
        raise ValueError(wanted)

    # An ALLOW_PLAINTEXT that is wrong is missing here, and is reported by itself.
    if (
        parts.scheme in _PLAINTEXT
        and not _is_loopback(parts.hostname)
        and not info.data.get("allow_plaintext", True)
    ):
        raise ValueError(
            "would be spoken to without encryption: use neo4j+s, https or rediss, or set "
            "ALLOW_PLAINTEXT=true"
        )

    return value


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


# ------------------------------------------------------------------------------------------ access
_Stripped = BeforeValidator(lambda value: value.strip() if isinstance(value, str) else value)
AuthMode = Annotated[Literal["function", "keys", "easyauth"], AnyCase, _Stripped]
NO_KEYS = "AUTH_MODE=keys needs PROJECT_KEYS or PROJECT_KEYS_SECRET, one of them"

_UNRESOLVED = "@Microsoft.KeyVault("
_SECRET_ADDRESS = re.compile(
    r"https://[A-Za-z0-9.-]+(:\d+)?/secrets/[A-Za-z0-9-]{1,127}(/[0-9a-f]{32})?"
)


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
    website_auth_enabled: str | None = None
    """the platform sets it where its authentication is on, and nobody else should; mode `easyauth`
    answers 503 unless it is `true`"""

    @field_validator("*", mode="before")
    @classmethod
    def _resolved(cls, value: object) -> object:
        if isinstance(value, str) and value.startswith(_UNRESOLVED):
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
        if value is not None and not _SECRET_ADDRESS.fullmatch(value):
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


class PageSettings(SettingsGroup):
    """What the page to ask in has to know; it is there also where others are missing."""

    auth_mode: AuthMode = "function"
    enable_rag_search: bool = True
    oai_model: str = ""
