"""One secret of Azure Key Vault, read with the identity of the function."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from drift.auth.entra import TokenCredential

if TYPE_CHECKING:
    from azure.keyvault.secrets import SecretClient


class VaultSecret:
    """The newest version of a secret, by its address `https://VAULT/secrets/NAME`."""

    def __init__(
        self,
        address: str,
        make_credential: Callable[[], TokenCredential],
        **transport: Any,  # noqa: ANN401 - the SDK's own options
    ) -> None:
        """Remember the address and how to sign in; nothing is opened."""
        self._address = address
        self._make_credential = make_credential
        self._transport = transport
        self._client: SecretClient | None = None

    async def read(self) -> str:
        """Return the value as it is now, nothing where the secret was deleted or disabled.

        Raises:
            Exception: the SDK's own, for whatever else comes; LookupError: the reply has no value.
        """
        return await asyncio.to_thread(self._read)

    def _read(self) -> str:
        from azure.core.exceptions import HttpResponseError  # noqa: PLC0415 - as below
        from azure.keyvault.secrets import (  # noqa: PLC0415 - only with PROJECT_KEYS_SECRET
            KeyVaultSecretIdentifier,
            SecretClient,
        )

        secret = KeyVaultSecretIdentifier(self._address)
        if self._client is None:
            credential: Any = self._make_credential()
            patience = {"connection_timeout": 2, "read_timeout": 3, "retry_total": 1}
            self._client = SecretClient(secret.vault_url, credential, **patience, **self._transport)

        try:
            value = self._client.get_secret(secret.name, secret.version).value
        except HttpResponseError as error:
            # It was deleted, or disabled; whatever else is refused says nothing about the secret.
            told = error.error
            inner = getattr(told, "innererror", None) or {}
            codes = {getattr(told, "code", ""), inner.get("code")}
            gone = {404: "SecretNotFound", 403: "SecretDisabled"}.get(error.status_code or 0)
            if gone and gone in codes:
                return ""
            raise

        if value is None:
            raise LookupError("The vault's reply has no value.")
        return value
