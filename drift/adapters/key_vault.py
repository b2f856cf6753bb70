"""One secret of Azure Key Vault, read with the identity of the function."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from drift.adapters.entra import TokenCredential

if TYPE_CHECKING:
    from azure.keyvault.secrets import SecretClient

_PATIENCE = {"connection_timeout": 2, "read_timeout": 3, "retry_total": 1}
"""A request may wait for this."""


class VaultSecret:
    """The newest version of a secret, by its address `https://VAULT/secrets/NAME`.

    The SDK's synchronous client in a thread: its asynchronous one needs aiohttp.
    """

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
        """Return the value as it is now; the SDK's own errors."""
        return await asyncio.to_thread(self._read)

    def _read(self) -> str:
        from azure.keyvault.secrets import (  # noqa: PLC0415 - only with PROJECT_KEYS_SECRET
            KeyVaultSecretIdentifier,
            SecretClient,
        )

        secret = KeyVaultSecretIdentifier(self._address)
        if self._client is None:
            credential: Any = self._make_credential()
            self._client = SecretClient(
                secret.vault_url, credential, **_PATIENCE, **self._transport
            )
        return self._client.get_secret(secret.name, secret.version).value or ""
