"""A Key Vault reference that the platform could not resolve reaches the app as its own text.

It is named, and not used.
"""

from __future__ import annotations

import pytest

from drift.local.hosts.local_host import serving
from tests.function.calling import assert_is_problem, calling

REFERENCE = (
    "@Microsoft.KeyVault(SecretUri=https://canary-vault.vault.azure.net/secrets/neo4j-password)"
)
SETTINGS = {
    "OAI_BASE_URL": "https://one.openai.azure.com",
    "OAI_MODEL": "chat",
    "OAI_EMBED_MODEL_NAME": "text-embedding-3-large",
    "NEO4J_URI": "neo4j+s://graph.example.com",
    "NEO4J_PASSWORD": "canary-password",
}


@pytest.mark.usefixtures("no_settings")
@pytest.mark.parametrize("name", ["NEO4J_PASSWORD", "OAI_KEY"])
@pytest.mark.parametrize(("method", "route"), [("GET", "/health/ready"), ("POST", "/retrieve")])
async def test_an_unresolved_reference_is_named_and_its_vault_is_not(
    monkeypatch: pytest.MonkeyPatch, name: str, method: str, route: str
) -> None:
    for setting, value in {**SETTINGS, name: REFERENCE}.items():
        monkeypatch.setenv(setting, value)
    async with serving() as url, calling(url) as caller:
        response = await caller.client.request(
            method, route, json={"query": "q", "project_id": "p"}
        )
        problem = assert_is_problem(response, 503, "not_configured")
    assert f"{name}: is an unresolved Key Vault reference" in problem["detail"]
    assert "identity's access to the vault" in problem["detail"]
    assert "canary" not in response.text
