"""What the platform's authentication has to be in a way to deploy."""

from __future__ import annotations

from collections.abc import Iterator

from tests.infra.expected.function import SITE
from tests.infra.expected.names import TENANT, Names, body
from tests.infra.ways import Body, Way

CONFIG = f"{SITE}/config"

OPEN_PATHS = ["/health/live", "/rag"]
"""What answers everybody: it holds no data."""


def authentication(way: Way) -> Iterator[Body]:
    """Tokens of Entra ID are asked for or the platform's authentication is off, which is said too:
    a deployment takes away nothing that it does not name.
    """
    asked = way["authMode"] == "easyauth"
    yield body(
        way,
        f"{Names(way).site}/config/authsettingsV2",
        CONFIG,
        {
            "globalValidation": {
                "excludedPaths": OPEN_PATHS,
                "requireAuthentication": True,
                "unauthenticatedClientAction": "Return401",
            },
            "httpSettings": {"requireHttps": True},
            "identityProviders": {
                "azureActiveDirectory": _entra(way) if asked else {"enabled": False}
            },
            "login": {"tokenStore": {"enabled": False}},
            "platform": {"enabled": asked, "runtimeVersion": "~1"},
        },
    )


def _entra(way: Way) -> Body:
    client, tenant = way["entraClientId"], way["authTenantId"] or TENANT
    return {
        "enabled": True,
        "registration": {
            "clientId": client,
            "openIdIssuer": issuer(tenant),
        },
        "validation": {"allowedAudiences": [client, f"api://{client}"]},
    }


def issuer(tenant: str) -> str:
    """Return the expression for who signs the tokens of a tenant."""
    cloud = "environment().authentication.loginEndpoint"
    return f"[format('{{0}}{{1}}/v2.0', {cloud}, '{tenant}')]"
