"""What the commands read of a `.env` file."""

from pathlib import Path

import pytest

from drift.http import settings
from drift.local.cli.app import read_env_file
from drift.local.setting_names import misnamed


def test_settings_that_the_environment_lacks_are_read_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NEO4J_USER", "NEO4J_URI", "OAI_MODEL", "PATH_OF_OTHERS"):
        monkeypatch.setenv(name, "before")
        monkeypatch.delenv(name)
    monkeypatch.setenv("OAI_MODEL", "of the environment")
    lines = ("NEO4J_USER=ada", "NEO4J_URI=", "OAI_MODEL=of the file", "PATH_OF_OTHERS=x")
    (tmp_path / ".env").write_text("\n".join(lines), "utf-8")

    said: list[str] = []
    read_env_file(tmp_path, said.append)
    environment = settings.environment()
    assert said == ["Read from .env: NEO4J_USER."]
    assert environment["NEO4J_USER"] == "ada"
    assert environment["OAI_MODEL"] == "of the environment"
    assert not {"NEO4J_URI", "PATH_OF_OTHERS"} & environment.keys()


def test_a_name_that_is_near_a_setting_is_told(tmp_path: Path) -> None:
    read_env_file(tmp_path, pytest.fail)
    (tmp_path / ".env").write_text("MAX_PASES=3\nMAX_JOBS=3\n", "utf-8")
    said: list[str] = []
    read_env_file(tmp_path, said.append)
    assert said == ["In .env MAX_PASES is no setting; did you mean MAX_PASSES?"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MAX_PASS", "MAX_PASSES"),
        ("max_pases", "MAX_PASSES"),
        ("MAXPASSES", "MAX_PASSES"),
        ("DRIFT_MAX_PASSES", "MAX_PASSES"),
        ("NEO4J_PASS", "NEO4J_PASSWORD"),
        ("NEO4J_URL", "NEO4J_URI"),
        ("REDIS_URI", "REDIS_URL"),
        ("OAI_API_KEY", "OAI_KEY"),
        ("OAI_TIMEOUT", "OAI_TIMEOUT_SEC"),
        ("LLM_TEMP", "LLM_TEMPERATURE"),
        ("ALLOW_PLAIN_TEXT", "ALLOW_PLAINTEXT"),
    ],
)
def test_a_setting_that_somebody_may_have_meant_is_found(name: str, meant: str) -> None:
    assert list(misnamed([name]).values()) == [meant]
    assert not misnamed([name, meant])


def test_variables_of_other_programs_are_not_told() -> None:
    others = (
        "PATH HOME LANG MAX_JOBS MAX_TOKENS MAX_WORKERS MODEL CACHE_DIR LOG_LEVEL AUTH_TYPE "
        "AZURE_CLIENT_SECRET AZURE_TENANT_ID WEBSITE_SITE_NAME NEO4J_HOME NEO4J_AUTH NEO4J_CONF "
        "REDIS_HOST REDIS_PORT REDIS_PASSWORD OPENAI_API_KEY OPENAI_BASE_URL ANTHROPIC_API_KEY "
        "MCP_HOST MILVUS_HOST VECTOR_SIZE PROJECT_ID RAG_MODEL DEADLINE JAVA_HOME DRIFT_OTHER"
    )
    assert not misnamed([*others.split(), *settings.names()])
