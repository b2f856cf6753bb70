"""What the commands read of a `.env` file."""

from pathlib import Path

import pytest

from drift.http import settings
from drift.local.cli.app import read_env_file


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


def test_without_a_file_nothing_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    read_env_file(tmp_path, said.append)
    assert said == []
