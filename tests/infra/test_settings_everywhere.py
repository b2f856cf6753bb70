"""The code accepts all that a deployment sets."""

from __future__ import annotations

import pytest

from drift.http.settings import load
from tests.infra.rules.snapshot import settings_of
from tests.infra.ways import Project, Way

ANSWERS = {
    "AZURE_CLIENT_ID": "55555555-5555-5555-5555-555555555555",
    "MILVUS_TOKEN": "resolved by the platform",
    "NEO4J_PASSWORD": "resolved by the platform",
    "OAI_BASE_URL": "https://oai-x.openai.azure.com/",
    "PROJECT_KEYS_SECRET": "https://kv-x.vault.azure.net/secrets/project-keys",
    "REDIS_URL": "rediss://amr-x.westeurope.redis.azure.net:10000",
}
"""What a deployment knows and a preview does not."""


@pytest.mark.parametrize("way", Project().ways, ids=lambda way: way.name)
def test_the_code_accepts_what_the_template_sets(way: Way) -> None:
    given = {
        name: ANSWERS.get(name, value) if value.startswith(("[", "@")) else value
        for name, value in settings_of(way).items()
    }
    settings = load({name: value for name, value in given.items() if value})
    assert settings.max_inflight == way["httpConcurrency"]
    assert settings.redis_auth == ("url" if way["redisMode"] == "off" else "entra")
    assert bool(settings.redis_url) is (way["redisMode"] != "off")
    assert settings.vector_store == way["vectorStore"]
    assert settings.auth_mode == way["authMode"]
    assert bool(settings.project_keys_secret) is (way["authMode"] == "keys")
    assert bool(settings.auth_tenant_id) is (way["authMode"] == "easyauth")
