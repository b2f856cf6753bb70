"""What settings are made of: how they are read, and what an address has to be."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    SecretStr,
    StringConstraints,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from drift.http.at_import import bare

Required = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
AnyCase = BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)
"""For a choice that may be written in any case."""


class SettingsGroup(BaseSettings):
    """Settings that are read from arguments and the environment.

    What a shell, an editor or a form left around a value is no part of it, and what is nothing
    besides is not set. The text below each is its line in docs/settings.md, which `make settings`
    writes.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_ignore_empty=True, case_sensitive=False
    )

    @field_validator("*", mode="before")
    @classmethod
    def _bare(cls, value: object, info: ValidationInfo) -> object:
        if not isinstance(value, str):
            return value
        text, setting = bare(value), cls.model_fields[str(info.field_name)]
        if text:
            return text
        if setting.is_required():
            raise PydanticCustomError("missing", "is not set")
        return setting.get_default()

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

    if "://" not in value:
        raise ValueError(f"{wanted}, and begins with none")
    if parts.scheme not in schemes:
        raise ValueError(f"{wanted}, and begins with another")
    if not parts.hostname:
        raise ValueError(f"{wanted}, and then the host, which it does not name")
    if not _has_port(parts):
        raise ValueError("has a port that is none: a number from 1 to 65535 stands behind the host")
    if re.search(r"\s", value):
        raise ValueError("has a blank or a line end in it")

    # An ALLOW_PLAINTEXT that is wrong is missing here, and is reported by itself.
    if (
        parts.scheme in {"bolt", "neo4j", "redis", "http"}
        and not _is_loopback(parts.hostname)
        and not info.data.get("allow_plaintext", True)
    ):
        raise ValueError(
            "would be spoken to without encryption: use neo4j+s, https or rediss, or set "
            "ALLOW_PLAINTEXT=true"
        )

    return value


def _has_port(parts: SplitResult) -> bool:
    """Tell whether the port is one, or there is none."""
    try:
        return parts.port != 0
    except ValueError:
        return False


def of_header(value: SecretStr | None) -> SecretStr | None:
    """Return a key that can be sent in a header, without a pasted `Bearer`; ValueError if none."""
    if value is None:
        return None
    key = re.sub(
        r"^(?:Authorization:\s*)?Bearer\s+", "", value.get_secret_value(), flags=re.IGNORECASE
    )
    if not re.fullmatch(r"[\x21-\x7e]+(?: [\x21-\x7e]+)*", key):
        raise ValueError("holds characters that no key has: copy it anew, letters of ASCII alone")
    return SecretStr(key)


ApiKey = Annotated[SecretStr | None, AfterValidator(of_header)]
"""A key that is sent as a header."""


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False
