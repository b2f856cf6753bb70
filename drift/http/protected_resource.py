"""How MCP clients learn where to sign in: OAuth protected-resource metadata, RFC 9728."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.responses import Response

from drift.core.errors import NotFoundError

if TYPE_CHECKING:
    from drift.http.settings_access import AccessSettings

RESOURCE = "mcp"
METADATA = f".well-known/oauth-protected-resource/{RESOURCE}"


def metadata(values: AccessSettings, headers: Mapping[str, str]) -> Response:
    """Return the metadata; NotFoundError where nobody signs in."""
    if values.auth_mode != "easyauth":
        raise NotFoundError("There is nothing under this path.")

    told = {
        "resource": f"{_origin(values, headers)}/{RESOURCE}",
        "resource_name": "DRIFT for Neo4j",
        "authorization_servers": [
            f"https://login.microsoftonline.com/{values.auth_tenant_id}/v2.0"
        ],
        "bearer_methods_supported": ["header"],
    }
    if scopes := values.token_scopes:
        told["scopes_supported"] = scopes
    return Response(json.dumps(told), media_type="application/json")


def challenge(values: AccessSettings, path: str, headers: Mapping[str, str]) -> str:
    """Return what WWW-Authenticate says to who is not known."""
    if values.auth_mode != "easyauth" or path.strip("/").lower() != RESOURCE:
        return "Bearer"
    return f'Bearer resource_metadata="{_origin(values, headers)}/{METADATA}"'


def _origin(values: AccessSettings, headers: Mapping[str, str]) -> str:
    """Return the function's address; on a machine without a name of its own as it was called."""
    names = values.own_names
    return f"https://{names[0]}" if names else f"http://{headers.get('host', '')}"
