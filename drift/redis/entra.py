"""Signing in to Azure Managed Redis with Entra ID: the user is the object id, its password a token.

redis-entraid, which does this too, asks for tokens with a blocking call in the event loop.
"""

from __future__ import annotations

import base64
import json

from redis.credentials import CredentialProvider
from redis.exceptions import AuthenticationError

from drift.auth.entra import Token, TokenSource

REDIS_SCOPE = "https://redis.azure.com/.default"


class EntraLogin(CredentialProvider):
    """Gives every new connection the token that is held; whoever sends has waited for it before.

    It never waits itself and raises errors of redis-py alone: after any other exception, or when a
    caller stops waiting here, redis-py keeps the connection open and not signed in.
    """

    def __init__(self, tokens: TokenSource) -> None:
        """Remember where the tokens come from."""
        self._tokens = tokens

    def get_credentials(self) -> tuple[str, str]:
        """Return the object id and the token; AuthenticationError when there is none."""
        held: Token | None = self._tokens.held
        if held is None:
            raise AuthenticationError("There is no token yet.")
        return object_id(held.token), held.token

    async def get_credentials_async(self) -> tuple[str, str]:
        """Return the same."""
        return self.get_credentials()


def object_id(token: str) -> str:
    """Return the `oid` claim of a token, or raise AuthenticationError; the server checks it."""
    try:
        payload = token.split(".")[1]
        return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["oid"])
    except (ValueError, LookupError, TypeError) as error:
        raise AuthenticationError("The token names no object id.") from error
